/**
 * The trial cluster for a test: its start, its partners and their connections to every gateway.
 *
 * - A restart after `stop` keeps the data and can have other settings.
 */
import { systemRandom } from '../../src/base/random.js'
import { FILES } from '../../src/base/subjects.js'
import { connect } from '../../src/client/index.js'
import { credentialsOf, readSandbox, type Sandbox } from '../../src/operations/calls/sandbox.js'
import type { ClusterMember } from '../../src/trial_cluster/cluster_file.js'
import {
  createTrialCluster,
  type TrialCluster,
  type TrialClusterOptions,
} from '../../src/trial_cluster/trial_cluster.js'
import { openDataFolder } from '../../src/supervisor/data_folder.js'
import { requiringDocumented } from './documented_answers.js'
import { eventually } from './eventually.js'
import { operatorCli, type OperatorCli } from './operator_cli.js'
import { createPartnerAt, type Key } from './operators.js'
import type { Partner } from './partner.js'
import { environmentOf, fastClock } from './supervised_stack.js'

export const SHARDS = ['books_1', 'books_2'] as const

export interface ClusterUnderTest {
  /** The one that was started last. */
  readonly trial: TrialCluster
  readonly sandbox: Sandbox
  /** Members of a role that run or are to run again. */
  ofRole(role: ClusterMember['role']): readonly ClusterMember[]
  /** The processor that serves the shard, once there is one. */
  ownerOf(shard: string): Promise<ClusterMember>
  createPartner(name: string, shard: string): Promise<Key>
  /** One to each gateway. Default: those of the demo partner. */
  connectionsOf(key?: Partial<Key>): readonly Partner[]
  operatorCli(): OperatorCli
  start(settings?: Readonly<Record<string, string>>): Promise<void>
  stop(): Promise<void>
  /** Stops it and releases its folder. */
  close(): Promise<void>
}

export interface ClusterOptions
  extends
    Pick<TrialClusterOptions, 'onRefused'>,
    Partial<Pick<TrialClusterOptions, 'clock' | 'route' | 'within'>> {
  readonly dataDir: string
  readonly settings?: Readonly<Record<string, string>>
  readonly onLine?: (line: string) => void
  /** The time limit of a partner's call. */
  readonly timeoutMs?: number
}

const SERVED_WITHIN_MS = 120_000

/** @returns a cluster that is not started yet */
export async function aTrialCluster({
  dataDir,
  settings,
  onLine = () => undefined,
  timeoutMs = 8_000,
  ...options
}: ClusterOptions): Promise<ClusterUnderTest> {
  const data = await openDataFolder(dataDir)
  const create = (more: Readonly<Record<string, string>>): Promise<TrialCluster> =>
    createTrialCluster({
      environment: environmentOf({
        ...{ HTTP_PORT: '0', OPS_PORT: '0', CONSOLE: 'off', DATA_DIR: dataDir },
        ...{ RAIL_DELAY_MS: '100', RATE_LIMIT: 'off', ...settings, ...more },
      }),
      ...{ data, clock: fastClock(), random: systemRandom() },
      terminal: { info: onLine, ready: onLine, error: onLine },
      ...options,
    })
  let trial = await create({})
  let isStopped = false
  const sandbox = (): Sandbox => readSandbox(data.file(FILES.sandbox))
  const ofRole: ClusterUnderTest['ofRole'] = (wanted) =>
    trial.members().filter(({ role }) => role === wanted)
  const stop = async (): Promise<void> => {
    if (!isStopped) await trial.stop()
    isStopped = true
  }
  const ownerOf: ClusterUnderTest['ownerOf'] = (wanted) =>
    eventually(
      `${wanted} has an owner`,
      () => ofRole('processor').find(({ shard, pid }) => shard === wanted && pid > 0),
      SERVED_WITHIN_MS,
    )
  return {
    get trial() {
      return trial
    },
    get sandbox() {
      return sandbox()
    },
    ofRole,
    ownerOf,
    createPartner: async (name, shard) =>
      createPartnerAt({ sandbox: sandbox(), dataDir }, (await ownerOf(shard)).address, name),
    connectionsOf: (key = {}) =>
      ofRole('gateway').map(({ address: baseUrl }) =>
        requiringDocumented(
          connect({ ...credentialsOf(sandbox(), 'Service'), ...key, baseUrl }, { timeoutMs }),
        ),
      ),
    operatorCli: () => operatorCli(dataDir, '', { PROCESSORS: trial.processors.join() }),
    start: async (more = {}) => {
      if (isStopped) trial = await create(more)
      isStopped = false
      await trial.start()
    },
    stop,
    close: async () => {
      await stop()
      await data.release()
    },
  }
}

/** Each request goes to the next connection. */
export function alternating(connections: readonly Partner[]): Partner {
  let count = 0
  const next = (): Partner => connections[count++ % connections.length]!
  return {
    ...connections[0]!,
    request: (...given) => next().request(...given),
    session: (...given) => next().session(...given),
  }
}
