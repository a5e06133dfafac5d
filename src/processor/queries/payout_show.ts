/**
 * A payout as operators see it: details, the state of its rail instruction, history.
 *
 * - Account numbers are cut to their last four characters; payloads are left out. The output is
 *   safe to paste anywhere.
 */
import { toRfc3339 } from '../../base/clock.js'
import { payoutContextIn, type PayoutState } from '../../../actors/payout/context.js'
import { payoutView } from '../../../actors/payout/view.js'
import type { EntityHistory } from '../../store/entity_history.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import { contextOf, viewed } from './readable.js'
import { timelineOf } from './timeline.js'
import { payoutSteps } from './timeline_steps.js'

export function showPayout(payoutId: string): Query {
  return {
    name: 'show_payout',
    queueKey: 'internal',
    run: async (ctx) => {
      const history = await ctx.lists.entityHistory('payouts', payoutId)
      if (history === undefined) return refuse('payout_not_found')
      const [shown] = viewed([history.entity], ctx, () => viewOf(history, ctx.brand))
      return answer(shown?.view ?? corruptView(history))
    },
  }
}

function corruptView(history: EntityHistory): object {
  const { id, tenant, state } = history.entity
  return { tenant, payout: { id, status: state }, timeline: timelineOf(history), corrupt: true }
}

function viewOf(history: EntityHistory, brand: string): object {
  const { id, tenant, state, context: json } = history.entity
  const context = contextOf(id, payoutContextIn(JSON.parse(json)))
  const { submittedAt, inquiries, dueAt, traceparent } = context
  return {
    tenant,
    payout: payoutView(state as PayoutState, context, brand),
    submitted_at: submittedAt === undefined ? undefined : toRfc3339(submittedAt),
    asked: inquiries,
    next_due_at: dueAt === null ? undefined : toRfc3339(dueAt),
    timeline: timelineOf(history, payoutSteps(state as PayoutState, context)),
    traceparent,
  }
}
