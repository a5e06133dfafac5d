/**
 * An operator who moves partners between the shards, and what disturbs an owner meanwhile: at a
 * crash point of the move or some steps later, the owner of one of both shards.
 *
 * Does not own: the move (the product's), how a machine is disturbed (simulation), what has to be
 * right afterwards (partner_checks).
 *
 * - It draws from a stream of its own.
 */
import { onCrashPoint } from '../../../src/base/crash_point.js'
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
  /** Undefined means that nothing is disturbed. */
  readonly disturb: ((machine: Machine, what: Disturbance) => void) | undefined
  readonly count: (what: string) => void
}

export const DISTURBANCES = ['kill', 'pause', 'store', 'gateways'] as const
export type Disturbance = (typeof DISTURBANCES)[number]

const POINTS = ['partner_move.held', 'partner_move.ending', 'partner_move.moved'] as const
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
  const { random, server, machines, ownerOf, disturb, count } = options
  let plan: Plan | undefined

  const disturbNow = ({ point, shard, what }: Plan): void => {
    plan = undefined
    const owner = ownerOf(shard)
    if (owner === undefined) return
    count(`${what} at ${point}`)
    disturb?.(owner, what)
  }
  onCrashPoint((name) => {
    if (POINTS.some((point) => point === name)) count(name)
    if (plan?.point !== name || plan.stepsLeft !== null) return
    plan.stepsLeft = random.once(2) ? 0 : random.int(LATER_STEPS_MAX)
    if (plan.stepsLeft === 0) disturbNow(plan)
  })
  return {
    move: () => {
      const placements = server.tables.all<{ partner: string; shard: string }>(
        'SELECT partner, shard FROM placements ORDER BY partner',
      )
      const running = machines.filter(({ current }) => current.isAlive())
      if (placements.length === 0 || running.length === 0) return
      const { partner, shard: from } = random.pick(placements)
      const to = SHARDS.find((shard) => shard !== from)!
      const by = { actor: 'operator', reason: 'one shard has too many' }
      random
        .pick(running)
        .current.cluster()
        .requestPartnerMove({ partner, from, to }, by)
        .then(
          (isMoving) => count(isMoving ? 'moves of partners' : 'moves of partners refused'),
          () => undefined,
        )
      if (disturb === undefined || random.once(3)) return
      const [shard, point] = [random.pick([from, to]), random.pick(POINTS)]
      plan = { shard, point, what: random.pick(['kill', ...DISTURBANCES]), stepsLeft: null }
    },
    passed: () => {
      if (plan === undefined || plan.stepsLeft === null) return
      plan.stepsLeft -= 1
      if (plan.stepsLeft <= 0) disturbNow(plan)
    },
    calm: () => (plan = undefined),
    close: () => onCrashPoint(() => undefined),
  }
}
