/** PostgreSQL's user under root: in a folder that others can enter, and in one of root. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { serverUserOf } from '../../src/supervisor/server_user.js'
import { noPostgres, startPostgres } from '../support/postgres_server.js'

const isRoot = process.getuid?.() === 0
const skip = noPostgres || (!isRoot && 'needs root') || hasNoNamespaces()

function hasNoNamespaces(): string | false {
  try {
    execFileSync('unshare', ['--user', '--map-user=1', '--map-group=1', 'true'])
    return false
  } catch {
    return 'this machine has no user namespaces'
  }
}

/** @param mode that of the folder above DATA_DIR */
function aDataDir(t: Test, mode: number): string {
  const home = mkdtempSync(join(tmpdir(), 'causeway-home-'))
  t.teardown(() => rmSync(home, { recursive: true, force: true, maxRetries: 20 }))
  chmodSync(home, mode)
  const dataDir = join(home, 'var')
  mkdirSync(dataDir, { mode: 0o700 })
  return dataDir
}

const modeOf = (folder: string): number => statSync(folder).mode & 0o777

t.test('a server that others can reach runs as another user', { skip }, async (t) => {
  const within = aDataDir(t, 0o755)
  const folder = join(within, 'cluster', 'postgres')
  const { account, prefix } = serverUserOf({ folder, within })
  t.same(prefix, [])
  t.ok(account !== undefined && account.uid > 0)
  t.equal(statSync(folder).uid, account?.uid)
  t.same([within, join(within, 'cluster'), folder].map(modeOf), [0o711, 0o711, 0o700])
})

t.test('a server in a folder of root runs as root under another name', { skip }, async (t) => {
  const within = aDataDir(t, 0o700)
  const folder = join(within, 'cluster', 'postgres')
  const { account, prefix } = serverUserOf({ folder, within })
  t.equal(account, undefined)
  t.equal(prefix[0], 'unshare')
  t.equal(statSync(folder).uid, 0)
  t.same([within, folder].map(modeOf), [0o700, 0o700], 'nothing is opened')
})

t.test('a server of another user that cannot be reached any more', { skip }, async (t) => {
  const within = aDataDir(t, 0o755)
  const folder = join(within, 'postgres')
  const { account } = serverUserOf({ folder, within })
  execFileSync('touch', [join(folder, 'PG_VERSION')], { ...account })
  chmodSync(join(within, '..'), 0o700)
  t.throws(() => serverUserOf({ folder, within }), /cannot enter .*: choose a DATA_DIR elsewhere/)
})

t.test(
  'a server that was restored as root, without user namespaces',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const within = aDataDir(t, 0o755)
    const folder = join(within, 'postgres')
    mkdirSync(folder)
    writeFileSync(join(folder, 'PG_VERSION'), '17')
    const { PATH } = process.env
    process.env['PATH'] = within // no unshare
    t.teardown(() => (process.env['PATH'] = PATH))
    t.throws(() => serverUserOf({ folder, within }), {
      message: `${folder} belongs to root: give it`,
    })
    t.equal(statSync(folder).uid, 0)
  },
)

t.test('a server starts, stops and starts again in a folder of root', { skip }, async (t) => {
  const server = await startPostgres(t, {}, aDataDir(t, 0o700))
  await server.kill()
  await server.start()
  t.ok(server.pid() > 0)
})
