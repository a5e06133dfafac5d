/**
 * Books in PostgreSQL: `backup` copies the running server, `restore` verifies the copy, and a
 * server that starts from it is served in recovery mode.
 */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { FILES } from '../../src/base/subjects.js'
import { eventually } from '../support/eventually.js'
import { partnerOf } from '../support/partner.js'
import { payOut, untilStatus } from '../support/payments.js'
import { requirePostgres, serverIn, startPostgres } from '../support/postgres_server.js'
import { startProgram, untilStarted } from '../support/program.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'

requirePostgres(t)

t.setTimeout(0)

t.test('a PostgreSQL server is backed up and restored', async (t) => {
  const server = await startPostgres(t)
  const folder = tempFolder(t)
  const [dataDir, newDir] = [join(folder, 'data'), join(folder, 'new')]
  const books = { STORE: 'postgres', STORE_URL: server.url, STORE_SYNC: 'reported' }
  const ops = (DATA_DIR: string, ...words: string[]) =>
    startProgram('operations/main.js', words, { ...books, DATA_DIR }).ended

  const stack = await startStack({ dataDir, settings: books })
  const partner = partnerOf(stack.sandbox)
  const paid = await payOut(partner, 'before')
  await untilStatus(partner, `/v1/payouts/${paid}`, 'completed')
  const made = await ops(dataDir, 'backup', join(folder, 'backups'), '--json')
  t.equal(made.exitCode, 0, made.err)
  const { folder: backup } = JSON.parse(made.out) as { readonly folder: string }
  const lost = await payOut(partner, 'lost')
  await stack.stop()
  await server.kill()

  mkdirSync(newDir, { mode: 0o700 })
  copyFileSync(join(dataDir, FILES.masterKey), join(newDir, FILES.masterKey))
  const damaged = join(folder, 'damaged')
  execFileSync('cp', ['-a', backup, damaged])
  appendFileSync(join(damaged, 'base', 'PG_VERSION'), ' ')
  t.match(await ops(newDir, 'restore', damaged), {
    exitCode: 1,
    err: /^Not restored: pg_verifybackup: error: "PG_VERSION" has size \d+ on disk/,
  })
  const restored = await ops(newDir, 'restore', backup)
  t.match(restored, { exitCode: 0, out: /^Verified: a whole PostgreSQL server, at least as of 20/ })
  t.ok(existsSync(join(newDir, FILES.restored)))

  const cluster = join(folder, 'cluster')
  execFileSync('cp', ['-a', join(backup, 'base'), cluster])
  chmodSync(cluster, 0o700)
  const again = await serverIn(cluster, 'a password')
  const running = again.run()
  t.teardown(async () => {
    running.kill()
    await running.ended
  })
  await untilStarted(running)
  const url = { ...books, STORE_URL: again.url }
  for (const name of ['rail.db', 'rail.db-wal', FILES.railKey]) {
    if (existsSync(join(dataDir, name))) copyFileSync(join(dataDir, name), join(newDir, name))
  }
  const next = await startStack({ dataDir: newDir, settings: url })
  t.teardown(() => next.stop())
  t.match(await next.readyz(), { body: { mode: 'recovery' } })
  t.notOk(existsSync(join(newDir, FILES.restored)), 'the mark is used up')
  t.match(readFileSync(join(newDir, 'logs', 'processor.log'), 'utf8'), /was restored/)
  const after = partnerOf(next.sandbox)
  await eventually('it reads', async () => {
    const { status } = await after.request('GET', `/v1/payouts/${paid}`)
    return status === 200
  })
  t.match(await after.request('GET', `/v1/payouts/${lost}`), { status: 404 }, 'it is lost')
})
