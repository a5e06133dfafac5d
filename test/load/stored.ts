/**
 * Direct reads of a stack's stored rows: SQLite files in its folder, or schemas of its PostgreSQL
 * server, for a cluster those of all shards and pools.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS, storeUrl, type Settings } from '../../src/base/settings.js'
import { FILES, webhookSchema, WEBHOOK_POOLS_MAX } from '../../src/base/subjects.js'
import { openDatabase, type Reader } from '../../src/store/database.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'

export type StoreSettings = Pick<Settings, 'STORE_URL' | 'SHARD' | 'WEBHOOK_POOL_SCHEMA'>

/** Of a stack with default settings; a server of its own is found by its folder. */
export const DEFAULT_STORE: StoreSettings = {
  STORE_URL: SETTINGS.STORE_URL.fallback,
  SHARD: SETTINGS.SHARD.fallback,
  WEBHOOK_POOL_SCHEMA: SETTINGS.WEBHOOK_POOL_SCHEMA.fallback,
}

const SQLITE_FILES = {
  processor: FILES.processorDatabase,
  pool: FILES.webhookDatabase,
  rail: FILES.railDatabase,
} as const

export type Source = keyof typeof SQLITE_FILES

/**
 * Reads what the processor, the webhook pool or the rail stores; empty: nothing yet.
 *
 * @returns one result; of a cluster one for each shard, or for each pool
 */
export async function readStored<T>(
  dataDir: string,
  store: StoreSettings,
  source: Source,
  read: (reader: Reader) => Promise<T>,
): Promise<readonly T[]> {
  const url = storeUrl(store, dataDir)
  if (url === '' || source === 'rail') return readFileOf(join(dataDir, SQLITE_FILES[source]), read)
  const results: T[] = []
  for (const schema of await schemasOf(url, store, source)) {
    const connection = await connectToPrimary(parseStoreUrl(url), schema, 'load')
    try {
      results.push(await read(connection))
    } finally {
      await connection.close()
    }
  }
  return results
}

const IS_CLUSTER = `SELECT to_regclass('cluster.shards') IS NOT NULL AS "isThere"`
const SHARDS = 'SELECT shard AS name FROM cluster.shards ORDER BY shard'
const SCHEMAS = 'SELECT nspname AS name FROM pg_namespace'

async function schemasOf(
  url: string,
  { SHARD, WEBHOOK_POOL_SCHEMA }: StoreSettings,
  source: 'processor' | 'pool',
): Promise<readonly string[]> {
  const pools = Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index) =>
    webhookSchema(WEBHOOK_POOL_SCHEMA, index + 1),
  )
  const connection = await connectToPrimary(parseStoreUrl(url), 'pg_catalog', 'load')
  try {
    const names = async (sql: string): Promise<readonly string[]> =>
      (await connection.all<{ name: string }>(sql)).map(({ name }) => name)
    const [found] = await connection.all<{ isThere: boolean }>(IS_CLUSTER)
    if (found?.isThere !== true) return source === 'pool' ? pools.slice(0, 1) : [SHARD]
    const schemas = new Set(await names(SCHEMAS))
    const all = source === 'pool' ? pools : await names(SHARDS)
    return all.filter((schema) => schemas.has(schema))
  } finally {
    await connection.close()
  }
}

async function readFileOf<T>(
  file: string,
  read: (reader: Reader) => Promise<T>,
): Promise<readonly T[]> {
  if (!existsSync(file)) return []
  const database = await openDatabase(file, { readOnly: true })
  try {
    return [await read(database)]
  } finally {
    await database.close()
  }
}
