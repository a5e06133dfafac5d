/** The flags of the load tool. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'

const MAIN = join(projectRoot(), '.build/test/load/main.js')
const WRONG = [
  ['none'],
  ['bench', '--secnds', '1'],
  ['load', '--rate', '1e9'],
  ['soak', '--scenario', 'creates,reads'],
  ['compare', '--base', '/tmp'],
  ['seed', '--what', 'partners'],
]
for (const flags of WRONG) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...flags])
  t.equal(status, 2, flags.join(' '))
  t.equal(stdout.toString(), '', 'nothing was started')
  t.match(stderr.toString(), /^error: .+\n/)
}
