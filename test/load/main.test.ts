import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/protos.js'

const MAIN = join(projectRoot(), '.build/test/load/main.js')

const wrong: readonly (readonly string[])[] = [
  [],
  ['everything'],
  ['bench', '--secnds', '1'],
  ['bench', '--seconds', '0'],
  ['bench', '--rate', '1e9'],
]

for (const flags of wrong) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...flags])
  t.equal(status, 2, `main ${flags.join(' ')}`)
  t.equal(stdout.toString(), '', 'nothing was started')
  t.match(stderr.toString(), /^UsageError: ./)
}
