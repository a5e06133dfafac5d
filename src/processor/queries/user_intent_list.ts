/** One user's payment intents, newest first. */
import type { TenantId } from '../../base/ids.js'
import type { IntentContext, IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { UserIntent } from '../../store/user_intents.js'
import { refuse } from '../cycle/answer.js'
import { answerPage, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'

/** @param last the number of the user's last intent that is on disk; 0: there is none */
export function listUserIntents(
  tenant: TenantId,
  userId: string,
  request: PageRequest,
  last: number,
): Query {
  return {
    name: 'list_user_intents',
    lane: tenant,
    run: async ({ lists, vault }) => {
      const page = pageOf(vault, `user_intents ${JSON.stringify([tenant, userId])}`, request)
      if (page === null) return refuse('invalid_request')
      const from = page.after === null ? last : Number(page.after)
      const rows = (await lists.intentsOfUser(from, page.limit + 1)).map(opened)
      return answerPage(vault, page, rows, {
        shows: ({ context }) => context.tenant === tenant && context.userId === userId,
        view: ({ state, context }) => intentView(state, context),
        positionOf: ({ before }) => String(before),
      })
    },
  }
}

const opened = ({ state, context, before }: UserIntent) => ({
  state: state as IntentState,
  context: context as IntentContext,
  before,
})
