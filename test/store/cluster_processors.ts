/** Processors of a cluster on a PostgreSQL server of the test, which advances their clocks. */
import type { Test } from 'tap'
import { instant } from '../../src/base/clock.js'
import type { Store } from '../../src/store/store.js'
import { awaitShard, type OwnedShard } from '../../src/store/cluster/candidate.js'
import { newestVersion } from '../../src/store/postgres/migrate.js'
import { BOOKS, openPostgresStore } from '../../src/store/postgres/store.js'
import { holderOf, openCluster, type Cluster } from '../../src/store/cluster/cluster.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { connected, newShard, server } from './postgres_books.js'

/** Polls without a pause; the timeouts are unchanged. */
export const pause = (ms: number): Promise<void> =>
  new Promise((done) => setTimeout(done, ms < 1_000 ? ms / 10 : ms))

/** A processor of the cluster; only the test advances its clock. */
export interface Processor {
  readonly cluster: Cluster
  readonly name: string
  now: number
  looks: number
  /** That are connected while it waits. */
  gateways: number
  /**
   * @param shard undefined for a spare
   * @param sees the shards that it looks at, of those of all tests
   */
  waits(shard?: string, sees?: readonly string[]): Promise<OwnedShard<Store>>
  masterKeys: readonly string[]
  /** Shards whose books it could not load. */
  failedLoads: readonly string[]
  /** The newest version of books that it knows. */
  booksVersion: number
}

let names = 0

export async function processor(t: Test, name = `p${++names}`): Promise<Processor> {
  const cluster = await openCluster({ url: server.url, name, pause, onNameTaken: () => undefined })
  t.teardown(() => cluster.close().catch(() => undefined))
  const self: Processor = {
    cluster,
    name,
    now: 0,
    looks: 0,
    gateways: 0,
    masterKeys: [],
    failedLoads: [],
    booksVersion: newestVersion(BOOKS),
    waits: (shard, sees = shard === undefined ? undefined : [shard]) => {
      const owned = owner(shard, sees)
      // A test may end while this candidate waits.
      owned.catch(() => undefined)
      return owned
    },
  }
  const owner = async (
    shard: string | undefined,
    sees: readonly string[] | undefined,
  ): Promise<OwnedShard<Store>> => {
    const seenShards: Cluster['seenShards'] = async () => {
      self.looks += 1
      return (await cluster.seenShards()).filter((each) => sees?.includes(each.shard) !== false)
    }
    const owned = await awaitShard({
      open: openPostgresStore,
      ...{ cluster: { ...cluster, seenShards }, url: server.url, shard, pause, log },
      onWaiting: () => undefined,
      address: `${name}:1`,
      gateways: () => self.gateways,
      get booksVersion() {
        return self.booksVersion
      },
      holder: holderOf(name, 'here'),
      masterKeys: () => self.masterKeys,
      failedLoad: (name) => (self.failedLoads.includes(name) ? 'it failed' : undefined),
      elapsed: () => self.now,
    })
    owned.books.onFailure(() => undefined)
    t.teardown(() => owned.books.close().catch(() => undefined))
    return owned
  }
  return self
}

/** Resolves after the candidate has looked at the shards several times more. */
export async function severalLooks(candidate: Processor): Promise<void> {
  const before = candidate.looks
  await eventually('several looks', () => candidate.looks > before + 2)
}

export const epochOf = async (books: Store): Promise<number> => (await books.boot(instant(0))).epoch

/** Ends the session of the owner's commits, as a kill of its process does. */
export async function endSession(t: Test, shard: string): Promise<void> {
  const connection = await connected(t, shard)
  await connection.all('SELECT pg_terminate_backend(session::integer) FROM owner')
}

/** A shard whose owner serves it, and a spare that waits for it. */
export async function ownedShard(t: Test): Promise<{
  one: Processor
  spare: Processor
  shard: string
  books: Store
  taken: Promise<OwnedShard<Store>>
}> {
  const [one, spare] = [await processor(t), await processor(t)]
  const shard = newShard()
  await one.cluster.addShard(shard)
  const { books } = await one.waits(shard)
  await one.cluster.announce(shard, 1, 'one:1')
  const taken = spare.waits(shard)
  await severalLooks(spare)
  return { one, spare, shard, books, taken }
}

export const recordOf = async ({ cluster }: Processor, name: string) =>
  (await cluster.shards()).find(({ shard }) => shard === name)

export async function epochOfShard(t: Test, shard: string): Promise<number> {
  const connection = await connected(t, shard)
  return (await connection.all<{ epoch: number }>('SELECT epoch FROM owner'))[0]?.epoch ?? 0
}
