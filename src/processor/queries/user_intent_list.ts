/** One user's payment intents, newest first. */
import type { TenantId } from '../../base/ids.js'
import type { IntentContext, IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { UserIntent } from '../../store/user_intent_rows.js'
import { refuse } from '../cycle/answer.js'
import { answerPage, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { contextIn, viewed } from './readable.js'

/** @param last the number of the user's latest committed intent; 0: none */
export function listUserIntents(
  tenant: TenantId,
  userId: string,
  request: PageRequest,
  last: number,
): Query {
  return {
    name: 'list_user_intents',
    queueKey: tenant,
    run: async (ctx) => {
      const { lists, vault } = ctx
      const page = pageOf(vault, `user_intents ${JSON.stringify([tenant, userId])}`, request)
      if (page === null) return refuse('invalid_request')
      const from = page.after === null ? last : Number(page.after)
      const found = await lists.intentsOfUser(from, page.limit + 1)
      const rows = viewed(found, ctx, ({ id, state, context }) =>
        intentView(state as IntentState, contextIn<IntentContext>(id, context)),
      )
      return answerPage(vault, page, rows, {
        view: ({ view }) => view ?? {},
        shows: ({ row, view }) => view !== null && isOf(row, tenant, userId),
        positionOf: ({ row }) => String(row.before),
      })
    },
  }
}

function isOf({ context }: UserIntent, tenant: TenantId, userId: string): boolean {
  const intent = context as IntentContext
  return intent.tenant === tenant && intent.userId === userId
}
