/** Which payments have ended, so that nothing happens to them by itself, and may be archived. */
import { DAY } from '../../base/clock.js'
import type { LiveIntent, LivePayout, Memory } from '../cache/memory.js'

/** A refund, or the return of a payout, is likely before. */
export const ARCHIVED_AFTER_MS = 180 * DAY
export const ARCHIVED_AT_ONCE_MAX = 100

/** A payer who is being erased must be found in the payment first. */
export function isEndedIntent(
  { userErasures }: Pick<Memory, 'userErasures'>,
  { state, context }: LiveIntent,
): boolean {
  if (state === 'created' || state === 'authorized' || context.dueAt !== null) return false
  return ![...userErasures.values()].some(
    ({ tenant, user_id: userId }) => tenant === context.tenant && userId === context.userId,
  )
}

export const isEndedPayout = ({ state, context }: LivePayout): boolean =>
  state !== 'created' && state !== 'processing' && context.dueAt === null
