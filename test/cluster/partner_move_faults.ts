/** A partner that pays moves to the other shard, with and without a kill meanwhile. */
import type { PartnerPlacement__Output as Placement } from '../../protos/types/causeway/operator/v1/PartnerPlacement.js'
import { systemPause } from '../../src/base/clock.js'
import type { ClusterMember } from '../../src/trial_cluster/cluster_file.js'
import { eventually } from '../support/eventually.js'
import type { Fault, FaultContext } from './faults.js'
import { operatorCall } from './operator_call.js'

const PAYS_BEFORE_MS = 1_500
const CALL_WITHIN_MS = 10_000
const ENDED_WITHIN_MS = 90_000

let partners = 0

/** Payments of a partner whose rows are set apart for the move. */
export const LARGE = 520

interface MoveOptions {
  /** That the partner has before. */
  readonly payments?: number
  /** The move is given up while payments are set apart. */
  readonly isKept?: boolean
  /** Runs when the move has been requested. */
  readonly disturb?: (context: FaultContext) => Promise<unknown>
}

/** @param ownersOf the processors that serve shards */
export const partnerMove = (
  kind: Fault['kind'],
  name: string,
  ownersOf: (context: FaultContext) => readonly ClusterMember[],
  { payments = 0, isKept = false, disturb = () => Promise.resolve() }: MoveOptions = {},
): Fault => ({
  kind,
  name,
  cause: async (context) => {
    const [one, other] = ownersOf(context)
    if (one === undefined || other === undefined) return false
    const [from, to] = context.random.int(2) === 0 ? [one, other] : [other, one]
    partners += 1
    const partner = `moved${partners}`
    const client = await context.startClient(partner, from.shard, payments).catch(() => undefined)
    if (client === undefined) return false
    await systemPause(PAYS_BEFORE_MS)
    const isRequested = await call(context, from, 'MovePartner', partner, to.shard)
    if (isRequested !== undefined) {
      if (isKept) await call(context, from, 'MovePartner', partner, from.shard)
      await disturb(context)
      await untilEnded(context, ownersOf, partner)
    }
    const endedAt = performance.now()
    await eventually(
      `${partner} is served`,
      () => client.lastSuccess() > endedAt,
      ENDED_WITHIN_MS,
    ).catch(() => context.violations.push(`${partner} is not served after its move`))
    await client.stop()
    return isRequested !== undefined
  },
})

/** Whether it has moved or not: the audit finds it in one shard. */
const untilEnded = (
  context: FaultContext,
  ownersOf: (context: FaultContext) => readonly ClusterMember[],
  partner: string,
): Promise<unknown> =>
  eventually(
    `the move of ${partner} has ended`,
    async () => {
      const [owner] = ownersOf(context)
      const placed = owner && (await call(context, owner, 'ShowPartner', partner))
      return placed !== undefined && (placed.moving_to ?? '') === ''
    },
    ENDED_WITHIN_MS,
  ).catch(() => context.violations.push(`the move of ${partner} does not end`))

/** An operator's call. @returns undefined when it fails */
async function call(
  context: FaultContext,
  owner: ClusterMember,
  method: 'MovePartner' | 'ShowPartner',
  partner: string,
  to = '',
): Promise<Placement | undefined> {
  const of = [context, owner, `Shards/${method}`, { partner, to }] as const
  const placed = await operatorCall<Placement>(...of, CALL_WITHIN_MS)
  const isMade = placed.code === undefined && (placed.cause === undefined || to === '')
  return isMade ? placed : undefined
}
