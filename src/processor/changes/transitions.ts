/** Records a change of state of a payment, for log and metrics after its commit. */
import type { IntentState } from '../../../actors/intent/context.js'
import type { PayoutState } from '../../../actors/payout/context.js'
import type { CommandContext } from '../cycle/command.js'
import type { LiveIntent, LivePayout } from '../cache/memory.js'

/** @param from null if it is new */
export function recordTransition(
  { batch, origin }: CommandContext,
  { context, state }: LiveIntent | LivePayout,
  from: IntentState | PayoutState | null,
): void {
  const failure = state === 'failed' ? (context.failure?.code ?? null) : null
  const { id: entity, tenant } = context
  batch.transitions.push({ entity, from, to: state, tenant, origin, failure, payment: context })
}
