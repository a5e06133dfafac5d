/** Requests to erase users, the newest first, and the payment by which a request names its user. */
import { intentContextIn } from '../../../actors/intent/context.js'
import type { TenantId } from '../../base/ids.js'
import { erasureView } from '../changes/user_erasures.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import { viewOrName } from './readable.js'

const LISTED_MAX = 100
/** Users that share a fingerprint share a list: the first one is nearly always the user's. */
const LOOKED_AT = 20

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

/** @param last the number of the user's latest committed intent; 0 means none */
export const findUsersPayment = (tenant: TenantId, userId: string, last: number): Query => ({
  name: 'find_users_payment',
  queueKey: 'internal',
  run: async ({ lists }) => {
    const intents = last === 0 ? [] : await lists.intentsOfUser(last, LOOKED_AT)
    const found = intents.find(({ context }) => {
      const intent = intentContextIn(context)
      return intent?.tenant === tenant && intent.userId === userId
    })
    if (found === undefined) return refuse('payment_intent_not_found')
    return answer({ intentId: found.id } satisfies UsersPayment)
  },
})
