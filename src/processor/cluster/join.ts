/**
 * Joins a cluster: opens its schema under the name of this processor and waits for a shard.
 *
 * - A member adds its shard when the cluster lacks it, and prefers it to others.
 * - The data directory belongs to one process: the marks beside the books are in it.
 */
import { hostname } from 'node:os'
import type { Clock } from '../../base/clock.js'
import type { Logger } from '../../base/log.js'
import type { Random } from '../../base/random.js'
import type { Settings } from '../../settings/settings.js'
import { awaitShard, type OwnedShard } from '../../store/cluster/candidate.js'
import { holderOf, openCluster, type Cluster } from '../../store/cluster/cluster.js'
import { lostOr, NoAnswer } from '../../store/postgres/answers.js'
import { lockHolder } from '../../store/postgres/owned_schema.js'
import { newestVersion } from '../../store/postgres/migrate.js'
import { BOOKS, openPostgresStore } from '../../store/postgres/store.js'
import type { Timelines } from '../../store/postgres/timelines.js'
import type { Store } from '../../store/store.js'

export interface JoinOptions {
  readonly settings: Settings
  readonly random: Random
  readonly timelines: Timelines
  /** `host:port` for gateways. */
  readonly address: string
  readonly isSyncRequired: boolean
  /** This machine's. */
  readonly clock: Clock
  /** Kids of the keys in the master key file; none when there is no file. */
  readonly masterKeys: () => readonly string[]
  /** As of cluster/failed_loads. */
  readonly failedLoad: (shard: string) => string | undefined
  readonly elapsed: () => number
  readonly pause: (ms: number) => Promise<void>
  /** Called once when it has to wait for a shard. */
  readonly onWaiting: (name: string, cluster: Cluster) => Promise<void>
  /** Gateways that are connected meanwhile. */
  readonly gateways: () => number
  readonly log: Logger
}

export interface Joined extends OwnedShard<Store> {
  readonly cluster: Cluster
}

export async function joinCluster(options: JoinOptions): Promise<Joined> {
  const { settings, pause, log } = options
  const { STORE_URL: url, CLUSTER, SHARD, PROCESSOR_NAME, DATA_DIR } = settings
  const name = PROCESSOR_NAME === '' ? hostname() : PROCESSOR_NAME
  const holder = await lockHolder(DATA_DIR, 'processor', options.random)
  const { timelines } = options
  const cluster = await openCluster({
    ...{ url, name, pause, timelines },
    onNameTaken: () => log.warn({ name }, 'another process has the name of this processor'),
  })
  if (CLUSTER === 'member') await cluster.addShard(SHARD)
  let isLost: (error: Error) => void = () => undefined
  const lost = new Promise<never>((_, reject) => (isLost = reject))
  cluster.onLost((error) => isLost(new NoAnswer(error)))
  const shard = CLUSTER === 'member' ? SHARD : undefined
  let waiting: Promise<void> | undefined
  const candidate = {
    ...options,
    ...{ cluster, url, shard, open: openPostgresStore, holder: holderOf(name, holder) },
    booksVersion: newestVersion(BOOKS),
    // Both the wait for a shard and the take-over, which waits for its server, begin it.
    onWaiting: () => (waiting ??= options.onWaiting(name, cluster)),
  }
  try {
    return { ...(await Promise.race([awaitShard(candidate), lost])), cluster }
  } catch (error) {
    throw lostOr(error)
  }
}
