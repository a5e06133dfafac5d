/**
 * Posting plans: the ledger lines that each transition posts.
 *
 * - The lines of a plan sum to zero in each currency, for any amounts.
 * - Money of a payment moves from `prefund` to `reserved` when the payment is accepted, and from
 *   there either out or back.
 * - What leaves a prefund without a payment leaves through `funding`, as it came: money that is
 *   paid back (`withdrawal`), and what a deposit credited by mistake (`deposit_corrected`, under
 *   its id).
 * - A discrepancy with a rail is posted to `suspense`, apart from the partner's money, until an
 *   operator settles it: the rail paid out more than was due (`paid`) or returned money
 *   (`returned`). The settlement is on the partner's account (`charged`, `credited`) or on ours
 *   (`lost`, `gained`).
 */
import { assert } from '../base/assert.js'
import type { TenantId } from '../base/ids.js'
import type { Currency } from '../money/currency.js'
import { accountKey, type AccountKey, type AccountKind } from './accounts.js'

/**
 * The amount of a line.
 * total = recipient + fee; quote: US cents debited; local: paid to the merchant; amount: of a
 * deposit, its correction, a withdrawal or a discrepancy; sold, bought: of a conversion.
 */
type Part =
  'total' | 'recipient' | 'fee' | 'refundedFee' | 'quote' | 'local' | 'amount' | 'sold' | 'bought'
type Line = readonly [AccountKind, '+' | '-', Part]

export const PLANS = {
  payout_accepted: [
    ['prefund', '-', 'total'],
    ['reserved', '+', 'total'],
  ],
  payout_completed: [
    ['reserved', '-', 'total'],
    ['rail_clearing', '+', 'recipient'],
    ['fees', '+', 'fee'],
  ],
  payout_failed: [
    ['reserved', '-', 'total'],
    ['prefund', '+', 'total'],
  ],
  payout_reversed: [
    ['rail_clearing', '-', 'recipient'],
    ['prefund', '+', 'recipient'],
    ['fees', '-', 'refundedFee'],
    ['prefund', '+', 'refundedFee'],
  ],
  intent_confirmed: [
    ['prefund', '-', 'quote'],
    ['reserved', '+', 'quote'],
  ],
  intent_captured: [
    ['reserved', '-', 'quote'],
    ['fx', '+', 'quote'],
    ['fx', '-', 'local'],
    ['rail_clearing', '+', 'local'],
  ],
  intent_failed: [
    ['reserved', '-', 'quote'],
    ['prefund', '+', 'quote'],
  ],
  intent_cancelled: [
    ['reserved', '-', 'quote'],
    ['prefund', '+', 'quote'],
  ],
  intent_refunded: [
    ['rail_clearing', '-', 'local'],
    ['fx', '+', 'local'],
    ['fx', '-', 'quote'],
    ['prefund', '+', 'quote'],
  ],
  conversion: [
    ['prefund', '-', 'sold'],
    ['fx', '+', 'sold'],
    ['fx', '-', 'bought'],
    ['prefund', '+', 'bought'],
  ],
  deposit: [
    ['funding', '-', 'amount'],
    ['prefund', '+', 'amount'],
  ],
  deposit_corrected: [
    ['prefund', '-', 'amount'],
    ['funding', '+', 'amount'],
  ],
  withdrawal: [
    ['prefund', '-', 'amount'],
    ['funding', '+', 'amount'],
  ],
  discrepancy_paid: [
    ['suspense', '-', 'amount'],
    ['rail_clearing', '+', 'amount'],
  ],
  discrepancy_returned: [
    ['rail_clearing', '-', 'amount'],
    ['suspense', '+', 'amount'],
  ],
  discrepancy_charged: [
    ['prefund', '-', 'amount'],
    ['suspense', '+', 'amount'],
  ],
  discrepancy_credited: [
    ['suspense', '-', 'amount'],
    ['prefund', '+', 'amount'],
  ],
  discrepancy_lost: [
    ['funding', '-', 'amount'],
    ['suspense', '+', 'amount'],
  ],
  discrepancy_gained: [
    ['suspense', '-', 'amount'],
    ['funding', '+', 'amount'],
  ],
} as const satisfies Record<string, readonly Line[]>

export type PlanName = keyof typeof PLANS
type PartsOf<P extends PlanName> = (typeof PLANS)[P][number][2]

/** Each part's amount (minor units, not negative) and currency. */
export type Parts<P extends PlanName = PlanName> = Readonly<
  Record<PartsOf<P>, { readonly currency: Currency; readonly minor: bigint }>
>

export interface PostingLine {
  readonly account: AccountKey
  /** Signed, not zero. */
  readonly amount: bigint
}

/** The lines of a plan with its amounts. A part of zero produces no line. */
export function linesOf<P extends PlanName>(
  plan: P,
  tenant: TenantId,
  parts: Parts<P>,
): readonly PostingLine[] {
  const lines: PostingLine[] = []
  const sums = new Map<Currency, bigint>()
  for (const [kind, sign, part] of PLANS[plan] as readonly Line[]) {
    const { currency, minor } = parts[part as PartsOf<P>]
    assert(minor >= 0n, 'the parts of a plan are not negative')
    if (minor === 0n) continue
    const amount = sign === '+' ? minor : -minor
    lines.push({ account: accountKey(tenant, currency, kind), amount })
    sums.set(currency, (sums.get(currency) ?? 0n) + amount)
  }
  for (const sum of sums.values()) assert(sum === 0n, `the lines of ${plan} sum to zero`)
  return lines
}
