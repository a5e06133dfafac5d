/** Payouts that wait for their review, of all tenants, the oldest first. */
import { toRfc3339 } from '../../base/clock.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import { payoutView } from '../../../actors/payout/view.js'
import { refuse } from '../cycle/answer.js'
import { answerPage, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'

export function listHeldPayouts(request: PageRequest): Query {
  return {
    name: 'list_held_payouts',
    lane: 'ours',
    run: async ({ lists, vault, brand }) => {
      const page = pageOf(vault, 'held_payouts', request)
      if (page === null) return refuse('invalid_request')
      const rows = await lists.heldPayouts(page.after ?? '', page.limit + 1)
      return answerPage(vault, page, rows, {
        view: ({ tenant, context: json }) => {
          const context = JSON.parse(json) as PayoutContext
          return {
            tenant,
            deadline: context.wakeAt === null ? '' : toRfc3339(context.wakeAt),
            payout: payoutView('created', context, brand),
          }
        },
        positionOf: ({ id }) => id,
        bytesOf: ({ context }) => Buffer.byteLength(context),
      })
    },
  }
}
