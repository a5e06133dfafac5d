/** Terminal output of the supervisor. */
import { SECOND, type Clock } from '../base/clock.js'

export interface Terminal {
  info(line: string): void
  /** A process is ready: its name, where it listens, seconds since the start. */
  ready(name: string, where: string): void
  error(line: string): void
}

const NAME_WIDTH = 12
const WHERE_WIDTH = 38

export function createTerminal(clock: Clock): Terminal {
  const startedAt = clock.now()
  const elapsed = (): string => `${((clock.now() - startedAt) / SECOND).toFixed(1)} s`
  return {
    info: (line) => console.log(line),
    ready: (name, where) =>
      console.log(`  ${name.padEnd(NAME_WIDTH)}${where.padEnd(WHERE_WIDTH)}  ${elapsed()}`),
    error: (line) => console.error(line),
  }
}
