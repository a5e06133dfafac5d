/**
 * An operator ends an unknown outcome of an intent's payment or recall, on evidence other than a
 * rail report.
 *
 * - Only a submitted intent has an unknown outcome; an intent that is not submitted is cancelled or
 *   fails by itself.
 * - It moves, posts and releases limits as a rail report would. The evidence is logged with the
 *   operator and the reason. The rail is queried at once and by the timer until it answers; a
 *   contradicting answer, now or later, is a discrepancy.
 */
import type { IntentEvent } from '../../../../actors/intent/context.js'
import { intentView } from '../../../../actors/intent/view.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { canPostIntent, movedByIntent } from '../../changes/books.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { INVALID_EVIDENCE, isEvidence, logAction, type Actor } from '../../changes/operator_log.js'
import { sendQuery } from '../../changes/rail_instructions.js'
import type { LiveIntent } from '../../cache/memory.js'
import { needIntentAndUsage } from './intent_needs.js'

/** Ends an unknown outcome: of a payment (`captured`, `failed`), of a recall (`refund_failed`). */
export function resolveIntent(
  actor: Actor,
  intentId: string,
  { outcome, evidence }: { readonly outcome: string; readonly evidence: string },
): Command {
  return {
    name: 'resolve_intent',
    needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
    decide: (ctx) => {
      const event = eventOf(outcome, ctx)
      if (event === null) return refuse('invalid_request')
      if (!isEvidence(evidence)) return INVALID_EVIDENCE
      const live = ctx.memory.intents.get(intentId)
      if (!live) return refuse('payment_intent_not_found')
      if (!isUnanswered(live, event)) return refuse('payment_intent_not_at_rail')
      // The end of a recall moves nothing.
      const moved = event.type === 'recallRefused' ? null : movedByIntent(live.context)
      if (moved !== null) {
        const refusal = refusalOfOneOperator(ctx, actor, {
          operation: 'resolve_intent',
          arguments: { intent_id: intentId, outcome, evidence },
          subject: `${intentId} ${outcome}`,
          moved,
        })
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      advanceIntent(ctx, live, event)
      if (event.type !== 'recallRefused') {
        sendQuery(ctx, live.context)
      }
      logAction(ctx, actor, `resolve_intent_${outcome}`, intentId, evidence, moved)
      return answer(intentView(live.state, live.context))
    },
  }
}

/** Refunds a captured payment whose money came back without a rail report. */
export function reverseIntent(actor: Actor, intentId: string, evidence: string): Command {
  return {
    name: 'reverse_intent',
    needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
    decide: (ctx) => {
      if (!isEvidence(evidence)) return INVALID_EVIDENCE
      const live = ctx.memory.intents.get(intentId)
      if (!live) return refuse('payment_intent_not_found')
      if (live.state !== 'captured') return refuse('payment_intent_not_captured')
      if (!canPostIntent(ctx, live.context, 'intent_refunded')) {
        return refuse('balance_limit_exceeded')
      }
      const moved = movedByIntent(live.context)
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'reverse_intent',
        arguments: { intent_id: intentId, evidence },
        subject: intentId,
        moved,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      advanceIntent(ctx, live, { type: 'returned', at: ctx.now, source: 'service' })
      logAction(ctx, actor, 'reverse_intent', intentId, evidence, moved)
      return answer(intentView(live.state, live.context))
    },
  }
}

function isUnanswered({ state, context }: LiveIntent, { type }: IntentEvent): boolean {
  if (type !== 'recallRefused') return state === 'authorized' && context.submittedAt !== undefined
  return state === 'captured' && context.recall !== undefined && context.recall.refused !== true
}

function eventOf(outcome: string, { now }: CommandContext): IntentEvent | null {
  if (outcome === 'captured') return { type: 'executed', at: now }
  if (outcome === 'refund_failed') return { type: 'recallRefused', at: now }
  if (outcome !== 'failed') return null
  return { type: 'refused', at: now, refusal: 'not_carried_out', source: 'service' }
}
