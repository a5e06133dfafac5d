/** Confirmed intents that are held because they equal an orphan execution, oldest first. */
import { intentContextIn } from '../../../actors/intent/context.js'
import { toRfc3339 } from '../../base/clock.js'
import type { ActorRow } from '../../store/tables.js'
import { answerPage, INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { contextOf, shapeOfViewed, viewed } from './readable.js'

export function listHeldIntents(request: PageRequest): Query {
  return {
    name: 'list_held_intents',
    queueKey: 'internal',
    run: async (ctx) => {
      const page = pageOf(ctx.vault, 'held_intents', request)
      if (page === null) return INVALID_PAGE
      const rows = await ctx.lists.heldIntents(page.after ?? '', page.limit + 1)
      const held = viewed(rows, ctx, ({ id, tenant, context: json }) => {
        const context = contextOf(id, intentContextIn(JSON.parse(json)))
        const { quote, merchant, destinationMasked } = context.scanned!
        const { orphan, until } = context.heldFor!
        return {
          ...{ intent_id: id, tenant, created_at: toRfc3339(context.createdAt), orphan },
          ...{ deadline: toRfc3339(until), currency: quote.currency, amount: quote.localMinor },
          ...{ merchant_name: merchant.name, destination_masked: destinationMasked },
        }
      })
      return answerPage(ctx.vault, page, held, shapeOfViewed<ActorRow>())
    },
  }
}
