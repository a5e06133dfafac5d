/**
 * An intent as operators see it: details and history.
 *
 * - Account numbers are masked; tokens and payloads are left out. The output is safe to paste
 *   anywhere.
 */
import { toRfc3339 } from '../../base/clock.js'
import { intentContextIn, type IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { EntityHistory } from '../../store/entity_history.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import { contextOf, viewed } from './readable.js'
import { timelineOf } from './timeline.js'
import { intentSteps } from './timeline_steps.js'

export function showIntent(intentId: string): Query {
  return {
    name: 'show_intent',
    queueKey: 'internal',
    run: async (ctx) => {
      const history = await ctx.lists.entityHistory('intents', intentId)
      if (history === undefined) return refuse('payment_intent_not_found')
      const [shown] = viewed([history.entity], ctx, () => viewOf(history))
      return answer(shown?.view ?? corruptView(history))
    },
  }
}

function corruptView(history: EntityHistory): object {
  const { id, tenant, state } = history.entity
  const intent = { intent_id: id, status: state }
  return { tenant, intent, timeline: timelineOf(history), corrupt: true }
}

function viewOf(history: EntityHistory): object {
  const { id, tenant, state, context: json } = history.entity
  const context = contextOf(id, intentContextIn(JSON.parse(json)))
  const { userId, scanned, transactionId, submittedAt, traceparent } = context
  return {
    tenant,
    partner_user_id: userId,
    intent: intentView(state as IntentState, context),
    merchant_name: scanned?.merchant.name,
    destination_masked: scanned?.destinationMasked,
    transaction_id: transactionId,
    submitted_at: submittedAt === undefined ? undefined : toRfc3339(submittedAt),
    timeline: timelineOf(history, intentSteps(state as IntentState, context)),
    traceparent,
  }
}
