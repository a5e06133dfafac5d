/**
 * Payment limits of a partner's user: by transaction, local calendar day and month.
 *
 * - A confirmation counts in the day and month in which it is made; a release is booked to the same
 *   day and month.
 */
import { plus, toRfc3339, type Instant } from '../base/clock.js'
import type { TenantId } from '../base/ids.js'
import { CORRIDORS, type Corridor } from '../qr/corridor.js'

/** Limits of a corridor, in minor units of its currency. */
export interface Caps {
  readonly minimum: bigint
  readonly perTransaction: bigint
  readonly perDay: bigint
  readonly perMonth: bigint
}

/** Keys of the day and month counters of a payment. */
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
  const { day, month } = periodsOf(corridor, at)
  const owner = JSON.stringify([tenant, userId, corridor])
  return { day: `${owner} ${day}`, month: `${owner} ${month}` }
}

/** E.g. `2026-11-21` and `2026-11`, in the local calendar. */
export function periodsOf(
  corridor: Corridor,
  at: Instant,
): { readonly day: string; readonly month: string } {
  const local = toRfc3339(plus(at, CORRIDORS[corridor].utcOffsetMs))
  return { day: local.slice(0, 10), month: local.slice(0, 7) }
}

export type LimitVerdict = 'within' | 'per_transaction' | 'per_day' | 'per_month'

/** Checks one more payment against the amounts already used in its day and month. */
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
