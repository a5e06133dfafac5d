/**
 * The books of a test: SQLite in its folder, or a schema in the PostgreSQL server of
 * TEST_STORE_URL.
 */
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLog } from '../../src/base/log.js'
import { FILES } from '../../src/base/subjects.js'
import { openDatabase, type Database } from '../../src/store/database.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { openPostgresStore } from '../../src/store/postgres/store.js'
import { openStore, type Store } from '../../src/store/store.js'

/** Empty: SQLite. */
const server = (): string => process.env['TEST_STORE_URL'] ?? ''

/** Whether this run keeps its books in PostgreSQL. */
const isOnPostgres = (): boolean => server() !== ''

/** Why a test of SQLite's own does not run on PostgreSQL; false on SQLite. */
export const sqliteOnly = (reason: string): string | false =>
  isOnPostgres() && `SQLite only: ${reason}`

/** The schema of the books that a test keeps in this folder. */
const shardOf = (folder: string): string =>
  `t_${createHash('sha256').update(folder).digest('hex').slice(0, 24)}`

/** Settings of a process whose DATA_DIR is this folder. */
export const storeSettings = (dataDir: string): Readonly<Record<string, string>> =>
  isOnPostgres()
    ? {
        STORE_URL: server(),
        SHARD: shardOf(dataDir),
        WEBHOOK_POOL_SCHEMA: `${shardOf(dataDir)}_pool`,
      }
    : {}

/** Opens the books of a processor inside the test's process; new ones unless it did before. */
export async function openTestStore(file: string): Promise<Store> {
  if (!isOnPostgres()) return openStore(file)
  const shard = shardOf(dirname(file))
  if (!existsSync(`${file}.shard`)) await dropShard(shard)
  writeFileSync(`${file}.shard`, shard)
  return openPostgresStore({
    url: server(),
    shard,
    holder: file,
    elapsed: () => performance.now(),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    log: createLog('test', { LOG_LEVEL: 'silent' }),
  })
}

/** The processor's books behind its back; statements that differ take `dialect`. */
export type RawBooks = Database

/** @param folder the DATA_DIR of a stack, or a world's folder */
export const rawBooks = async (folder: string): Promise<RawBooks> =>
  isOnPostgres()
    ? connectToPrimary(parseStoreUrl(server()), shardOf(folder), 'test')
    : openDatabase(join(folder, FILES.processorDatabase))

/** Removes the books of a folder from the server; a SQLite file goes with its folder. */
export async function discardBooks(folder: string): Promise<void> {
  if (isOnPostgres()) await dropShard(shardOf(folder))
}

async function dropShard(shard: string): Promise<void> {
  const connection = await connectToPrimary(parseStoreUrl(server()), 'public', 'test')
  await connection.exec(`SET client_min_messages = error; DROP SCHEMA IF EXISTS ${shard} CASCADE`)
  await connection.close()
}
