/** Books in SQLite and in PostgreSQL: copies, tables, columns and indexes. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { instant } from '../../src/base/clock.js'
import { PROCESSOR_SCHEMA } from '../../src/store/sqlite/store.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { exportSchemas, importSchemas, readSnapshot } from '../../src/store/postgres/copy.js'
import { collected } from '../support/collected.js'
import { eventually } from '../support/eventually.js'
import { tempFolder } from '../support/temp_folder.js'
import { anEvent, anIntent, batchOf } from './commit_rows.js'
import { server, newShard, opened, connected } from './postgres_books.js'

const NONCES = Buffer.from([0, 255, 1, 2, 3, 4, 5, 6])
const MOST = 9_223_372_036_854_775_807n

t.test('a copy to SQLite and back has the same rows', async (t) => {
  const shard = newShard()
  const { store } = await opened(t, shard)
  await store.commit({
    ...batchOf({
      intents: [anIntent('pi_1')],
      accounts: [{ id: 'demo_sandbox:VND:prefund', balance: MOST }],
      events: [anEvent(1), anEvent(2)],
    }),
    nonces: NONCES,
  })
  await store.commit({ ...batchOf({}), settledEvents: ['evt_1'] })
  await store.close()
  const folder = tempFolder(t)
  const [there, again] = [join(folder, 'there.db'), join(folder, 'again.db')]
  const copied = await exportSchemas(server.url, [{ schema: shard, file: there, holds: 'books' }])
  const copy = newShard()
  const wanted = [{ schema: copy, file: there, holds: 'books' }] as const
  t.same(await importSchemas(server.url, wanted), copied)
  await t.rejects(importSchemas(server.url, wanted), /has books/)
  t.same(await exportSchemas(server.url, [{ ...wanted[0], file: again }]), copied)
  t.same(await textOf(again), await textOf(there))
  const reopened = await opened(t, copy)
  t.match(await reopened.store.openEvents(0, 9), [{ id: 'evt_2' }])
  await reopened.store.commit({ ...batchOf({ intents: [anIntent('pi_2')] }), nonces: NONCES })
  t.equal((await collected((await reopened.store.boot(instant(0))).nonces)).length, 2)
})

t.test('of several files all are copied, or none', async (t) => {
  const shard = newShard()
  const { store } = await opened(t, shard)
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  await store.close()
  const file = join(tempFolder(t), 'books.db')
  await exportSchemas(server.url, [{ schema: shard, file, holds: 'books' }])
  const empty = newShard()
  const wanted = [empty, shard].map((schema) => ({ schema, file, holds: 'books' as const }))
  await t.rejects(importSchemas(server.url, wanted), { message: /^schema .* has books: name/ })
  const rows = await connected(t, empty)
  t.same(await rows.all('SELECT epoch FROM owner'), [{ epoch: 0 }])
  t.same(await rows.all('SELECT id FROM intents'), [])
  await importSchemas(server.url, wanted.slice(0, 1))
  t.same(await rows.all('SELECT id FROM intents'), [{ id: 'pi_1' }])
})

t.test('all reads of an export are of one moment', async (t) => {
  const shard = newShard()
  const { store } = await opened(t, shard)
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  const file = join(tempFolder(t), 'books.db')
  await readSnapshot(server.url, async (snapshot) => {
    t.same(await snapshot.all(`SELECT last_batch AS batch FROM ${shard}.owner`), [{ batch: 1 }])
    await store.commit(batchOf({ intents: [anIntent('pi_2')] }))
    const none = { schema: newShard(), file: `${file}.none`, holds: 'books' } as const
    await snapshot.export([{ schema: shard, file, holds: 'books' }, none])
  })
  const found = await textOf(file)
  t.match(
    found.find((text) => text.startsWith('intents: ')),
    /pi_1/,
  )
  t.notOk(found.some((text) => text.includes('pi_2')))
  t.notOk(existsSync(`${file}.none`), 'a schema that does not exist has no file')
})

t.test('an export rests longer than sessions may', async (t) => {
  const rows = await connected(t, 'pg_catalog')
  t.teardown(() => rows.exec('ALTER ROLE CURRENT_USER RESET idle_in_transaction_session_timeout'))
  await rows.exec(`ALTER ROLE CURRENT_USER SET idle_in_transaction_session_timeout = '100ms'`)
  const found = await readSnapshot(server.url, async (snapshot) => {
    await eventually('it has rested', async () => {
      const [rest] = await rows.all<{ isLong: boolean }>(
        `SELECT clock_timestamp() - state_change > '300ms' AS "isLong"
         FROM pg_stat_activity WHERE application_name = 'causeway export'`,
      )
      return rest?.isLong ?? true
    })
    return snapshot.all('SELECT 1 AS one')
  })
  t.same(found, [{ one: 1 }])
})

/** Every row of every table. */
async function textOf(file: string): Promise<readonly string[]> {
  const database = await openDatabase(file, { readOnly: true })
  const tables = await database.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  const rows = await Promise.all(tables.map(({ name }) => database.all(`SELECT * FROM ${name}`)))
  await database.close()
  return rows.map((found, i) => `${tables[i]?.name}: ${JSON.stringify(found)}`)
}

t.test('both schemas have the same tables and columns', async (t) => {
  const shard = newShard()
  await opened(t, shard)
  const rows = await connected(t, shard)
  const file = join(tempFolder(t), 'books.db')
  const sqlite = await openDatabase(file, { migrations: PROCESSOR_SCHEMA })
  t.teardown(() => sqlite.close())
  const here = await sqlite.all<{ column: string }>(
    `SELECT m.name || '.' || c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
  )
  const there = await rows.all<{ column: string }>(
    `SELECT table_name || '.' || column_name AS "column" FROM information_schema.columns
     WHERE table_schema = ?`,
    [shard],
  )
  const only = ['outbox.', 'event_outcomes.', 'owner.'] // the outbox and the lease
  const names = (found: readonly { column: string }[]): string[] =>
    found
      .map(({ column }) => column)
      .filter((column) => !only.some((table) => column.startsWith(table)))
      .filter((column) => column !== 'events.settled_at')
      .sort()
  t.same(names(there), names(here))
})

t.test('an index of SQLite has its counterpart', async (t) => {
  const shard = newShard()
  await opened(t, shard)
  const rows = await connected(t, shard)
  const sqlite = await openDatabase(join(tempFolder(t), 'books.db'), {
    migrations: PROCESSOR_SCHEMA,
  })
  t.teardown(() => sqlite.close())
  const here = await sqlite.all<{ name: string }>(
    "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL",
  )
  const there = await rows.all<{ name: string }>(
    'SELECT indexname AS name FROM pg_indexes WHERE schemaname = ?',
    [shard],
  )
  const known = new Set(there.map(({ name }) => name))
  t.same(
    here.map(({ name }) => name).filter((name) => !known.has(name)),
    ['events_open'],
    'the outbox replaces it',
  )
})
