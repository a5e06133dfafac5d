/**
 * The books of a test: SQLite in its folder, or a schema in the PostgreSQL server of
 * TEST_STORE_URL.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { systemPause } from '../../src/base/clock.js'
import { FILES, webhookDatabase, webhookSchema } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Database } from '../../src/store/database.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { openPostgresStore } from '../../src/store/postgres/store.js'
import { openStore } from '../../src/store/sqlite/store.js'
import type { Store } from '../../src/store/store.js'
import { SQLITE_ONLY_REASON } from '../runner/not_applicable.js'
import { SILENT_LOG } from './logs.js'
import { putNewBooks } from './new_books.js'
import { rememberNew, returnSchema, takeSchema } from './spare_schemas.js'
import { tempFolder } from './temp_folder.js'

/** The server of this run. Empty means SQLite. */
export const server = (): string => process.env['TEST_STORE_URL'] ?? ''

/** Whether this run keeps its books in PostgreSQL. */
export const isOnPostgres = (): boolean => server() !== ''

/** The databases of processor and webhook pool that a stack keeps in its folder. */
export const storeFiles = (): readonly string[] =>
  isOnPostgres() ? [] : [FILES.processorDatabase, FILES.webhookDatabase]

/** Why a test of SQLite is not applicable on PostgreSQL; false on SQLite. */
export const sqliteOnly = (reason: string): string | false =>
  isOnPostgres() && SQLITE_ONLY_REASON + reason

/** File in a folder and its copies with the name of their common schema. */
export const SHARD_FILE = 'shard_of_test'

/** The schema of the books that a test keeps in this folder; those of its pools begin with it. */
export function shardOf(folder: string): string {
  const file = join(folder, SHARD_FILE)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  return `t_${createHash('sha256').update(folder).digest('hex').slice(0, 24)}`
}

/** The schema of the first webhook pool; those of the others begin with it. */
export const poolSchema = (folder: string): string => `${shardOf(folder)}_pool`

/** Settings of a process whose DATA_DIR is this folder. */
export const storeSettings = (dataDir: string): Readonly<Record<string, string>> =>
  isOnPostgres()
    ? {
        STORE_URL: server(),
        SHARD: shardOf(dataDir),
        WEBHOOK_POOL_SCHEMA: poolSchema(dataDir),
      }
    : {}

/** Opens the books of a processor inside the test's process; new ones unless it did before. */
export async function openTestStore(file: string): Promise<Store> {
  if (!isOnPostgres()) {
    await putNewBooks(file)
    return openStore(file)
  }
  const shard = shardOf(dirname(file))
  const isNew = !existsSync(`${file}.shard`)
  if (isNew) await takeSchema(server(), shard)
  writeFileSync(`${file}.shard`, shard)
  const store = await openPostgresStore({
    url: server(),
    shard,
    holder: file,
    elapsed: () => performance.now(),
    pause: systemPause,
    log: SILENT_LOG,
  })
  if (isNew) await rememberNew(server(), shard)
  return store
}

/** Direct access to the processor's books; statements that differ take `dialect`. */
export type RawBooks = Database

/** @param folder the DATA_DIR of a stack, or a world's folder */
export const rawBooks = async (folder: string): Promise<RawBooks> =>
  isOnPostgres()
    ? connectToPrimary(parseStoreUrl(server()), shardOf(folder), 'test')
    : openDatabase(join(folder, FILES.processorDatabase))

/** Direct access to the processor's books for the time of `use`. */
export async function inBooks<Result>(
  folder: string,
  use: (books: RawBooks) => Promise<Result>,
): Promise<Result> {
  const books = await rawBooks(folder)
  return use(books).finally(() => books.close())
}

/** Direct access to a webhook pool's rows. */
export const rawPool = async (folder: string, pool: number): Promise<RawBooks> =>
  isOnPostgres()
    ? connectToPrimary(parseStoreUrl(server()), webhookSchema(poolSchema(folder), pool), 'test')
    : openDatabase(join(folder, webhookDatabase(pool)))

/** Replaces contexts as a bug or a manual edit would: those of `ids`, or all. */
export async function changeContexts(
  books: RawBooks,
  table: 'intents' | 'payouts',
  change: (context: string) => string,
  ...ids: readonly string[]
): Promise<void> {
  const rows = await books.all<{ id: string; context: string }>(`SELECT id, context FROM ${table}`)
  for (const { id, context } of rows) {
    if (ids.length > 0 && !ids.includes(id)) continue
    await books.run(`UPDATE ${table} SET context = ? WHERE id = ?`, [change(context), id])
  }
}

/** New books for a test, which may open several. `raw` is another connection to their rows. */
export async function openNewBooks(t: Pick<Test, 'testdir' | 'testdirName' | 'teardown'>) {
  const parent = existsSync(t.testdirName) ? t.testdirName : tempFolder(t)
  const folder = mkdtempSync(join(parent, 'books-'))
  const store = await openTestStore(join(folder, FILES.processorDatabase))
  const raw = await rawBooks(folder)
  t.teardown(async () => {
    await raw.close()
    await store.close().catch(() => undefined) // the test has closed it
    await releaseBooks(folder)
  })
  return { store, raw, folder }
}

/** Whether the webhook pools have reported the outcome of every event. */
export async function allEventsAreSettled(folder: string): Promise<boolean> {
  const books = await rawBooks(folder)
  const open = await books.all(`SELECT id FROM ${books.dialect.openEvents} LIMIT 1`)
  await books.close()
  return open.length === 0
}

/** Releases the books of `openTestStore`; a file is removed with its folder. */
export async function releaseBooks(folder: string): Promise<void> {
  if (isOnPostgres()) await returnSchema(server(), shardOf(folder))
}

/** Removes the books of a folder. */
export async function discardBooks(folder: string): Promise<void> {
  if (isOnPostgres()) return dropSchema(shardOf(folder))
  removeDatabase(folder, FILES.processorDatabase)
}

export function removeDatabase(folder: string, file: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(folder, file + suffix), { force: true })
}

export async function dropSchema(schema: string): Promise<void> {
  const connection = await connectToPrimary(parseStoreUrl(server()), 'public', 'test')
  await connection.exec(`SET client_min_messages = error; DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await connection.close()
}
