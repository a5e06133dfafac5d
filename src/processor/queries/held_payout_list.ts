/** Payouts held for review, of all tenants, oldest first. */
import { toRfc3339 } from '../../base/clock.js'
import { payoutContextIn, type PayoutState } from '../../../actors/payout/context.js'
import { payoutView } from '../../../actors/payout/view.js'
import type { ActorRow } from '../../store/tables.js'
import { payeesOfPayouts } from './payees.js'
import { answerPage, INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { contextOf, shapeOfViewed, viewed } from './readable.js'

export function listHeldPayouts(request: PageRequest & { readonly with_payees?: boolean }): Query {
  return {
    name: 'list_held_payouts',
    queueKey: 'internal',
    run: async (ctx) => {
      const { lists, vault, brand } = ctx
      const page = pageOf(vault, 'held_payouts', request)
      if (page === null) return INVALID_PAGE
      const rows = await lists.heldPayouts(page.after ?? '', page.limit + 1)
      const read = viewed(rows.slice(0, page.limit), ctx, ({ id, context }) =>
        contextOf(id, payoutContextIn(JSON.parse(context))),
      )
      const contexts = read.flatMap(({ view }) => view ?? [])
      const payees = request.with_payees === true ? await payeesOfPayouts(ctx, contexts) : undefined
      const held = viewed(rows, ctx, ({ id, tenant, state, context: json }) => {
        const context = contextOf(id, payoutContextIn(JSON.parse(json)))
        return {
          tenant,
          deadline: context.dueAt === null ? '' : toRfc3339(context.dueAt),
          orphan: context.orphan ?? context.heldFor?.orphan,
          cause: context.reviewCause,
          payout: payoutView(state as PayoutState, context, brand),
          payee: payees?.get(id),
        }
      })
      return answerPage(vault, page, held, {
        ...shapeOfViewed<ActorRow>(({ id, tenant }) => ({ tenant, deadline: '', corrupt: id })),
        bytesOf: ({ row }) => Buffer.byteLength(row.context),
      })
    },
  }
}
