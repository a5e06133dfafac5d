/** `doctor`: the schemas of SQLite and PostgreSQL beside what their migrations make. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { schemaFolderOf } from '../../src/backup/databases.js'
import { systemClock } from '../../src/base/clock.js'
import { FILES } from '../../src/base/subjects.js'
import { schema } from '../../src/operations/doctor/schema.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { CLUSTER_SCHEMA } from '../../src/store/cluster/cluster.js'
import { migrate } from '../../src/store/postgres/migrate.js'
import { POOL_SCHEMA } from '../../src/store/postgres/copy.js'
import { BOOKS } from '../../src/store/postgres/store.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { frozenNames, unpack } from '../golden/frozen.js'
import { connectedTo, noPostgres, startPostgres } from '../support/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'

t.setTimeout(0)

/** @returns its findings, or what keeps it from looking */
async function found(settings: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const given = { STORE: 'sqlite', STORE_URL: '', ...settings }
  const seen = await schema.look(readSettings(given, ''), systemClock)
  if (seen.kind === 'checked') return seen.findings.map(({ finding }) => finding)
  return [seen.kind === 'unknown' ? seen.reason : seen.kind]
}

async function changed(dataDir: string, name: string, sql: string): Promise<void> {
  const file = await openDatabase(join(dataDir, name), { migrations: schemaFolderOf(name)! })
  await file.exec(sql)
  await file.close()
}

async function newFiles(t: Test): Promise<string> {
  const dataDir = join(tempFolder(t), 'data')
  mkdirSync(dataDir, { mode: 0o700 })
  const names = [FILES.processorDatabase, FILES.webhookDatabase, FILES.railDatabase]
  for (const name of names) await changed(dataDir, name, '')
  return dataDir
}

t.test('files of SQLite', async (t) => {
  const DATA_DIR = await newFiles(t)
  t.same(await found({ DATA_DIR }), [])
  await changed(DATA_DIR, FILES.webhookDatabase, 'DROP INDEX deliveries_due')
  await changed(
    DATA_DIR,
    FILES.processorDatabase,
    `DROP INDEX payouts_due; DROP INDEX intents_due; CREATE INDEX intents_due ON intents (due_at);
     CREATE TRIGGER mine AFTER INSERT ON payouts BEGIN SELECT 1; END`,
  )
  t.same(await found({ DATA_DIR }), [
    'processor.db lacks the index payouts_due',
    'processor.db: the index intents_due was changed',
    'processor.db has the trigger mine, which no migration makes',
    'webhooks.db lacks the index deliveries_due',
  ])
  await changed(DATA_DIR, FILES.railDatabase, 'PRAGMA user_version = 1')
  t.equal((await found({ DATA_DIR })).length, 4, 'an older file is migrated before it is compared')
})

t.test('files that earlier versions have made and this one has migrated', async (t) => {
  for (const name of frozenNames()) {
    const DATA_DIR = join(tempFolder(t), name)
    unpack(name, DATA_DIR)
    for (const file of [FILES.processorDatabase, FILES.webhookDatabase, FILES.railDatabase])
      await changed(DATA_DIR, file, '')
    t.same(await found({ DATA_DIR }), [], name)
  }
})

t.test('schemas of PostgreSQL', { skip: noPostgres }, async (t) => {
  const { url } = await startPostgres(t)
  const DATA_DIR = join(tempFolder(t), 'none')
  const look = (): Promise<readonly string[]> => found({ DATA_DIR, STORE_URL: url })
  const books = await connectedTo(t, url, 'books_1')
  await migrate(books, 'books_1', BOOKS)
  const cluster = await connectedTo(t, url, 'cluster')
  await migrate(cluster, 'cluster', CLUSTER_SCHEMA)
  // Its role may read its own schema and make none.
  await books.exec("CREATE ROLE pools LOGIN PASSWORD 'x'; CREATE SCHEMA pool_1 AUTHORIZATION pools")
  const poolUrl = url.replace(/\/\/.*@/, '//pools:x@')
  const pool = await connectedTo(t, poolUrl, 'pool_1')
  await migrate(pool, 'pool_1', POOL_SCHEMA)
  const withPools = { DATA_DIR, STORE_URL: url, WEBHOOK_STORE_URL: poolUrl }
  t.same(await look(), [])
  t.same(await found(withPools), [])
  await pool.exec('DROP INDEX deliveries_due')
  const ofPool = ['schema pool_1 lacks the index deliveries_due']
  t.same(await found(withPools), ofPool)
  t.same(await look(), ofPool)

  await books.exec(`DROP INDEX payouts_due; CREATE INDEX mine ON payouts (state);
    ALTER TABLE payouts DROP CONSTRAINT payouts_pkey;
    ALTER TABLE payouts ALTER tenant DROP NOT NULL`)
  await cluster.exec('DROP INDEX placements_of_shard')
  const seen = await look()
  for (const finding of [
    'schema books_1 lacks the index payouts_due',
    'schema books_1 lacks the constraint payouts_pkey of payouts',
    'schema books_1: the column payouts.tenant was changed',
    'schema books_1 has the index mine, which no migration makes',
    'schema cluster lacks the index placements_of_shard',
  ]) {
    t.ok(seen.includes(finding), `${finding}: ${seen.join('; ')}`)
  }
  t.notOk(seen.some((finding) => finding.includes('doctor')))
  const left = await books.all("SELECT 1 FROM pg_namespace WHERE nspname = 'doctor_expects'")
  t.same(left, [], 'nothing of the comparison is left')
})
