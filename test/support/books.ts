/**
 * The books of a test: SQLite in its folder, or a schema in the PostgreSQL server of
 * TEST_STORE_URL.
 */
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { createLog } from '../../src/base/log.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import { openPostgresStore } from '../../src/store/postgres/store.js'
import { openStore, type Store } from '../../src/store/store.js'

const SERVER = process.env['TEST_STORE_URL'] ?? ''

/** Whether this run keeps its books in PostgreSQL. */
export const onPostgres = SERVER !== ''

/** The schema of the books that a test keeps at this path. */
const shardOf = (path: string): string =>
  `t_${createHash('sha256').update(path).digest('hex').slice(0, 24)}`

/** Settings of a process whose DATA_DIR is this folder. */
export const storeSettings = (dataDir: string): Readonly<Record<string, string>> =>
  onPostgres ? { STORE_URL: SERVER, SHARD: shardOf(dataDir) } : {}

/** Opens the books of a processor inside the test's process; new ones unless it did before. */
export async function openTestStore(file: string): Promise<Store> {
  if (!onPostgres) return openStore(file)
  const shard = shardOf(file)
  if (!existsSync(`${file}.shard`)) await dropShard(shard)
  writeFileSync(`${file}.shard`, shard)
  return openPostgresStore({
    url: SERVER,
    shard,
    holder: file,
    elapsed: () => performance.now(),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    log: createLog('test', { LOG_LEVEL: 'silent' }),
  })
}

async function dropShard(shard: string): Promise<void> {
  const connection = await connectToPrimary(parseStoreUrl(SERVER), 'public', 'test')
  await connection.exec(`SET client_min_messages = error; DROP SCHEMA IF EXISTS ${shard} CASCADE`)
  await connection.close()
}
