/** The scripts of the set-up: packages of Debian, lines on a terminal. */
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'

const scripts = join(projectRoot(), 'src/scripts')

t.test('apt asks no question and waits for another apt, with sudo too', async (t) => {
  const folder = t.testdir({
    id: '#!/bin/sh\necho 1000\n',
    // As sudo does, it passes no variables on.
    sudo: '#!/bin/sh\nshift\nexec env -i PATH="$PATH" "$@"\n',
    'apt-get': `#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >>'${t.testdirName}/calls'\n`,
  })
  for (const program of ['id', 'sudo', 'apt-get']) chmodSync(join(folder, program), 0o755)
  const script = `give_up() { echo "$1"; exit 1; }; . ${scripts}/apt.sh; become_root; apt_install x`
  const env = { PATH: `${folder}:${process.env['PATH']}` }
  const { status, stdout } = spawnSync('sh', ['-c', script], { env, encoding: 'utf8' })
  t.strictSame([status, stdout], [0, 'installing x …\n'])
  const [call = ''] = readFileSync(join(folder, 'calls'), 'utf8').split('\n')
  t.match(call, /^noninteractive .*DPkg::Lock::Timeout=\d+ install -y/)
})

t.test('the line that is rewritten each second fits into 60 columns', async (t) => {
  const text = readFileSync(join(scripts, 'install.sh'), 'utf8')
  const [, line = ''] = /printf '\\r(installing [^']*)'/.exec(text) ?? []
  t.ok(line.length > 0 && line.replace('%d', '1000').length < 60, line)
})
