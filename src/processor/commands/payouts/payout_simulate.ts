/**
 * Forces the outcome of a sandbox payout.
 *
 * - Only the sandbox rail receives the request; the payout moves by the rail's reports, as always.
 *   The answer shows the payout before that.
 * - An outcome that the payout can no longer reach is refused.
 */
import { invalid, SANDBOX_ONLY } from '../../../base/errors.js'
import { type TenantId, environmentOf } from '../../../base/ids.js'
import { SIMULATED_OUTCOMES, type SimulatedOutcome } from '../../../rails/rail.js'
import { payoutView } from '../../../../actors/payout/view.js'
import { railOf, railUp } from '../../changes/payment_rail.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { LivePayout } from '../../cache/memory.js'

export function simulatePayout(tenant: TenantId, payoutId: string, outcomeText: string): Command {
  return {
    name: 'simulate_payout',
    needs: (needs) => needs.payout(payoutId),
    decide: (ctx) => {
      const { memory, batch, rules } = ctx
      const outcome = SIMULATED_OUTCOMES.find((known) => known === outcomeText)
      if (environmentOf(tenant) !== 'sandbox') return SANDBOX_ONLY
      if (outcome === undefined) return invalid('/outcome', 'must be a known outcome')
      const live = memory.payouts.get(payoutId)
      if (!live || live.context.tenant !== tenant) return refuse('payout_not_found')
      if (!isReachable(outcome, live)) return refuse('outcome_not_possible')
      if (!railUp(ctx, live.context)) return refuse('rail_unavailable')

      // From here on it must succeed.
      const simulate = { kind: 'simulate', id: live.context.id, outcome } as const
      batch.addInstruction(railOf(live.context), simulate)
      return answer(payoutView(live.state, live.context, rules.brand))
    },
  }
}

function isReachable(outcome: SimulatedOutcome, { state, context }: LivePayout): boolean {
  if (context.submittedAt === undefined) return false
  return state === 'processing' || (state === 'completed' && outcome === 'reversed')
}
