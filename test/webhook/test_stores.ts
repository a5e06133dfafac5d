/** The stores of a webhook pool for a test: SQLite, and PostgreSQL if installed. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openPostgresPool, type PostgresPool } from '../../actors/webhook/store/postgres/store.js'
import { openAdminQueries } from '../../actors/webhook/store/admin_queries.js'
import { openWebhookStore, type StoreReports } from '../../actors/webhook/store/store.js'
import { systemPause } from '../../src/base/clock.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import type { Database } from '../../src/store/database.js'
import { connectToPrimary, parseStoreUrl } from '../../src/store/postgres/connection.js'
import type { HurriedClock } from '../support/hurried_clock.js'
import { SILENT_LOG } from '../support/logs.js'
import { noPostgres, startPostgres, type TestServer } from '../support/postgres_server.js'
import { tempFolder } from '../support/temp_folder.js'
import { NO_REPORTS } from '../support/webhook_store.js'

export interface TestStore {
  /** Opens the store; a new one unless it was opened before. */
  open(
    reports?: Partial<StoreReports>,
    holder?: string,
    time?: Pick<HurriedClock, 'elapsed' | 'pause'>,
  ): Promise<PostgresPool>
  /** A second connection to its rows. */
  connect(): Promise<Pick<Database, 'dialect' | 'all' | 'run' | 'exec' | 'close'>>
}

export function inSqlite(t: Test): TestStore {
  const file = join(tempFolder(t), 'webhooks.db')
  return {
    open: async (reports) => {
      const store = await openWebhookStore(file, { ...NO_REPORTS, ...reports })
      return { store, adminQueries: await openAdminQueries(file) }
    },
    connect: () => openDatabase(file),
  }
}

let shards = 0

const REAL_TIME = { elapsed: () => performance.now(), pause: systemPause }

export function inPostgres(server: TestServer): TestStore {
  const shard = `pool_${++shards}`
  return {
    open: (reports, holder = 'one', time = REAL_TIME) =>
      openPostgresPool(
        {
          ...{ url: server.url, shard, holder, ...time },
          log: SILENT_LOG,
        },
        { ...NO_REPORTS, ...reports },
      ),
    connect: () => connectToPrimary(parseStoreUrl(server.url), shard, 'test'),
  }
}

/** The stores by name; a missing PostgreSQL is reported as skipped. */
export async function testStores(): Promise<Readonly<Record<string, (t: Test) => TestStore>>> {
  if (noPostgres !== false) {
    t.pass('PostgreSQL', { skip: noPostgres })
    return { SQLite: inSqlite }
  }
  const server = await startPostgres(t)
  return { SQLite: inSqlite, PostgreSQL: () => inPostgres(server) }
}
