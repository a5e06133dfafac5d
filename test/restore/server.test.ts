/**
 * Books in PostgreSQL: `backup` copies the running server, `restore` verifies the copy; the drill
 * serves a server that starts from it, in recovery mode until its loss is reconciled.
 */
import { execFileSync } from 'node:child_process'
import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { backupsIn, openBackupFolder } from '../../src/backup/backups.js'
import { backUpServer } from '../../src/backup/server_backup.js'
import { systemClock } from '../../src/base/clock.js'
import { MIB } from '../../src/files/free_space.js'
import { FILES } from '../../src/base/subjects.js'
import { parseStoreUrl } from '../../src/store/postgres/connection.js'
import { serverTools } from '../../src/operations/installation/server_tools.js'
import { payOut, untilStatus } from '../support/payments.js'
import { requirePostgres, startPostgres } from '../support/postgres_server.js'
import { startProgram } from '../support/program.js'
import { startStack } from '../support/stack.js'
import { tempFolder } from '../support/temp_folder.js'
import { restoreDrill } from './drill.js'

requirePostgres(t)

const PAYERS_PAUSE_MS = 750

t.test('a PostgreSQL server is backed up, and its copy verified', async (t) => {
  const server = await startPostgres(t)
  const folder = tempFolder(t)
  const [dataDir, newDir] = [join(folder, 'data'), join(folder, 'new')]
  const books = { STORE: 'postgres', STORE_URL: server.url, STORE_SYNC: 'reported' }
  const ops = (DATA_DIR: string, ...words: string[]) =>
    startProgram('operations/main.js', words, { ...books, DATA_DIR }).ended

  const stack = await startStack({ dataDir, settings: books })
  const { partner } = stack
  const paid = await payOut(partner, 'before')
  await untilStatus(partner, `/v1/payouts/${paid}`, 'completed')
  const made = await ops(dataDir, 'backup', join(folder, 'backups'), '--json')
  t.equal(made.exitCode, 0, made.err)
  const { folder: backup } = JSON.parse(made.out) as { readonly folder: string }
  await stack.stop()
  const into = await openBackupFolder(join(folder, 'full'))
  const full = backUpServer({
    ...{ into, targets: parseStoreUrl(server.url), caFile: undefined, schema: 'books_1' },
    ...{ tools: serverTools, version: '1.2.3', clock: systemClock },
    freeBytes: () => Promise.resolve(256 * MIB),
    signal: new AbortController().signal,
  })
  await t.rejects(full, {
    ...{ name: 'BackupFault', message: /full has 256 MB free and needs \d+ MB: free space/ },
  })
  t.same(backupsIn(into.path), [])
  await into.release()
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
})

t.test('tools of another version are refused before the copy', async (t) => {
  t.throws(() => serverTools(99), {
    name: 'BackupFault',
    message: /is PostgreSQL 99 and the tools/,
  })
})

t.test('a server is lost under load and its backup restored', async (t) => {
  const folder = tempFolder(t)
  const lines: string[] = []
  const { acknowledged, lost, unanswered, matched, notOnce, audit, seconds } = await restoreDrill({
    ...{ folder, rail: 'sandbox', store: 'postgres' },
    ...{ before: 20, after: 20, pauseMs: PAYERS_PAUSE_MS },
    now: () => Date.now(),
    print: (line) => lines.push(line),
  })
  t.ok(lost.length > 0, `${lost.length} lost`)
  t.ok(acknowledged.size >= 40)
  t.equal(lines.filter((line) => line.startsWith('  lost: payer ')).length, lost.length)
  t.ok(matched.length <= lost.length + unanswered.length)
  t.same(notOnce, [], 'every payment was executed once')
  t.ok(audit.clean, audit.report)
  t.ok(seconds.untilReads > 0 && seconds.untilPayments > seconds.untilReads)
  t.notOk(existsSync(join(folder, 'new', FILES.restored)), 'the mark is used up')
  t.match(readFileSync(join(folder, 'new', 'logs', 'processor.log'), 'utf8'), /was restored/)
})
