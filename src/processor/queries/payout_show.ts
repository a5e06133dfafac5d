/**
 * A payout as operators see it: what it is, how its instruction stands with the rail, and all that
 * is written down about it.
 *
 * - No account number beyond its last four characters, no payload: what is shown may be pasted
 *   anywhere.
 */
import { toRfc3339 } from '../../base/clock.js'
import type { PayoutContext, PayoutState } from '../../../actors/payout/context.js'
import { payoutView } from '../../../actors/payout/view.js'
import type { EntityHistory } from '../../store/entity_history.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import { contextIn, viewed } from './readable.js'
import { timelineOf } from './timeline.js'

export function showPayout(payoutId: string): Query {
  return {
    name: 'show_payout',
    queueKey: 'ours',
    run: async (reading) => {
      const file = await reading.lists.entityFile('payouts', payoutId)
      if (file === undefined) return refuse('payout_not_found')
      const [shown] = viewed([file.entity], reading, () => viewOf(file, reading.brand))
      return answer(shown?.view ?? corruptView(file))
    },
  }
}

function corruptView(file: EntityHistory): object {
  const { id, tenant, state } = file.entity
  return { tenant, payout: { id, status: state }, timeline: timelineOf(file), corrupt: true }
}

function viewOf(file: EntityHistory, brand: string): object {
  const { id, tenant, state, context: json } = file.entity
  const context = contextIn<PayoutContext>(id, JSON.parse(json))
  const { handedOverAt: submittedAt, asked, wakeAt } = context
  return {
    tenant,
    payout: payoutView(state as PayoutState, context, brand),
    submitted_at: submittedAt === undefined ? undefined : toRfc3339(submittedAt),
    asked,
    next_due_at: wakeAt === null ? undefined : toRfc3339(wakeAt),
    timeline: timelineOf(file),
  }
}
