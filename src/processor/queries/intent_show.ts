/**
 * An intent as operators see it: what it is, and details and history about it.
 *
 * - No account number beyond its mask, no token, no payload: what is shown may be pasted
 *   anywhere.
 */
import { toRfc3339 } from '../../base/clock.js'
import type { IntentContext, IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { EntityHistory } from '../../store/entity_history.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import { contextIn, viewed } from './readable.js'
import { timelineOf } from './timeline.js'

export function showIntent(intentId: string): Query {
  return {
    name: 'show_intent',
    queueKey: 'ours',
    run: async (reading) => {
      const file = await reading.lists.entityFile('intents', intentId)
      if (file === undefined) return refuse('payment_intent_not_found')
      const [shown] = viewed([file.entity], reading, () => viewOf(file))
      return answer(shown?.view ?? corruptView(file))
    },
  }
}

function corruptView(file: EntityHistory): object {
  const { id, tenant, state } = file.entity
  const intent = { intent_id: id, status: state }
  return { tenant, intent, timeline: timelineOf(file), corrupt: true }
}

function viewOf(file: EntityHistory): object {
  const { id, tenant, state, context: json } = file.entity
  const context = contextIn<IntentContext>(id, JSON.parse(json))
  const { userId, scanned, transactionId, handedOverAt: submittedAt } = context
  return {
    tenant,
    partner_user_id: userId,
    intent: intentView(state as IntentState, context),
    merchant_name: scanned?.merchant.name,
    destination_masked: scanned?.destinationMasked,
    transaction_id: transactionId,
    submitted_at: submittedAt === undefined ? undefined : toRfc3339(submittedAt),
    timeline: timelineOf(file),
  }
}
