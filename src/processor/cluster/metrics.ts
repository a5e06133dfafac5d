/**
 * The metrics of a processor in a cluster, read at each scrape.
 *
 * - Every owner shows all shards, so a shard without an owner is visible.
 * - While the cluster does not answer, its samples are absent and the scrape succeeds.
 */
import type { ReadableName } from '../../metrics/families.js'
import type { Metrics } from '../../metrics/metrics.js'
import type { Cluster, Shard } from '../../store/cluster/cluster.js'
import { canTake, type Member } from './member.js'

/** Whether gateways reach this owner. */
export interface GatewayReach {
  gateways(): number
  /** None does, and one reaches a processor that could take the shard. */
  isUnreached(): boolean
}

export function registerShardMetrics(
  metrics: Metrics,
  { name, shard, epoch }: Pick<Member, 'name' | 'shard' | 'epoch'>,
  cluster: Pick<Cluster, 'shards' | 'candidates' | 'standbyLag'>,
  reach: GatewayReach,
): void {
  metrics.readAll('causeway_shard_epoch', () => [[epoch, shard, name]])
  metrics.readAll('causeway_shard_gateways', () => [[reach.gateways(), shard]])
  metrics.readAll('causeway_shard_unreached', () => [[Number(reach.isUnreached()), shard]])
  let reading: Promise<readonly Shard[]> | undefined
  /** One query for the values of a scrape. */
  const shardsNow = (): Promise<readonly Shard[]> =>
    (reading ??= cluster
      .shards()
      .catch(() => [])
      .finally(() => (reading = undefined)))
  const ofShards = (family: ShardFamily, valueOf: (found: Shard) => number): void =>
    metrics.readAll(family, async () =>
      (await shardsNow()).map((found) => [valueOf(found), found.shard] as const),
    )
  ofShards('causeway_shard_owned', (found) => Number(found.isConnected))
  ofShards('causeway_shard_moves_total', ({ moves }) => moves)
  ofShards('causeway_shard_settings_behind', ({ settingsBehind }) => settingsBehind)
  ofShards('causeway_shard_settings_fault', ({ settingsFault }) => Number(settingsFault !== null))
  metrics.readAll('causeway_shard_candidates', async () => {
    const waiting = await cluster.candidates().catch(() => undefined)
    if (waiting === undefined) return []
    return (await shardsNow()).map((found) => {
      return [waiting.filter((each) => canTake(each, found.shard)).length, found.shard] as const
    })
  })
  metrics.readAll('causeway_standby_lag_bytes', async () => {
    const lag = await cluster.standbyLag().catch(() => null)
    return lag === null ? [] : [[lag, shard]]
  })
}

type ShardFamily = Extract<
  ReadableName,
  | 'causeway_shard_owned'
  | 'causeway_shard_moves_total'
  | 'causeway_shard_settings_behind'
  | 'causeway_shard_settings_fault'
>
