/**
 * The money that each operator has moved without a second one, by tenant, currency and UTC day.
 *
 * - Derived from the action log: read at the start, added to by each action.
 * - Only the newest day is kept. A clock that is set back does not begin a day again.
 */
import { DAY, instant, type Instant } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import type { Money } from '../../money/money.js'

/** Money that an action moves, and whose it is. */
export interface Moved {
  readonly tenant: TenantId
  readonly funds: Money
}

export interface SingleHandedSums {
  add(operator: string, moved: Moved, at: Instant): void
  /** The sum of the same tenant and currency on the day of `at`. */
  of(operator: string, moved: Moved, at: Instant): bigint
}

/** The beginning of the UTC day. */
export const dayOf = (at: Instant): Instant => instant(at - (at % DAY))

export function createSingleHandedSums(): SingleHandedSums {
  const sums = new Map<string, bigint>()
  let day = instant(0)
  const moveTo = (at: Instant): void => {
    if (dayOf(at) <= day) return
    day = dayOf(at)
    sums.clear()
  }
  const keyOf = (operator: string, { tenant, funds }: Moved): string =>
    `${operator} ${tenant} ${funds.currency}`
  return {
    add: (operator, moved, at) => {
      moveTo(at)
      const key = keyOf(operator, moved)
      sums.set(key, (sums.get(key) ?? 0n) + moved.funds.minor)
    },
    of: (operator, moved, at) => {
      moveTo(at)
      return sums.get(keyOf(operator, moved)) ?? 0n
    },
  }
}
