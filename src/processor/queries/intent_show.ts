/**
 * An intent as operators see it: what it is, and all that is written down about it.
 *
 * S1. No account number beyond its mask, no token, no payload: what is shown may be pasted
 *     anywhere.
 */
import { toRfc3339 } from '../../base/clock.js'
import type { IntentContext, IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { EntityFile } from '../../store/entity_file.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import { timelineOf } from './timeline.js'

export function showIntent(intentId: string): Query {
  return {
    name: 'show_intent',
    lane: 'ours',
    run: async ({ lists }) => {
      const file = await lists.entityFile('intents', intentId)
      return file === undefined ? refuse('payment_intent_not_found') : answer(viewOf(file))
    },
  }
}

function viewOf(file: EntityFile): object {
  const { tenant, state, context: json } = file.entity
  const context = JSON.parse(json) as IntentContext
  const { userId, scanned, transactionId, handedOverAt } = context
  return {
    tenant,
    partner_user_id: userId,
    intent: intentView(state as IntentState, context),
    merchant_name: scanned?.merchant.name,
    destination_masked: scanned?.destinationMasked,
    transaction_id: transactionId,
    handed_over_at: handedOverAt === undefined ? undefined : toRfc3339(handedOverAt),
    timeline: timelineOf(file),
  }
}
