/**
 * An operator ends an unknown outcome of a payout, on evidence other than a rail report.
 *
 * - Only a submitted payout has an unknown outcome; a payout that is not submitted is not paid.
 * - It moves and posts as a rail report would. The evidence is logged with the operator and the
 *   reason. The rail is queried at once and by the timer until it answers; a contradicting answer,
 *   now or later, is a discrepancy.
 */
import type { PayoutEvent } from '../../../../actors/payout/context.js'
import { payoutView } from '../../../../actors/payout/view.js'
import { advancePayout } from '../../changes/advance_payout.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { canPostPayout, movedByPayout } from '../../changes/books.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { INVALID_EVIDENCE, isEvidence, logAction, type Actor } from '../../changes/operator_log.js'
import { sendQuery } from '../../changes/rail_instructions.js'

/** Ends an unknown outcome. */
export function resolvePayout(
  actor: Actor,
  payoutId: string,
  { outcome, evidence }: { readonly outcome: string; readonly evidence: string },
): Command {
  return {
    name: 'resolve_payout',
    needs: (needs) => needs.payout(payoutId),
    decide: (ctx) => {
      const event = eventOf(outcome, ctx)
      if (event === null) return refuse('invalid_request')
      if (!isEvidence(evidence)) return INVALID_EVIDENCE
      const live = ctx.memory.payouts.get(payoutId)
      if (!live) return refuse('payout_not_found')
      const isOut = live.state === 'processing' && live.context.submittedAt !== undefined
      if (!isOut) return refuse('payout_not_at_rail')
      const moved = movedByPayout(live.context)
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'resolve_payout',
        arguments: { payout_id: payoutId, outcome, evidence },
        subject: `${payoutId} ${outcome}`,
        moved,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      advancePayout(ctx, live, event)
      sendQuery(ctx, live.context)
      logAction(ctx, actor, `resolve_payout_${outcome}`, payoutId, evidence, moved)
      return answer(payoutView(live.state, live.context, ctx.rules.brand))
    },
  }
}

/** Reverses a completed payout whose money came back without a rail report. */
export function reversePayout(actor: Actor, payoutId: string, evidence: string): Command {
  return {
    name: 'reverse_payout',
    needs: (needs) => needs.payout(payoutId),
    decide: (ctx) => {
      if (!isEvidence(evidence)) return INVALID_EVIDENCE
      const live = ctx.memory.payouts.get(payoutId)
      if (!live) return refuse('payout_not_found')
      if (live.state !== 'completed') return refuse('payout_not_completed')
      if (!canPostPayout(ctx, live.context, 'payout_reversed')) {
        return refuse('balance_limit_exceeded')
      }
      const moved = movedByPayout(live.context)
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'reverse_payout',
        arguments: { payout_id: payoutId, evidence },
        subject: payoutId,
        moved,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      advancePayout(ctx, live, { type: 'returned', at: ctx.now, source: 'service' })
      logAction(ctx, actor, 'reverse_payout', payoutId, evidence, moved)
      return answer(payoutView(live.state, live.context, ctx.rules.brand))
    },
  }
}

function eventOf(outcome: string, { now }: CommandContext): PayoutEvent | null {
  if (outcome === 'completed') return { type: 'executed', at: now }
  if (outcome !== 'failed') return null
  return { type: 'refused', at: now, refusal: 'not_carried_out', source: 'service' }
}
