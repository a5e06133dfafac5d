/**
 * What a stack has stored, read behind its back: SQLite files in its folder, or schemas of the
 * PostgreSQL server that it uses.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS, storeUrl, type Settings } from '../../src/base/settings.js'
import { FILES, webhookSchema } from '../../src/base/subjects.js'
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

/** Reads what the processor, the first webhook pool or the rail stores; undefined: nothing yet. */
export async function readStored<T>(
  dataDir: string,
  store: StoreSettings,
  source: Source,
  read: (reader: Reader) => Promise<T>,
): Promise<T | undefined> {
  const url = storeUrl(store, dataDir)
  if (url === '' || source === 'rail') return readFileOf(join(dataDir, SQLITE_FILES[source]), read)
  const schema = source === 'pool' ? webhookSchema(store.WEBHOOK_POOL_SCHEMA, 1) : store.SHARD
  const connection = await connectToPrimary(parseStoreUrl(url), schema, 'load')
  try {
    return await read(connection)
  } finally {
    await connection.close()
  }
}

async function readFileOf<T>(
  file: string,
  read: (reader: Reader) => Promise<T>,
): Promise<T | undefined> {
  if (!existsSync(file)) return undefined
  const database = await openDatabase(file, { readOnly: true })
  try {
    return await read(database)
  } finally {
    await database.close()
  }
}
