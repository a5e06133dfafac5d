/** The processor's metrics: its relay, and in a cluster its shards. */
import t from 'tap'
import { createWorld } from '../support/world.js'
import { metricsOf } from './metrics_registry.js'
import { createMetrics } from '../../src/metrics/metrics.js'
import { registerShardMetrics } from '../../src/processor/cluster/metrics.js'
import type { Shard } from '../../src/store/cluster/cluster.js'
import type { WaitingProcessor } from '../../src/store/cluster/waiting.js'

t.test('relay metrics show the backlog and the catch-up state', async (t) => {
  const world = await createWorld(t)
  let backlog = { waiting: 0, catchingUp: true }
  const metrics = metricsOf(world, { backlog: () => backlog })
  const measured = async (): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('causeway_relay_'))
  t.same(await measured(), ['causeway_relay_backlog 0', 'causeway_relay_catching_up 1'])
  backlog = { waiting: 7, catchingUp: false }
  t.same(await measured(), ['causeway_relay_backlog 7', 'causeway_relay_catching_up 0'])
})

const OWN = { name: 'p1', shard: 'books_1', epoch: 7 }
const FAULT = { version: 6, kind: 'rate', key: 'THB', cause: 'invalid_request' }
const aShard = (shard: string, isConnected: boolean, moves: number): Shard => ({
  ...{ shard, isConnected, moves, address: '', epoch: 1, holder: 'p1' },
  ...{ partners: 2, moveTo: null, settingsVersion: 5, settingsBehind: moves },
  settingsFault: moves === 0 ? null : FAULT,
})

const aCandidate = (cannotTake: WaitingProcessor['cannotTake']): WaitingProcessor => ({
  ...{ name: 'p2', address: '', prefers: null, gateways: 0, cannotTake },
})

type Registered = Parameters<typeof registerShardMetrics>

/** Reads all samples, in order. */
function samplesOf(cluster: Registered[2], own: Registered[3]): () => Promise<string[]> {
  const metrics = createMetrics()
  registerShardMetrics(metrics, OWN, cluster, own)
  return async () => {
    const lines = (await metrics.text()).split('\n')
    return lines.filter((line) => line !== '' && !line.startsWith('#')).sort()
  }
}

t.test('every shard is shown, also one without an owner', async (t) => {
  const samples = samplesOf(
    {
      shards: () => Promise.resolve([aShard('books_1', true, 0), aShard('books_2', false, 3)]),
      candidates: () => Promise.resolve([aCandidate({}), aCandidate({ books_2: 'a reason' })]),
      standbyLag: () => Promise.resolve(4_096),
    },
    { gateways: () => 3, isUnreached: () => false },
  )
  for (let scrape = 1; scrape <= 2; scrape++)
    t.same(await samples(), [
      'causeway_shard_candidates{shard="books_1"} 2',
      'causeway_shard_candidates{shard="books_2"} 1',
      'causeway_shard_epoch{shard="books_1",owner="p1"} 7',
      'causeway_shard_gateways{shard="books_1"} 3',
      'causeway_shard_moves_total{shard="books_1"} 0',
      'causeway_shard_moves_total{shard="books_2"} 3',
      'causeway_shard_owned{shard="books_1"} 1',
      'causeway_shard_owned{shard="books_2"} 0',
      'causeway_shard_settings_behind{shard="books_1"} 0',
      'causeway_shard_settings_behind{shard="books_2"} 3',
      'causeway_shard_settings_fault{shard="books_1"} 0',
      'causeway_shard_settings_fault{shard="books_2"} 1',
      'causeway_shard_unreached{shard="books_1"} 0',
      'causeway_standby_lag_bytes{shard="books_1"} 4096',
    ])
})

t.test('values that the cluster does not report are absent', async (t) => {
  const samples = samplesOf(
    {
      shards: () => Promise.reject(new Error('gone')),
      candidates: () => Promise.reject(new Error('gone')),
      standbyLag: () => Promise.resolve(null),
    },
    { gateways: () => 0, isUnreached: () => true },
  )
  t.same(await samples(), [
    'causeway_shard_epoch{shard="books_1",owner="p1"} 7',
    'causeway_shard_gateways{shard="books_1"} 0',
    'causeway_shard_unreached{shard="books_1"} 1',
  ])
})
