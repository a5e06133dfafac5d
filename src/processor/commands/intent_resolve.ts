/**
 * An operator says what became of an intent's payment, where the rail does not.
 *
 * O1. Only an intent whose instruction is out has an unknown outcome; one that is not handed over
 *     is cancelled, or fails by itself.
 * O2. It moves, posts and gives back limits as by the rail's own news. Where the evidence lies is
 *     kept with the actor and the reason. A rail in reach is asked once more, as nothing else would
 *     ask it from now on: should it speak differently, now or later, that is a discrepancy.
 */
import type { IntentEvent } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import { advanceIntent } from '../changes/advance_intent.js'
import type { Command, Desk } from '../cycle/command.js'
import { answer, refuse } from '../cycle/answer.js'
import { isEvidence, logAction, type Actor } from '../changes/operator_log.js'
import { needIntentAndUsage } from './intent_needs.js'

export function resolveIntent(
  actor: Actor,
  intentId: string,
  { outcome, evidence }: { readonly outcome: string; readonly evidence: string },
): Command {
  return {
    name: 'resolve_intent',
    needs: (needs, memory) => needIntentAndUsage(needs, memory, intentId),
    decide: (desk) => {
      const event = eventOf(outcome, desk)
      if (event === null || !isEvidence(evidence)) return refuse('invalid_request')
      const live = desk.memory.intents.get(intentId)
      if (!live) return refuse('payment_intent_not_found')
      const isOut = live.state === 'authorized' && live.context.handedOverAt !== undefined
      if (!isOut) return refuse('payment_intent_not_at_rail')

      // From here on it must succeed.
      advanceIntent(desk, live, event)
      desk.group.orders.push({ kind: 'query', id: live.context.id })
      logAction(desk, actor, `resolve_intent_${outcome}`, intentId, evidence)
      return answer(intentView(live.state, live.context))
    },
  }
}

function eventOf(outcome: string, { now }: Desk): IntentEvent | null {
  if (outcome === 'captured') return { type: 'executed', at: now }
  if (outcome !== 'failed') return null
  return { type: 'refused', at: now, refusal: 'not_carried_out', source: 'service' }
}
