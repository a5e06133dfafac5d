/**
 * Limits by local calendar day and month.
 *
 * - The calendar is that of the corridor: both are at UTC+7 all year.
 * - A confirmation counts in the day and month it was made, and is given back into those.
 */
import { HOUR, plus, toRfc3339, type Instant } from '../base/clock.js'
import type { TenantId } from '../base/ids.js'
import type { Corridor } from '../qr/corridor.js'
import type { Caps } from './caps.js'

const LOCAL_OFFSET_MS = 7 * HOUR

/** Keys of the two counters that a payment at this instant uses. */
export interface LimitKeys {
  readonly day: string
  readonly month: string
}

export function limitKeys(
  tenant: TenantId,
  userId: string,
  corridor: Corridor,
  at: Instant,
): LimitKeys {
  const { day, month } = periodsOf(at)
  const owner = JSON.stringify([tenant, userId, corridor])
  return { day: `${owner} ${day}`, month: `${owner} ${month}` }
}

/** E.g. `2026-11-21` and `2026-11`, in the local calendar. */
export function periodsOf(at: Instant): { readonly day: string; readonly month: string } {
  const local = toRfc3339(plus(at, LOCAL_OFFSET_MS))
  return { day: local.slice(0, 10), month: local.slice(0, 7) }
}

export type LimitVerdict = 'within' | 'per_transaction' | 'per_day' | 'per_month'

/** Whether one more payment fits beside what was used in its day and month. */
export function checkLimits(
  caps: Caps,
  used: { readonly day: bigint; readonly month: bigint },
  amount: bigint,
): LimitVerdict {
  if (amount > caps.perTransaction) return 'per_transaction'
  if (used.day + amount > caps.perDay) return 'per_day'
  if (used.month + amount > caps.perMonth) return 'per_month'
  return 'within'
}
