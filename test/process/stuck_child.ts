/** A child whose stop never ends. */
import { childProcess } from '../../src/process/child.js'

setInterval(() => undefined, 1_000)
childProcess({
  log: { info: () => undefined },
  stop: () => new Promise(() => undefined),
}).ready()
