/** Requests to erase users, the newest first, and the payment by which a request names its user. */
import { intentContextIn } from '../../../actors/intent/context.js'
import type { TenantId } from '../../base/ids.js'
import { erasureView } from '../changes/user_erasures.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import { viewOrName } from './readable.js'

const LISTED_MAX = 100
/** Links of one read, which others wait for. */
const LINKS_A_READ = 50

export const listUserErasures = (): Query => ({
  name: 'list_user_erasures',
  queueKey: 'internal',
  run: async (ctx) => {
    const rows = await ctx.lists.userErasures(LISTED_MAX)
    return answer({ data: rows.map(viewOrName(ctx, erasureView, ({ id }) => `erasure ${id}`)) })
  },
})

export interface UsersPayment {
  readonly intentId: string
}

/**
 * The newest payment of the user that the books have: the link of an archived one has no payment,
 * and users that share a fingerprint share a list.
 *
 * @param last the number of the user's latest committed intent; 0 means none
 */
export const findUsersPayment = (tenant: TenantId, userId: string, last: number): Query => ({
  name: 'find_users_payment',
  queueKey: 'internal',
  run: async ({ lists }) => {
    for (let next = last; next > 0;) {
      const links = await lists.intentsOfUser(next, LINKS_A_READ)
      const found = links.find(({ context }) => {
        const intent = intentContextIn(context)
        return intent?.tenant === tenant && intent.userId === userId
      })
      if (found !== undefined) return answer({ intentId: found.id } satisfies UsersPayment)
      next = links.at(-1)?.before ?? 0
    }
    return refuse('payment_intent_not_found')
  },
})
