/** The SQLite file of the store: its WAL, its single writer. */
import {
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { instant } from '../../src/base/clock.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { takeSnapshot } from '../../src/store/sqlite/database_copy.js'
import { openStore } from '../../src/store/sqlite/store.js'
import type { Store } from '../../src/store/store.js'
import { dueIds } from '../support/due_ids.js'
import { tempFolder } from '../support/temp_folder.js'
import { anIntent, batchOf } from './commit_rows.js'

async function opened(t: Test): Promise<{ store: Store; file: string }> {
  const file = join(tempFolder(t), 'processor.db')
  const store = await openStore(file)
  t.teardown(() => store.close())
  return { store, file }
}

t.test('a missing or empty file with a WAL is rejected, and the WAL is kept', async (t) => {
  const { store, file } = await opened(t)
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  const copy = `${file}.copy`
  copyFileSync(`${file}-wal`, `${copy}-wal`)
  const refused = /copy is missing or empty but has a WAL/
  await t.rejects(openStore(copy), refused)
  writeFileSync(copy, '')
  await t.rejects(openStore(copy), refused)
  copyFileSync(file, copy)
  const brought = await openStore(copy)
  t.same(await dueIds(brought, 'intents', instant(9), 9), ['pi_1'])
  await brought.close()
})

t.test('the copy of a backup is not opened with the WAL of the file it replaces', async (t) => {
  const { store, file } = await opened(t)
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  const copy = `${file}.copy`
  const snapshot = await takeSnapshot(file)
  await snapshot.copyTo(copy, () => false)
  await snapshot.close()
  await store.commit(batchOf({ intents: [anIntent('pi_2')] }))
  copyFileSync(`${file}-wal`, `${copy}-wal`)
  const refused = /copy-wal is of another file, .*: move it and \S+copy-shm away, and keep them/
  await t.rejects(openStore(copy), refused)
  await t.rejects(openDatabase(copy, { readOnly: true }), refused)
  renameSync(`${copy}-wal`, `${copy}-wal.kept`)
  const restored = await openStore(copy)
  t.same(await dueIds(restored, 'intents', instant(9), 9), ['pi_1'])
  await restored.commit(batchOf({ intents: [anIntent('pi_3')] }))
  const reader = await openDatabase(copy, { readOnly: true })
  await reader.close()
  await restored.close()
})

t.test('a file has one writer and any number of readers', async (t) => {
  const file = join(tempFolder(t), 'processor.db')
  const store = await openStore(file)
  await t.rejects(openStore(file), /processor\.db is in use by another process/)
  const reader = await openDatabase(file, { readOnly: true })
  await store.commit(batchOf({ intents: [anIntent('pi_1')] }))
  t.same(await reader.all('SELECT id FROM intents'), [{ id: 'pi_1' }])
  await reader.close()
  await store.close()
  const next = await openStore(file)
  t.same(await dueIds(next, 'intents', instant(9e12), 1), ['pi_1'], 'the next writer opens it')
  await next.close()
})

t.test('a statement that could not be prepared is prepared again', async (t) => {
  const database = await openDatabase(join(tempFolder(t), 'a.db'))
  t.teardown(() => database.close())
  const sql = 'SELECT id FROM later'
  await t.rejects(database.all(sql), /no such table/)
  await database.exec('CREATE TABLE later (id INTEGER)')
  t.same(await database.all(sql), [])
})

t.test('an error of a damaged file names it', async (t) => {
  const file = join(tempFolder(t), 'processor.db')
  writeFileSync(file, 'no database'.repeat(100))
  await t.rejects(openStore(file), /processor\.db is damaged: SQLITE_NOTADB/)

  await (await openStore(file.replace('processor', 'cut'))).close()
  const cut = file.replace('processor', 'cut')
  truncateSync(cut, 8_192)
  await t.rejects(openStore(cut), /cut\.db is damaged: SQLITE_CORRUPT/)
})

t.test('a read that meets a damaged page is told, and other reads go on', async (t) => {
  const file = join(tempFolder(t), 'processor.db')
  const made = await openStore(file)
  await made.commit(batchOf({ intents: [anIntent('pi_1')] }))
  await made.close()
  await damageTable(file, 'events')
  const store = await openStore(file)
  t.teardown(() => store.close())
  t.equal(store.damage(), null)
  await t.rejects(store.openEvents(0, 1), /processor\.db is damaged: SQLITE_CORRUPT/)
  t.match(store.damage(), /processor\.db is damaged: SQLITE_CORRUPT/)
  t.same(await dueIds(store, 'intents', instant(9e12), 1), ['pi_1'])
})

/** Overwrites the first page of a table and of each of its indexes. */
async function damageTable(file: string, table: string): Promise<void> {
  const database = await openDatabase(file)
  const sql = `SELECT (rootpage - 1) * page_size AS at, page_size AS size
    FROM sqlite_schema, pragma_page_size WHERE tbl_name = ? AND rootpage > 0`
  const pages = await database.all<{ at: number; size: number }>(sql, [table])
  await database.close()
  const descriptor = openSync(file, 'r+')
  for (const { at, size } of pages) writeSync(descriptor, Buffer.alloc(size, 255), 0, size, at)
  closeSync(descriptor)
}

t.test('a value the driver would turn into NULL does not compile', async (t) => {
  const database = await openDatabase(join(tempFolder(t), 'x.db'))
  t.teardown(() => database.close())
  // @ts-expect-error a bigint would be bound as NULL
  await database.all('SELECT ? AS x', [5n])
  const [row] = await database.all<{ x: string }>('SELECT CAST(? AS INTEGER) AS x', ['5'])
  t.same(row, { x: 5 })
})
