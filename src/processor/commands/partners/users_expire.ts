/**
 * Begins the erasure of users whose latest payment is old (background/user_expiry).
 *
 * - A user is named by that payment and its number: one who has paid since stays.
 * - No operator acts: the row of the erasure is all that is recorded.
 */
import type { Instant } from '../../../base/clock.js'
import { isIdOf, newId } from '../../../base/ids.js'
import { rememberErasure } from '../../cache/memory.js'
import { mustWait, stageErasure, type UserErasure } from '../../changes/user_erasures.js'
import { lastIntentOf } from '../../changes/user_intent_links.js'
import { answer } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'

/** The latest payment of a user. */
export interface LatestPayment {
  readonly id: string
  /** The intent's number (changes/user_intent_links). */
  readonly number: number
}

export interface ExpiredUsers {
  /** Users whose erasure has begun. */
  readonly users: number
}

/** @param before the payments of these users are older */
export function expireUsers(payments: readonly LatestPayment[], before: Instant): Command {
  return {
    name: 'expire_users',
    needs: (needs) => {
      for (const { id } of payments) needs.intent(id)
    },
    decide: (ctx) => {
      const { memory, now, random } = ctx
      let users = 0
      for (const { id, number } of payments) {
        const live = memory.intents.get(id)
        if (!live || live.isCorrupt === true) continue
        const { state, context } = live
        const { tenant, userId } = context
        const isLatest = lastIntentOf(memory, tenant, userId) === number
        const isOld = context.createdAt < before && !mustWait(state, context, now)
        if (!isLatest || !isOld || isIdOf('erasure', userId)) continue
        const erasure: UserErasure = {
          id: newId('erasure', now, random),
          tenant,
          user_id: userId,
          last_intent: number,
          payments: 0,
          waiting: null,
          requested_at: now,
          ended_at: null,
        }
        stageErasure(ctx, erasure)
        rememberErasure(memory, erasure)
        users += 1
      }
      return answer({ users } satisfies ExpiredUsers)
    },
  }
}
