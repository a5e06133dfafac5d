/**
 * An operator who moves partners between the shards, at once or with their rows set apart first, or
 * calls such a move off. And what disturbs an owner meanwhile: at a crash point of the move or some
 * steps later, the owner of one of both shards.
 *
 * Does not own: the move (the product's), how a machine is disturbed (simulation), what has to be
 * right afterwards (partner_checks).
 *
 * - It draws from a stream of its own.
 */
import { onCrashPoint } from '../../../src/base/crash_point.js'
import type { PartnerMove } from '../../../src/store/cluster/partner_moves.js'
import type { SeededRandom } from '../../fuzz/seeded_random.js'
import type { ClusterProcess } from './processor.js'
import type { ClusterServer } from './server.js'
import { SHARDS } from './tables.js'

export interface PartnerOperator {
  /** Requests the move of a partner, if a process runs. */
  move(): void
  /** A step has passed. */
  passed(): void
  /** Nothing is disturbed any more until the next move. */
  calm(): void
  close(): void
}

export interface PartnerOperatorOptions<Machine> {
  readonly random: SeededRandom
  readonly server: ClusterServer
  readonly machines: readonly (Machine & { readonly current: ClusterProcess })[]
  readonly ownerOf: (shard: string) => Machine | undefined
  /** Rows of partners are set apart. */
  readonly copies: boolean
  /** Undefined means that nothing is disturbed. */
  readonly disturb: ((machine: Machine, what: Disturbance) => void) | undefined
  readonly count: (what: string) => void
}

type Asked = ReturnType<ClusterProcess['cluster']>
const BY = { actor: 'operator', reason: 'one shard has too many' }
export const DISTURBANCES = ['kill', 'pause', 'store', 'gateways'] as const
export type Disturbance = (typeof DISTURBANCES)[number]

const POINTS = ['partner_move.held', 'partner_move.ending', 'partner_move.moved'] as const
/**
 * The points of a copy, with its phases: the owner of the shard that the partner leaves is
 * disturbed at one of so many. Some are reached once for each step.
 */
const POINTS_OF_COPY: Readonly<Record<string, PointOfCopy>> = {
  'partner_copy.step': { onceIn: 30, phases: ['copying'] },
  'partner_copy.ready': { onceIn: 4, phases: ['ready'] },
  'partner_copy.put_back': { onceIn: 12, phases: ['settling', 'undoing'] },
  'partner_copy.settled': { onceIn: 3, phases: ['settling'] },
  'partner_copy.undone': { onceIn: 3, phases: ['undoing'] },
}

interface PointOfCopy {
  readonly onceIn: number
  readonly phases: readonly string[]
}

interface Copy extends PartnerMove {
  readonly phase: string
}

/** Often while rows are set apart. */
const KEPT_ONCE_IN = 25
/** A statement, its answer, and what follows. */
const LATER_STEPS_MAX = 6

interface Plan {
  readonly point: string
  readonly shard: string
  readonly what: Disturbance
  /** Null means that the point is not reached yet. */
  stepsLeft: number | null
}

export function createPartnerOperator<Machine>(
  options: PartnerOperatorOptions<Machine>,
): PartnerOperator {
  const { random, server, machines, ownerOf, copies, disturb, count } = options
  let plan: Plan | undefined
  let isDisturbed = false

  const copiesUnderWay = (): readonly Copy[] =>
    server.tables.all<Copy>(
      `SELECT partner, from_shard AS "from", to_shard AS "to", phase FROM partner_copies
       ORDER BY partner`,
    )
  const disturbNow = ({ point, shard, what }: Plan): void => {
    plan = undefined
    const owner = ownerOf(shard)
    if (owner === undefined) return
    count(`${what} at ${point}`)
    disturb?.(owner, what)
  }
  onCrashPoint((name) => {
    const ofCopy = POINTS_OF_COPY[name]
    if (POINTS.some((point) => point === name) || ofCopy !== undefined) count(name)
    if (ofCopy !== undefined && isDisturbed && random.once(ofCopy.onceIn)) {
      const copy = copiesUnderWay().find(({ phase }) => ofCopy.phases.includes(phase))
      const what = random.pick<Disturbance>(['kill', ...DISTURBANCES])
      if (copy !== undefined) plan = { shard: copy.from, point: name, what, stepsLeft: null }
    }
    if (plan?.point !== name || plan.stepsLeft !== null) return
    plan.stepsLeft = random.once(2) ? 0 : random.int(LATER_STEPS_MAX)
    if (plan.stepsLeft === 0) disturbNow(plan)
  })
  const counted = (what: string, request: Promise<boolean>): void =>
    void request.then(
      (isDone) => count(isDone ? what : `${what} refused`),
      () => undefined,
    )
  /** @returns the move whose rows are set apart, or go to their place */
  const moveSetApart = (move: PartnerMove, cluster: Asked): PartnerMove | undefined => {
    const [copy] = copiesUnderWay()
    if (copy !== undefined) {
      if (random.once(KEPT_ONCE_IN)) counted('keeps', cluster.keepPartner(copy.partner))
      return copy
    }
    if (random.once(3)) return undefined
    counted('copies', cluster.requestPartnerCopy(move, BY))
    return move
  }
  const disturbLater = ({ from, to }: PartnerMove): void => {
    if (disturb === undefined || random.once(3)) return
    const [shard, point] = [random.pick([from, to]), random.pick(POINTS)]
    plan = { shard, point, what: random.pick(['kill', ...DISTURBANCES]), stepsLeft: null }
  }
  return {
    move: () => {
      const placements = server.tables.all<{ partner: string; shard: string }>(
        'SELECT partner, shard FROM placements ORDER BY partner',
      )
      const running = machines.filter(({ current }) => current.isAlive())
      if (placements.length === 0 || running.length === 0) return
      const { partner, shard: from } = random.pick(placements)
      const move = { partner, from, to: SHARDS.find((shard) => shard !== from)! }
      const cluster = random.pick(running).current.cluster()
      const setApart = copies ? moveSetApart(move, cluster) : undefined
      // What is set apart does not keep others from moving.
      if (setApart?.partner !== partner)
        counted('moves of partners', cluster.requestPartnerMove(move, BY))
      isDisturbed = disturb !== undefined
      if (setApart === undefined) disturbLater(move)
    },
    passed: () => {
      if (plan === undefined || plan.stepsLeft === null) return
      plan.stepsLeft -= 1
      if (plan.stepsLeft <= 0) disturbNow(plan)
    },
    calm: () => {
      plan = undefined
      isDisturbed = false
    },
    close: () => onCrashPoint(() => undefined),
  }
}
