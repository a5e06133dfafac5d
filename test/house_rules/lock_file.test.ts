/** The lock file installs with every npm that comes with a supported Node. */
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'

t.test('the lock file satisfies what each package asks for, optional peers too', async (t) => {
  // `npm ci` of npm 9 and 10 refuses a lock file with an unmet one, that of npm 11 does not.
  const args = ['ls', '--all', '--package-lock-only']
  const { status, stderr } = spawnSync('npm', args, { cwd: projectRoot(), encoding: 'utf8' })
  t.equal(status, 0, stderr)
})
