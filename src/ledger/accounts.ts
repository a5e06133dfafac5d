/**
 * The chart of accounts. Each tenant has these accounts in each currency it uses.
 *
 * - A balance is signed; the partner can spend a positive `prefund` balance.
 * - `prefund` and `reserved` hold partners' money and cannot be overdrawn.
 * - Money enters through `funding`, whose floor is above the int64 minimum. A posting that reports
 *   money which a rail has already moved cannot be refused; this headroom ensures that it fits.
 * - `suspense` takes amounts reported by a rail that contradict the books. Its bounds keep such
 *   amounts from using up that headroom.
 */
import type { TenantId } from '../base/ids.js'
import type { Currency } from '../money/currency.js'
import { INT64_MAX, INT64_MIN } from '../money/money.js'

export const ACCOUNT_KINDS = {
  prefund: 'available to the partner',
  reserved: 'held for payments in progress',
  fees: 'fees earned',
  rail_clearing: 'paid out by the rail on our behalf',
  funding: 'received from outside or written off, as a negative balance',
  fx: 'exchange between the two currencies of a payment or a conversion',
  suspense: 'unresolved discrepancies',
} as const
export type AccountKind = keyof typeof ACCOUNT_KINDS

/** `{tenant}:{currency}:{kind}` */
export type AccountKey = string & { readonly __brand: 'AccountKey' }

export const accountKey = (tenant: TenantId, currency: Currency, kind: AccountKind): AccountKey =>
  `${tenant}:${currency}:${kind}` as AccountKey

interface AccountParts {
  readonly tenant: TenantId
  readonly currency: Currency
  readonly kind: AccountKind
}

/** A posting reads the parts of each of its accounts several times. */
const keptParts = new Map<AccountKey, AccountParts>()
const PARTS_KEPT = 10_000

export function partsOf(account: AccountKey): AccountParts {
  const kept = keptParts.get(account)
  if (kept !== undefined) return kept
  const [tenant, currency, kind] = account.split(':')
  const parts: AccountParts = {
    tenant: tenant as TenantId,
    currency: currency as Currency,
    kind: kind as AccountKind,
  }
  if (keptParts.size >= PARTS_KEPT) keptParts.clear()
  keptParts.set(account, parts)
  return parts
}

/**
 * Reserved for captures, which post local currency that no funding covers: a billion of the largest
 * payments, and the same again for suspense.
 */
const HEADROOM = 2n ** 53n
const SUSPENSE_MOST = HEADROOM / 2n

/** The lowest balance an account may have. */
export function floorOf(account: AccountKey): bigint {
  const { kind } = partsOf(account)
  if (kind === 'prefund' || kind === 'reserved') return 0n
  if (kind === 'suspense') return -SUSPENSE_MOST
  return kind === 'funding' ? HEADROOM - INT64_MAX : INT64_MIN
}

/** The highest balance an account may have. */
export const ceilingOf = (account: AccountKey): bigint =>
  partsOf(account).kind === 'suspense' ? SUSPENSE_MOST : INT64_MAX
