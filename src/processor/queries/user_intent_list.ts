/** One user's payment intents, newest first. Filters shorten the pages. */
import type { TenantId } from '../../base/ids.js'
import type { IntentContext, IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { UserIntent } from '../../store/user_intent_rows.js'
import { refuse } from '../cycle/answer.js'
import { admits, filterOf, isUnfiltered, type IntentListRequest } from './intent_list.js'
import { answerPage, INVALID_PAGE, pageOf } from './page.js'
import type { Query } from './query.js'
import { contextIn, viewed } from './readable.js'

/** @param last the number of the user's latest committed intent; 0: none */
export function listUserIntents(
  tenant: TenantId,
  userId: string,
  request: IntentListRequest,
  last: number,
): Query {
  return {
    name: 'list_user_intents',
    queueKey: tenant,
    run: async (ctx) => {
      const { lists, vault } = ctx
      const filter = filterOf(tenant, request)
      if (filter === null) return refuse('invalid_request')
      const list = [tenant, userId, ...(isUnfiltered(request) ? [] : [filter])]
      const page = pageOf(vault, `user_intents ${JSON.stringify(list)}`, request)
      if (page === null) return INVALID_PAGE
      const from = page.after === null ? last : Number(page.after)
      const found = await lists.intentsOfUser(from, page.limit + 1)
      const rows = viewed(found, ctx, ({ id, state, context }) =>
        intentView(state as IntentState, contextIn<IntentContext>(id, context)),
      )
      return answerPage(vault, page, rows, {
        view: ({ view }) => view ?? {},
        shows: ({ row, view }) =>
          view !== null && isOf(row, tenant, userId) && admits(filter, factsOf(row)),
        positionOf: ({ row }) => String(row.before),
      })
    },
  }
}

function isOf({ context }: UserIntent, tenant: TenantId, userId: string): boolean {
  const intent = context as IntentContext
  return intent.tenant === tenant && intent.userId === userId
}

const factsOf = ({ id, state, context }: UserIntent): Parameters<typeof admits>[1] => ({
  id,
  state,
  corridor: (context as IntentContext).corridor,
})
