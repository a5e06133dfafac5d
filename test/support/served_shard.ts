/**
 * Shards of a cluster in the process of a test: each is a world behind the processor's own gRPC
 * server.
 *
 * Does not own: the worlds (support/world).
 */
import type { Test } from 'tap'
import type { Callers } from '../../src/auth/callers.js'
import type { CallObserver } from '../../src/grpc/ended_calls.js'
import { systemRandom } from '../../src/base/random.js'
import type { ShardAdmin } from '../../src/processor/cluster/member.js'
import { createQueryRunner, type QueryRunner } from '../../src/processor/queries/query.js'
import { createServer } from '../../src/processor/server.js'
import { directoryService } from '../../src/processor/servers/directory_stream.js'
import type { WaitingProcessor } from '../../src/store/cluster/waiting.js'
import { SILENT_LOG as log } from './logs.js'
import { settingsOf, testSettings, type TestSettings } from './shared_settings.js'
import { EVERY_STATEMENT_IS_RIGHT } from './statements.js'
import type { World } from './world.js'

/** The settings of a cluster, and the shards whose processors apply them. */
export interface TestCluster {
  readonly settings: TestSettings
  readonly worlds: Map<string, World>
  /** They are served, and do not look at the settings. */
  readonly blind: Set<string>
  /** Where shards are to move, by name. */
  readonly moves: Map<string, string>
}

export const testCluster = (): TestCluster => ({
  settings: testSettings(() => Date.UTC(2026, 10, 21)),
  worlds: new Map(),
  blind: new Set(),
  moves: new Map(),
})

const WAITING: readonly WaitingProcessor[] = [
  {
    ...{ name: 'p8', address: '10.0.0.8:50051', prefers: null, gateways: 0 },
    cannotTake: { books_2: 'master keys are missing: k2' },
  },
  {
    ...{ name: 'p9', address: '10.0.0.9:50051', prefers: 'books_1', gateways: 0 },
    cannotTake: {},
  },
]

/** What the processor of a shard can ask its cluster. A look at the shards has them all look. */
const adminOf = (cluster: TestCluster, names: readonly string[]): ShardAdmin => ({
  shards: async () => {
    const { settings, worlds, blind, moves } = cluster
    for (const [shard, world] of worlds)
      if (!blind.has(shard)) await settingsOf(world, settings).catchUp()
    return names.map((shard) => {
      const settingsVersion = worlds.get(shard)?.memory().settingsVersion ?? 0
      return {
        ...{ shard, address: '', epoch: 3, holder: 'p1', partners: 1, moves: 0 },
        ...{ moveTo: moves.get(shard) ?? null, isConnected: worlds.has(shard), settingsVersion },
        settingsBehind: settings.stored.length - settingsVersion,
        settingsFault: null,
      }
    })
  },
  candidates: () => Promise.resolve(WAITING),
  waitingProcessor: (name) => Promise.resolve(WAITING.find((each) => each.name === name)),
  appendSetting: cluster.settings.appendSetting,
  newestSettings: cluster.settings.newestSettings,
  skipSetting: cluster.settings.skipSetting,
  partnerPlace: () => Promise.resolve(undefined),
  requestPartnerMove: () => Promise.resolve(false),
  requestPartnerCopy: () => Promise.resolve(false),
  keepPartner: () => Promise.resolve(false),
  checkPartnerMove: () =>
    Promise.resolve({
      obstacle: null,
      isLarge: false,
      size: { payments: 0, entries: 0, events: 0 },
    }),
  addShard: () => Promise.resolve(true),
  requestMove: (shard, _epoch, to) => {
    cluster.moves.set(shard, to)
    return Promise.resolve(true)
  },
  standbyLag: () => Promise.resolve(null),
})

export interface ServedShard {
  readonly address: string
  close(): Promise<void>
}

export interface ShardToServe {
  readonly world: World
  /** Default: `books`. */
  readonly shard?: string
  /** All of the cluster. Default: it is the only one. */
  readonly shards?: readonly string[]
  readonly callers: Callers
  /** Absent means that the processor cannot ask its cluster. */
  readonly cluster?: TestCluster | undefined
  /** Is told of each call. */
  readonly observe?: CallObserver
  /** Wraps what runs queries, to make it slow. */
  readonly reader?: (reader: QueryRunner) => QueryRunner
}

/** A processor that has a shard. It does not follow a rebuilt memory. */
export async function serveShard(
  t: Pick<Test, 'teardown'>,
  given: ShardToServe,
): Promise<ServedShard> {
  const { world, callers, cluster, reader = (own) => own } = given
  const { shard = 'books', shards = [shard] } = given
  cluster?.worlds.set(shard, world)
  const { clock, store, vault } = world
  const memory = world.memory()
  const server = createServer(
    {
      ...{ clock, random: systemRandom(), memory, pipeline: { submit: world.submit } },
      reader: reader(createQueryRunner({ lists: store.lists, vault, brand: 'Service' }, log)),
    },
    callers,
    directoryService(memory, vault, { shard, epoch: () => 3, shards: () => shards }),
    {
      ...{ behind: () => [], isBusChecked: () => true, released: () => undefined },
      statements: EVERY_STATEMENT_IS_RIGHT,
      shards: cluster && adminOf(cluster, shards),
      ...(given.observe === undefined ? {} : { observe: given.observe }),
    },
  )
  const port = await server.bind('127.0.0.1:0')
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= server.close())
  t.teardown(close)
  return { address: `127.0.0.1:${port}`, close }
}
