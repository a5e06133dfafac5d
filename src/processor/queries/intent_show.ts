/**
 * An intent as operators see it: what it is, and all that is written down about it.
 *
 * S1. No account number beyond its mask, no token, no payload: what is shown may be pasted
 *     anywhere.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import { toWire } from '../../money/money.js'
import type { IntentContext, IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { IntentFile } from '../../store/intent_file.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'

export function showIntent(intentId: string): Query {
  return {
    name: 'show_intent',
    lane: 'internal',
    run: async ({ lists }) => {
      const file = await lists.intentFile(intentId)
      return file === undefined ? refuse('payment_intent_not_found') : answer(viewOf(file))
    },
  }
}

function viewOf(file: IntentFile): object {
  const { tenant, state, context: json } = file.intent
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

interface Moment {
  readonly at: number
  readonly kind: 'event' | 'entry' | 'action' | 'discrepancy'
  readonly text: string
}

/** What is of one moment stays in this order. */
function timelineOf({ events, entries, discrepancies, actions }: IntentFile): object[] {
  const moments: Moment[] = [
    ...actions.map(({ at, actor, action, reason, evidence }): Moment => {
      const where = evidence === null ? '' : ` (${evidence})`
      return { at, kind: 'action', text: `${action} by ${actor}: ${reason}${where}` }
    }),
    ...entries.map(({ at, plan, account, amount, balance }): Moment => {
      const text = `${plan}: ${account} ${toWire(amount)}, balance ${toWire(balance)}`
      return { at, kind: 'entry', text }
    }),
    ...events.map(({ created_at: at, type, id }): Moment => ({
      at,
      kind: 'event',
      text: `${type} ${id}`,
    })),
    ...discrepancies.map(({ at, id, reason, settlement }): Moment => ({
      at,
      kind: 'discrepancy',
      text: `${id}: ${reason}, ${settlement ?? 'open'}`,
    })),
  ]
  return moments
    .sort((one, other) => one.at - other.at)
    .map(({ at, ...rest }) => ({ at: toRfc3339(instant(at)), ...rest }))
}
