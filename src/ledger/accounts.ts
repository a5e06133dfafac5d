/**
 * The chart of accounts. Each tenant has these in each currency it touches.
 *
 * - A balance is signed; positive `prefund` is the partner's to spend.
 * - `prefund` and `reserved` hold somebody's money and can never be overdrawn.
 * - Money comes in through `funding`, which stops short of int64. So the postings that follow and
 *   cannot be refused, because a rail has moved the money already, find room on every account.
 * - `suspense` takes what a rail says against our books, be it the wildest number. Its bounds
 *   keep that from taking the room of A3.
 */
import type { TenantId } from '../base/ids.js'
import type { Currency } from '../money/currency.js'
import { INT64_MAX, INT64_MIN } from '../money/money.js'

export const ACCOUNT_KINDS = {
  prefund: 'what the partner can spend',
  reserved: 'set aside for payments under way',
  fees: 'what we earned',
  rail_clearing: 'what the rail paid out for us',
  funding: 'what came in from outside or was ours to bear, as a negative',
  fx: 'between two currencies of one payment',
  suspense: 'what a person must look at',
} as const
export type AccountKind = keyof typeof ACCOUNT_KINDS

/** `{tenant}:{currency}:{kind}` */
export type AccountKey = string & { readonly __brand: 'AccountKey' }

export const accountKey = (tenant: TenantId, currency: Currency, kind: AccountKind): AccountKey =>
  `${tenant}:${currency}:${kind}` as AccountKey

export function partsOf(account: AccountKey): {
  readonly tenant: TenantId
  readonly currency: Currency
  readonly kind: AccountKind
} {
  const [tenant, currency, kind] = account.split(':')
  return { tenant: tenant as TenantId, currency: currency as Currency, kind: kind as AccountKind }
}

/**
 * Kept for captures, which bring local money into the books: a billion of the largest payments, and
 * as much again for what stands in suspense.
 */
const HEADROOM = 2n ** 53n
const SUSPENSE_MOST = HEADROOM / 2n

/** The least balance of an account. */
export function floorOf(account: AccountKey): bigint {
  const { kind } = partsOf(account)
  if (kind === 'prefund' || kind === 'reserved') return 0n
  if (kind === 'suspense') return -SUSPENSE_MOST
  return kind === 'funding' ? HEADROOM - INT64_MAX : INT64_MIN
}

/** The greatest balance of an account. */
export const ceilingOf = (account: AccountKey): bigint =>
  partsOf(account).kind === 'suspense' ? SUSPENSE_MOST : INT64_MAX
