/** The faults of the trial cluster. After each one the cluster recovers by itself. */
import { credentials } from '@grpc/grpc-js'
import type { ProtoGrpcType } from '../../protos/types/shards.js'
import { bearer } from '../../src/base/bearer.js'
import { contracts } from '../../src/base/protos.js'
import type { ClusterMember } from '../../src/supervisor/cluster/cluster_file.js'
import type { TrialCluster } from '../../src/supervisor/cluster/trial_cluster.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import type { Partitions } from './partitions.js'

export interface FaultContext {
  readonly cluster: TrialCluster
  readonly partitions: Partitions
  readonly random: SeededRandom
  readonly operatorToken: string
}

/** What a fault counts as. */
export type FaultKind = 'kill' | 'pause' | 'partition' | 'move'

export interface Fault {
  readonly kind: FaultKind
  readonly name: string
  /** @returns false when it does not apply now */
  cause(context: FaultContext): Promise<boolean>
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const signal = (pid: number, name: NodeJS.Signals): boolean => {
  try {
    return pid > 0 && process.kill(pid, name)
  } catch {
    return false // it ended by itself
  }
}

const ofRole = ({ cluster }: FaultContext, role: ClusterMember['role']): ClusterMember[] =>
  cluster.members().filter((member) => member.role === role)

const owners = (context: FaultContext): ClusterMember[] =>
  ofRole(context, 'processor').filter(({ shard }) => shard !== '')

const kill = (
  name: string,
  victims: (context: FaultContext) => readonly ClusterMember[],
): Fault => ({
  kind: 'kill',
  name: `kill -9 of ${name}`,
  cause: (context) => {
    const running = victims(context).filter(({ pid }) => pid > 0)
    if (running.length === 0) return Promise.resolve(false)
    return Promise.resolve(signal(context.random.pick(running).pid, 'SIGKILL'))
  },
})

/** SIGSTOP, longer than a lease lasts. */
const pausedOwner: Fault = {
  kind: 'pause',
  name: 'pause of an owner',
  cause: async (context) => {
    const { pid } = context.random.pick(owners(context)) ?? { pid: 0 }
    if (!signal(pid, 'SIGSTOP')) return false
    await sleep(1_000 + context.random.int(8_000))
    signal(pid, 'SIGCONT')
    return true
  },
}

const partition = (
  name: string,
  to: string,
  mostMs: number,
  role: 'processor' | 'gateway',
): Fault => ({
  kind: 'partition',
  name,
  cause: async (context) => {
    const from = role === 'processor' ? owners(context) : ofRole(context, 'gateway')
    if (from.length === 0) return false
    context.partitions.cut(context.random.pick(from).name, to)
    await sleep(1_000 + context.random.int(mostMs - 1_000))
    context.partitions.heal()
    return true
  },
})

const move: Fault = {
  kind: 'move',
  name: 'move of a shard',
  cause: async (context) => {
    const { random, operatorToken } = context
    const { Shards } = contracts<ProtoGrpcType>().causeway.operator.v1
    const serving = owners(context)
    if (serving.length === 0) return false
    const from = random.pick(serving)
    const waiting = ofRole(context, 'processor').filter(({ shard, pid }) => shard === '' && pid > 0)
    // A member waits for its own shard only.
    const to = waiting.find(({ name }) => name === 'processor-3' || fits(name, from.shard))
    if (to === undefined) return false
    const client = new Shards(from.address, credentials.createInsecure())
    const actor = { reason: 'a test of moves' }
    const done = await new Promise<boolean>((resolve) => {
      const deadline = Date.now() + 5_000
      const request = { actor, shard: from.shard, to: to.name }
      client.Move(request, bearer(operatorToken), { deadline }, (fault) => resolve(fault === null))
    })
    client.close()
    return done
  },
}

const fits = (processor: string, shard: string): boolean => processor.slice(-1) === shard.slice(-1)

export const FAULTS: readonly Fault[] = [
  kill('an owner', owners),
  kill('an owner', owners),
  kill('a waiting processor', (context) =>
    ofRole(context, 'processor').filter(({ shard }) => shard === ''),
  ),
  kill('a gateway', (context) => ofRole(context, 'gateway')),
  kill('a webhook pool', (context) => ofRole(context, 'webhooks')),
  kill('the rail', (context) => ofRole(context, 'rail')),
  kill('a nats-server', (context) => ofRole(context, 'nats')),
  kill('the PostgreSQL primary', ({ cluster }) =>
    cluster.postgres.isSynchronous()
      ? cluster.members().filter(({ name }) => name === cluster.postgres.primary())
      : [],
  ),
  kill('the PostgreSQL standby', ({ cluster }) =>
    cluster.members().filter(({ name }) => name === cluster.postgres.standby()),
  ),
  pausedOwner,
  partition('an owner cut off from PostgreSQL', 'postgres', 9_000, 'processor'),
  partition('an owner cut off from the rail', 'rail', 5_000, 'processor'),
  partition('an owner cut off from NATS', 'nats', 5_000, 'processor'),
  partition('a gateway cut off from the processors', 'processor', 4_000, 'gateway'),
  move,
  move,
  move,
]
