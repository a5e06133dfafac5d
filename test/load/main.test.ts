import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/protos.js'

const MAIN = join(projectRoot(), '.build/test/load/main.js')
const SEED = join(projectRoot(), '.build/test/load/seed.js')

const wrong: readonly (readonly [program: string, ...flags: string[]])[] = [
  [MAIN],
  [MAIN, 'bench', '--secnds', '1'],
  [MAIN, 'load', '--rate', '1e9'],
  [MAIN, 'soak', '--scenario', 'creates,reads'],
  [MAIN, 'profile', '--scenario', 'creates,reads'],
  [MAIN, 'compare', '--base', '/tmp'],
  [SEED, '--what', 'partners'],
]

for (const [program, ...flags] of wrong) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...flags])
  t.equal(status, 2, flags.join(' '))
  t.equal(stdout.toString(), '', 'nothing was started')
  t.match(stderr.toString(), /^(?!UsageError).+\n$/, 'one sentence')
}
