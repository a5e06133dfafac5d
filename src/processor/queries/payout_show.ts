/**
 * A payout as operators see it: what it is, how its instruction stands with the rail, and all that
 * is written down about it.
 *
 * S1. No account number beyond its last four characters, no payload: what is shown may be pasted
 *     anywhere.
 */
import { toRfc3339 } from '../../base/clock.js'
import type { PayoutContext, PayoutState } from '../../../actors/payout/context.js'
import { payoutView } from '../../../actors/payout/view.js'
import type { EntityFile } from '../../store/entity_file.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import { timelineOf } from './timeline.js'

export function showPayout(payoutId: string): Query {
  return {
    name: 'show_payout',
    lane: 'ours',
    run: async ({ lists, brand }) => {
      const file = await lists.entityFile('payouts', payoutId)
      return file === undefined ? refuse('payout_not_found') : answer(viewOf(file, brand))
    },
  }
}

function viewOf(file: EntityFile, brand: string): object {
  const { tenant, state, context: json } = file.entity
  const context = JSON.parse(json) as PayoutContext
  const { handedOverAt, asked, wakeAt } = context
  return {
    tenant,
    payout: payoutView(state as PayoutState, context, brand),
    handed_over_at: handedOverAt === undefined ? undefined : toRfc3339(handedOverAt),
    asked,
    next_due_at: wakeAt === null ? undefined : toRfc3339(wakeAt),
    timeline: timelineOf(file),
  }
}
