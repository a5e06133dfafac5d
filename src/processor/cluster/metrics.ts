/**
 * The metrics of a processor in a cluster, read at each scrape.
 *
 * - Every owner shows all shards, so a shard without an owner is visible.
 * - While the cluster does not answer, its samples are absent and the scrape succeeds.
 */
import { Gauge, type Registry } from 'prom-client'
import type { Cluster, Shard } from '../../store/postgres/cluster/cluster.js'
import type { Member } from './member.js'

export function registerShardMetrics(
  registry: Registry,
  { name, shard, epoch }: Pick<Member, 'name' | 'shard' | 'epoch'>,
  cluster: Pick<Cluster, 'shards' | 'standbyLag'>,
): void {
  new Gauge({
    name: 'causeway_shard_epoch',
    help: 'Epoch of the shard that this processor owns; each take-over raises it',
    labelNames: ['shard', 'owner'],
    registers: [registry],
    collect() {
      this.set({ shard, owner: name }, epoch)
    },
  })
  let reading: Promise<readonly Shard[]> | undefined
  /** One query for the gauges of a scrape. */
  const shardsNow = (): Promise<readonly Shard[]> =>
    (reading ??= cluster
      .shards()
      .catch(() => [])
      .finally(() => (reading = undefined)))
  const gaugeOfShards = (metric: string, help: string, valueOf: (found: Shard) => number): void => {
    new Gauge({
      name: metric,
      help,
      labelNames: ['shard'],
      registers: [registry],
      async collect() {
        this.reset()
        for (const found of await shardsNow()) this.set({ shard: found.shard }, valueOf(found))
      },
    })
  }
  gaugeOfShards('causeway_shard_owned', '1 while the owner of a shard is connected', (found) =>
    Number(found.isConnected),
  )
  gaugeOfShards('causeway_shard_moves', 'Completed moves of a shard', ({ moves }) => moves)
  gaugeOfShards(
    'causeway_shard_settings_behind',
    'Settings for all shards that the books of a shard have not applied',
    ({ settingsBehind }) => settingsBehind,
  )
  gaugeOfShards(
    'causeway_shard_settings_fault',
    '1 while the owner of a shard cannot apply a setting for all shards, and takes no writes',
    ({ settingsFault }) => Number(settingsFault !== null),
  )
  new Gauge({
    name: 'causeway_standby_lag_bytes',
    help: 'WAL that the slowest standby has not replayed',
    labelNames: ['shard'],
    registers: [registry],
    async collect() {
      this.reset()
      const lag = await cluster.standbyLag().catch(() => null)
      if (lag !== null) this.set({ shard }, lag)
    },
  })
}
