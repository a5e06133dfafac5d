/** `make release` on a small repository: every missing condition is reported. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { tempFolder } from '../support/temp_folder.js'

const SCRIPT = 'src/scripts/release.sh'

t.test('a release needs version, changelog, clean tree, golden data and tests', async (t) => {
  const folder = tempFolder(t)
  const run = (command: string, ...args: string[]) =>
    spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  const write = (file: string, text: string): void => writeFileSync(join(folder, file), text)
  const commit = (): void => {
    run('git', 'add', '--all')
    const as = ['-c', 'user.name=test', '-c', 'user.email=test@causeway.test']
    const { status, stderr } = run('git', ...as, 'commit', '--quiet', '--message', 'a change')
    t.equal(status, 0, stderr)
  }
  const refused = (reason: RegExp): void => {
    const { status, stderr } = run(SCRIPT)
    t.equal(status, 1)
    t.match(stderr, reason)
  }

  for (const path of ['src/scripts', 'test/golden', 'gateway']) {
    mkdirSync(join(folder, path), { recursive: true })
  }
  copyFileSync(join(projectRoot(), SCRIPT), join(folder, SCRIPT))
  write('package.json', '{"version":"2.1.0"}')
  write('package-lock.json', '{"version":"2.0.0"}')
  write('CHANGELOG.md', '# Changelog\n\n## Versions\n\n## [2.0.0]\n')
  write('Makefile', '.PHONY: test\ntest:\n\t@false\n')
  run('git', 'init', '--quiet')
  commit()

  refused(/package-lock\.json has version 2\.0\.0, package\.json 2\.1\.0/)
  write('package-lock.json', '{"version":"2.1.0"}')
  refused(/the newest section of CHANGELOG\.md is 2\.0\.0/)
  write('CHANGELOG.md', '# Changelog\n\n## [2.1.0]\n\n## [2.0.0]\n')
  refused(/uncommitted changes/)
  commit()
  refused(/test\/golden\/2\.1\.0\.json is missing: make freeze NAME=2\.1\.0/)
  for (const end of ['json', 'tar.gz']) write(`test/golden/2.1.0.${end}`, '')
  commit()
  refused(/test\/golden\/openapi\.json is not the document of this version/)
  for (const path of ['gateway', 'test/golden']) write(`${path}/openapi.json`, '{}')
  commit()
  refused(/tests failed/)
  write('Makefile', '.PHONY: test\ntest:\n\t@true\n')
  commit()
  const { status, stdout } = run(SCRIPT)
  t.equal(status, 0)
  t.match(stdout, "git tag -a v2.1.0 -m 'Causeway 2.1.0'")
  run('git', 'tag', 'v2.1.0')
  refused(/the tag v2\.1\.0 exists/)
})
