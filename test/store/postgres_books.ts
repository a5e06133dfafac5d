/** Books on a PostgreSQL server of the test. */
import t, { type Test } from 'tap'
import type { Store } from '../../src/store/store.js'
import {
  connectToPrimary,
  parseStoreUrl,
  type Connection,
} from '../../src/store/postgres/connection.js'
import { LEASE_TIMEOUT_MS } from '../../src/store/postgres/lease.js'
import { openPostgresStore } from '../../src/store/postgres/store.js'
import { hurriedClock } from '../support/hurried_clock.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { requirePostgres, startPostgres, type TestServer } from '../support/postgres_server.js'

requirePostgres(t)

export const server: TestServer = await startPostgres(t)

export const longPause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))

/** Looks more often; the lease and its timeout stay by the clock, longer bounds as they are. */
export const shortPause = (ms: number): Promise<void> =>
  longPause(ms > LEASE_TIMEOUT_MS ? ms : ms / 20)

interface Opening {
  readonly holder?: string
  readonly elapsed?: () => number
  /** Takes over without waiting for the timeout of the lease. */
  readonly isHurried?: boolean
  readonly pause?: (ms: number) => Promise<void>
  /** Called when another process owns the schema. */
  readonly onWaiting?: () => void
}

let shards = 0

export const newShard = (): string => `books_${++shards}`

/** A store whose failure the test reads. */
export async function opened(
  t: Test,
  shard: string,
  { holder = 'one', isHurried = false, pause = longPause, ...given }: Opening = {},
): Promise<{ store: Store; failure: () => Error | undefined }> {
  const { hurried, ...clock } = hurriedClock(pause)
  const open = (): Promise<Store> =>
    openPostgresStore({ url: server.url, shard, holder, log, ...clock, ...given })
  const store = await (isHurried ? hurried(open) : open())
  let failure: Error | undefined
  store.onFailure((error) => (failure = error))
  t.teardown(() => store.close().catch(() => undefined))
  return { store, failure: () => failure }
}

export async function connected(t: Test, shard: string): Promise<Connection> {
  const connection = await connectToPrimary(parseStoreUrl(server.url), shard, 'test')
  t.teardown(() => connection.close().catch(() => undefined))
  return connection
}
