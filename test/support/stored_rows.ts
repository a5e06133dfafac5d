/**
 * Direct reads of a stack's stored rows: SQLite files in its folder, or schemas of its PostgreSQL
 * server, for a cluster those of all shards and pools.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { storeUrl } from '../../src/settings/settings.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { FILES, webhookSchema, WEBHOOK_POOLS_MAX } from '../../src/base/subjects.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Reader } from '../../src/store/database.js'
import type { Dialect } from '../../src/store/dialect.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'

const { STORE_URL, SHARD, WEBHOOK_POOL_SCHEMA } = readSettings({}, '')
/** The store of a stack with default settings. A server of its own is found by its folder. */
export const DEFAULT_STORE = { STORE_URL, SHARD, WEBHOOK_POOL_SCHEMA }
export type StoreSettings = Readonly<typeof DEFAULT_STORE>

const SQLITE_FILES = {
  processor: FILES.processorDatabase,
  pool: FILES.webhookDatabase,
  rail: FILES.railDatabase,
} as const

export type Source = keyof typeof SQLITE_FILES
export type Sql = string | ((dialect: Dialect) => string)

/** Rows of the processor, the webhook pools or the rail; of a cluster shard by shard. */
export async function storedRows<Row>(
  dataDir: string,
  store: StoreSettings,
  source: Source,
  sql: Sql,
): Promise<readonly Row[]> {
  const rowsOf = ({ all, dialect }: Reader): Promise<Row[]> =>
    all(typeof sql === 'string' ? sql : sql(dialect))
  const url = storeUrl(store, dataDir)
  if (url === '' || source === 'rail') {
    const file = join(dataDir, SQLITE_FILES[source])
    if (!existsSync(file)) return []
    const database = await openDatabase(file, { readOnly: true })
    return rowsOf(database).finally(() => database.close())
  }
  const connection = await connectToPrimary(parseStoreUrl(url), 'pg_catalog', 'test')
  try {
    const rows: Row[] = []
    for (const schema of await schemasOf(connection, store, source)) {
      await connection.exec(`SET search_path = ${schema}`)
      rows.push(...(await rowsOf(connection)))
    }
    return rows
  } finally {
    await connection.close()
  }
}

const SCHEMAS = 'SELECT nspname AS name FROM pg_namespace'
const SHARDS = 'SELECT shard AS name FROM cluster.shards ORDER BY shard'

/** Those that exist. */
async function schemasOf(
  server: Reader,
  store: StoreSettings,
  source: 'processor' | 'pool',
): Promise<readonly string[]> {
  const names = async (sql: string): Promise<readonly string[]> =>
    (await server.all<{ name: string }>(sql)).map(({ name }) => name)
  const schemas = new Set(await names(SCHEMAS))
  const shards = schemas.has('cluster') ? await names(SHARDS) : [store.SHARD]
  const pools = Array.from({ length: WEBHOOK_POOLS_MAX }, (_, index) =>
    webhookSchema(store.WEBHOOK_POOL_SCHEMA, index + 1),
  )
  return (source === 'pool' ? pools : shards).filter((schema) => schemas.has(schema))
}
