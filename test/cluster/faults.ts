/** The faults of the trial cluster. After each one the cluster recovers by itself. */
import { systemPause } from '../../src/base/clock.js'
import type { ClusterMember } from '../../src/trial_cluster/cluster_file.js'
import type { TrialCluster } from '../../src/trial_cluster/trial_cluster.js'
import type { CLUSTER_POINTS, CrashPoints } from '../crash/crash_points.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'
import { eventually } from '../support/eventually.js'
import type { ClockSteps } from './clock_steps.js'
import type { History } from './histories.js'
import { operatorCall } from './operator_call.js'
import { LARGE, partnerMove } from './partner_move_faults.js'
import type { Partitions } from './partitions.js'

export interface FaultContext {
  readonly cluster: TrialCluster
  readonly partitions: Partitions
  readonly random: SeededRandom
  readonly points: CrashPoints
  readonly clocks: ClockSteps
  readonly operatorToken: string
  /** Creates a partner with some payments in the shard, and begins to call as it. */
  readonly startClient: (partner: string, shard: string, payments?: number) => Promise<History>
  /** Restores the cluster after `lose`. @returns false when it does not apply now */
  readonly restore: (lose: () => Promise<unknown>) => Promise<boolean>
  /** What must not happen. */
  readonly violations: string[]
}

/** What a fault counts as. */
export type FaultKind = 'kill' | 'pause' | 'partition' | 'clock' | 'move' | 'restore'

export interface Fault {
  readonly kind: FaultKind
  readonly name: string
  /** @returns false when it does not apply now */
  cause(context: FaultContext): Promise<boolean>
}

/** How long a take-over may take, on an idle machine. */
const TAKEN_WITHIN_MS = 20_000
/** An owner waits before it gives up. */
const GIVEN_UP_WITHIN_MS = 60_000
const MOVE_WITHIN_MS = 5_000

const signal = (pid: number, name: NodeJS.Signals): boolean => {
  try {
    return pid > 0 && process.kill(pid, name)
  } catch {
    return false // It ended by itself.
  }
}

const ofRole = ({ cluster }: FaultContext, role: ClusterMember['role']): ClusterMember[] =>
  cluster.members().filter((member) => member.role === role)

const owners = (context: FaultContext): ClusterMember[] =>
  ofRole(context, 'processor').filter(({ shard, pid }) => shard !== '' && pid > 0)

/** Resolves when it is seen that the process ended. */
const killed = async ({ cluster }: FaultContext, victim: ClusterMember): Promise<boolean> => {
  if (!signal(victim.pid, 'SIGKILL')) return false
  await eventually(`${victim.name} has ended`, () =>
    cluster.members().some(({ name, pid }) => name === victim.name && pid !== victim.pid),
  )
  return true
}

const kill = (
  name: string,
  victims: (context: FaultContext) => readonly ClusterMember[],
): Fault => ({
  kind: 'kill',
  name: `kill -9 of ${name}`,
  cause: async (context) => {
    const running = victims(context).filter(({ pid }) => pid > 0)
    return running.length > 0 && (await killed(context, context.random.pick(running)))
  },
})

/** SIGSTOP, longer than a lease lasts. */
const pausedOwner = (name: string, end: NodeJS.Signals): Fault => ({
  kind: 'pause',
  name,
  cause: async (context) => {
    const { pid } = context.random.pick(owners(context)) ?? { pid: 0 }
    if (!signal(pid, 'SIGSTOP')) return false
    await systemPause(1_000 + context.random.int(8_000))
    signal(pid, end)
    return true
  },
})

const partition = (
  name: string,
  mostMs: number,
  victims: (context: FaultContext) => readonly ClusterMember[],
  cut: (partitions: Partitions, victim: ClusterMember) => void,
): Fault => ({
  kind: 'partition',
  name,
  cause: async (context) => {
    const running = victims(context)
    if (running.length === 0) return false
    cut(context.partitions, context.random.pick(running))
    await systemPause(1_000 + context.random.int(mostMs - 1_000))
    context.partitions.heal()
    return true
  },
})

const cutOff =
  (to: string) =>
  (partitions: Partitions, { name }: ClusterMember): void =>
    partitions.cut(name, to)

const cutUntilReplaced = (
  name: string,
  withinMs: number,
  cut: (partitions: Partitions, owner: string) => void,
): Fault => ({
  kind: 'partition',
  name,
  cause: async (context) => {
    const [owner] = targetOf(context) === undefined ? [] : owners(context)
    if (owner === undefined) return false
    cut(context.partitions, owner.name)
    const others = ({ name: other }: ClusterMember): boolean => other !== owner.name
    const isReplaced = await served(context, owner.shard, others, withinMs)
    if (!isReplaced) context.violations.push(`${owner.shard} was not taken over: ${name}`)
    await systemPause(1_000)
    context.partitions.heal()
    return true
  },
})

/** @returns false when that does not happen in time, e.g. another processor was faster */
const served = (
  context: FaultContext,
  shard: string,
  by: (owner: ClusterMember) => boolean,
  withinMs = TAKEN_WITHIN_MS,
): Promise<boolean> =>
  eventually(
    `${shard} is taken over`,
    () => owners(context).some((each) => each.shard === shard && by(each)),
    withinMs,
  ).catch(() => false)

/** A processor that waits for a shard. */
const targetOf = (context: FaultContext): ClusterMember | undefined =>
  ofRole(context, 'processor').find(({ shard, pid }) => shard === '' && pid > 0)

/** An operator's call to the owner. @returns whether it was accepted */
const requestMove = async (
  context: FaultContext,
  owner: ClusterMember,
  to: string,
): Promise<boolean> => {
  const request = { shard: owner.shard, to }
  const { code } = await operatorCall(context, owner, 'Shards/Move', request, MOVE_WITHIN_MS)
  return code === undefined
}

const movable = (
  context: FaultContext,
): { owner: ClusterMember; to: ClusterMember } | undefined => {
  const pairs = owners(context).flatMap((owner) => {
    const to = targetOf(context)
    return to === undefined ? [] : [{ owner, to }]
  })
  return pairs.length === 0 ? undefined : context.random.pick(pairs)
}

/** Counts once the new owner serves. */
const move: Fault = {
  kind: 'move',
  name: 'move of a shard',
  cause: async (context) => {
    const pair = movable(context)
    if (pair === undefined || !(await requestMove(context, pair.owner, pair.to.name))) return false
    return served(context, pair.owner.shard, ({ name }) => name === pair.to.name)
  },
}

const moveOfTwoOperators: Fault = {
  kind: 'move',
  name: 'move of a shard by two operators at once',
  cause: async (context) => {
    const pair = movable(context)
    if (pair === undefined) return false
    const { owner, to } = pair
    const accepted = await Promise.all([1, 2].map(() => requestMove(context, owner, to.name)))
    if (!accepted.includes(true)) return false
    if (!accepted.includes(false)) context.violations.push(`${owner.shard} moves twice at once`)
    return served(context, owner.shard, ({ name }) => name === to.name)
  },
}

const killDuringMove = (name: string, victim: 'owner' | 'to'): Fault => ({
  kind: 'kill',
  name: `kill -9 of ${name} during a move`,
  cause: async (context) => {
    const pair = movable(context)
    if (pair === undefined || !(await requestMove(context, pair.owner, pair.to.name))) return false
    await systemPause(context.random.int(MOVE_LASTS_MS))
    return killed(context, pair[victim])
  },
})
const MOVE_LASTS_MS = 1_500

/** A processor ends at a crash point while `act` runs. */
const crash = (
  point: string,
  act: (context: FaultContext) => Promise<boolean>,
  repeat: (context: FaultContext) => Promise<unknown> = () => Promise.resolve(),
): Fault => ({
  kind: 'kill',
  name: `crash at ${point}`,
  cause: async (context) => {
    const { points, violations } = context
    points.arm(point)
    const isCaused = await act(context)
    const isReached = (): boolean => points.isReached(point)
    if (isCaused) await eventually(point, isReached, TAKEN_WITHIN_MS).catch(() => false)
    if (!isReached()) {
      points.disarm(point)
      if (isCaused) violations.push(`no processor came to ${point}`)
      return false
    }
    await repeat(context)
    return true
  },
})

const beginMove = async (context: FaultContext): Promise<boolean> => {
  const pair = movable(context)
  return pair !== undefined && requestMove(context, pair.owner, pair.to.name)
}

const beginTakeOver = (context: FaultContext): Promise<boolean> => {
  const waits = targetOf(context) !== undefined
  return waits ? killed(context, context.random.pick(owners(context))) : Promise.resolve(false)
}

let partners = 0

/** @returns the refusal. Null means that it is created */
const createPartner = async (
  context: FaultContext,
  owner: ClusterMember,
  partner_id: string,
): Promise<string | null> => {
  const of = [context, owner, 'Operator/CreatePartner', { partner_id }] as const
  const { details } = await operatorCall(...of, MOVE_WITHIN_MS)
  return details ?? null
}

const beginPlacement = async (context: FaultContext): Promise<boolean> => {
  const [owner] = owners(context)
  if (owner === undefined) return false
  partners += 1
  await createPartner(context, owner, `placed${partners}`)
  return true
}

/** The placement without a partner must not be in the way of the repeated call. */
const repeatPlacement = async (context: FaultContext): Promise<void> => {
  const name = `placed${partners}`
  await eventually(
    `${name} is created`,
    async () => {
      for (const owner of owners(context)) {
        if ((await createPartner(context, owner, name)) === null) return true
      }
      return false
    },
    TAKEN_WITHIN_MS,
  ).catch(() => context.violations.push(`${name} cannot be created after a crash`))
}

const OWNER_STEPS_MS = 30_000
/** Far above what a take-over allows. */
const WAITING_STEPS_MS = 120_000
const COMPARED_WITHIN_MS = 2_500

const either = ({ random }: FaultContext, ms: number): number => (random.int(2) === 0 ? ms : -ms)

const ownerClock: Fault = {
  kind: 'clock',
  name: 'a step of the clock of an owner, and back',
  cause: async (context) => {
    const { name } = context.random.pick(owners(context)) ?? { name: '' }
    if (name === '') return false
    context.clocks.step(name, either(context, 1_000 + context.random.int(OWNER_STEPS_MS)))
    await systemPause(2_000 + context.random.int(8_000))
    context.clocks.restore(name)
    return true
  },
}

const waitingClock: Fault = {
  kind: 'clock',
  name: 'kill -9 of an owner beside a spare with a wrong clock',
  cause: async (context) => {
    const waiting = targetOf(context)
    const [owner] = owners(context)
    if (waiting === undefined || owner === undefined) return false
    context.clocks.step(waiting.name, either(context, WAITING_STEPS_MS))
    await systemPause(COMPARED_WITHIN_MS)
    const isKilled = targetOf(context)?.name === waiting.name && (await killed(context, owner))
    if (isKilled) {
      const isTaken = await served(context, owner.shard, () => true, GIVEN_UP_WITHIN_MS)
      const isWrong = owners(context).some(({ name }) => name === waiting.name)
      if (isWrong) context.violations.push(`${waiting.name} took over with a wrong clock`)
      if (!isTaken) context.violations.push(`${owner.shard} was not taken over: a wrong clock`)
    }
    context.clocks.restore(waiting.name)
    return isKilled
  },
}

const restore: Fault = {
  kind: 'restore',
  name: 'restore of the cluster, with the clients held back',
  cause: (context) =>
    context.restore(async () => {
      const [owner] = owners(context)
      if (owner === undefined || !(await killed(context, owner))) return
      await served(context, owner.shard, () => true, GIVEN_UP_WITHIN_MS)
    }),
}

const killDuringPartnerMove = async (context: FaultContext): Promise<void> => {
  await systemPause(context.random.int(PARTNER_MOVE_LASTS_MS))
  const running = ofRole(context, 'processor').filter(({ pid }) => pid > 0)
  if (running.length > 0) await killed(context, context.random.pick(running))
}
const PARTNER_MOVE_LASTS_MS = 2_000

const movePartner = (context: FaultContext): Promise<boolean> =>
  partnerMove('kill', 'move of a partner', owners).cause(context)

const moveLarge = (context: FaultContext): Promise<boolean> =>
  partnerMove('kill', 'move of a large partner', owners, { payments: LARGE }).cause(context)
const keepLarge = (context: FaultContext): Promise<boolean> =>
  partnerMove('kill', 'move of a large partner', owners, { payments: LARGE, isKept: true }).cause(
    context,
  )

const CRASHES: Readonly<Record<(typeof CLUSTER_POINTS)[number], Fault>> = {
  'placement.placed': crash('placement.placed', beginPlacement, repeatPlacement),
  'move.withdrawn': crash('move.withdrawn', beginMove),
  'move.drained': crash('move.drained', beginMove),
  'move.released': crash('move.released', beginMove),
  'partner_move.held': crash('partner_move.held', movePartner),
  'partner_move.ending': crash('partner_move.ending', movePartner),
  'partner_move.moved': crash('partner_move.moved', movePartner),
  'partner_copy.step': crash('partner_copy.step', moveLarge),
  'partner_copy.ready': crash('partner_copy.ready', moveLarge),
  'partner_copy.put_back': crash('partner_copy.put_back', moveLarge),
  'partner_copy.settled': crash('partner_copy.settled', moveLarge),
  'partner_copy.undone': crash('partner_copy.undone', keepLarge),
  'take_over.taken': crash('take_over.taken', beginTakeOver),
  'take_over.loaded': crash('take_over.loaded', beginTakeOver),
  'take_over.announced': crash('take_over.announced', beginTakeOver),
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  'kill-owner': kill('an owner', owners),
  'kill-waiting': kill('a waiting processor', (context) =>
    ofRole(context, 'processor').filter(({ shard }) => shard === ''),
  ),
  'kill-gateway': kill('a gateway', (context) => ofRole(context, 'gateway')),
  'kill-pool': kill('a webhook pool', (context) => ofRole(context, 'webhooks')),
  'kill-rail': kill('the rail', (context) => ofRole(context, 'rail')),
  'kill-nats': kill('a nats-server', (context) => ofRole(context, 'nats')),
  'kill-primary': kill('the PostgreSQL primary', ({ cluster }) =>
    cluster.postgres.isSynchronous()
      ? cluster.members().filter(({ name }) => name === cluster.postgres.primary())
      : [],
  ),
  'kill-standby': kill('the PostgreSQL standby', ({ cluster }) =>
    cluster.members().filter(({ name }) => name === cluster.postgres.standby()),
  ),
  'pause-owner': pausedOwner('pause of an owner', 'SIGCONT'),
  'kill-paused-owner': pausedOwner('kill -9 of a paused owner', 'SIGKILL'),
  // A machine without power.
  'silent-owner': cutUntilReplaced(
    'silence of an owner until another serves',
    TAKEN_WITHIN_MS,
    (partitions, owner) => partitions.isolate(owner),
  ),
  'cut-owner-gateways': cutUntilReplaced(
    'an owner cut off from all gateways until another serves',
    GIVEN_UP_WITHIN_MS,
    (partitions, owner) => partitions.cut('gateway', owner),
  ),
  'cut-owner': partition(
    'an owner cut off from everything',
    9_000,
    owners,
    (partitions, { name }) => partitions.isolate(name),
  ),
  'cut-postgres': partition('an owner cut off from PostgreSQL', 9_000, owners, cutOff('postgres')),
  'cut-rail': partition('an owner cut off from the rail', 5_000, owners, cutOff('rail')),
  'cut-nats': partition('an owner cut off from NATS', 5_000, owners, cutOff('nats')),
  'cut-gateway': partition(
    'a gateway cut off from the processors',
    4_000,
    (context) => ofRole(context, 'gateway'),
    cutOff('processor'),
  ),
  move,
  'move-twice': moveOfTwoOperators,
  'kill-owner-moving': killDuringMove('an owner', 'owner'),
  'kill-target-moving': killDuringMove('the next owner', 'to'),
  'move-partner': partnerMove('move', 'move of a partner that pays', owners),
  'kill-moving-partner': partnerMove(
    'kill',
    'kill -9 of a processor during the move of a partner',
    owners,
    { disturb: killDuringPartnerMove },
  ),
  'move-large-partner': partnerMove('move', 'move of a large partner that pays', owners, {
    payments: LARGE,
  }),
  'keep-large-partner': partnerMove('move', 'move of a large partner, given up', owners, {
    payments: LARGE,
    isKept: true,
  }),
  'kill-moving-large-partner': partnerMove(
    'kill',
    'kill -9 of a processor during the move of a large partner',
    owners,
    { payments: LARGE, disturb: killDuringPartnerMove },
  ),
  'clock-owner': ownerClock,
  'clock-waiting': waitingClock,
  restore,
  ...CRASHES,
}

/** More often than once in a round. */
const FREQUENT = ['kill-owner', 'move', 'move', 'move-partner']

export const chosen = (names: readonly string[]): readonly Fault[] =>
  names.map((name) => {
    const fault = FAULTS[name]
    if (fault !== undefined) return fault
    throw new Error(`${name} is no fault: ${Object.keys(FAULTS).join(', ')}`)
  })

export const everyFault = (): readonly Fault[] => chosen([...Object.keys(FAULTS), ...FREQUENT])
