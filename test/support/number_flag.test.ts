/** Programs that take numbers refuse what is none before they begin. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/protos.js'

for (const [program, flag] of [
  ['simulation/main.js', 'seed'],
  ['simulation/main.js', 'runs'],
  ['simulation/main.js', 'steps'],
  ['crash/chaos.js', 'duration'],
  ['crash/chaos.js', 'seed'],
  ['fuzz/door.js', 'seconds'],
  ['fuzz/qr.js', 'seed'],
] as const) {
  const main = join(projectRoot(), '.build/test', program)
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, `--${flag}`, 'x'])
  t.equal(status, 2, `${program} --${flag}`)
  t.equal(stdout.toString(), '', 'nothing was started')
  t.equal(stderr.toString(), `--${flag} takes a number, not x\n`)
}
