/** A main program after the end of the reader of its output. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { eventually } from '../support/eventually.js'

const MODULE = join(projectRoot(), '.build/src/supervisor/run_until_stopped.js')
const PROGRAM = `
import { runMain } from '${pathToFileURL(MODULE).href}'
runMain(async () => {
  process.on('SIGTERM', () => process.exit(0))
  let lines = 0
  setInterval(() => {
    console.log('a line')
    console.error(++lines)
  }, 5)
})`

t.test('it continues when the reader of its output ends', async (t) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM])
  const ended = once(child, 'exit')
  t.teardown(() => child.kill('SIGKILL'))
  let printed = ''
  child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const before = printed.length
  await eventually('it goes on or ends', () => {
    return printed.length > before + 100 || child.exitCode !== null
  })
  child.kill('SIGTERM')
  t.strictSame(await ended, [0, null], printed.slice(before))
})
