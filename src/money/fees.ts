/**
 * Fees of a payout: a pure function of its amount and its route's schedule.
 *
 * - `on_top`: the recipient gets the amount and the total is amount + fee. `deducted`: the total is
 *   the amount and the recipient gets amount - fee. In both, total = recipient + fee.
 * - Percentages round up to the minor unit. No result exceeds int64.
 */
import { assert } from '../base/assert.js'
import { fitsInt64 } from './money.js'
import { roundUp } from './rate.js'

export interface FeeSchedule {
  /** Minor units. */
  readonly platformFixed: bigint
  readonly platformBps: number
  readonly railFixed: bigint
  readonly handling: 'on_top' | 'deducted'
  readonly refundFeesOnReversal: boolean
}

export interface Fees {
  readonly ok: true
  readonly platform: bigint
  readonly rail: bigint
  readonly fee: bigint
  readonly recipient: bigint
  readonly total: bigint
}

export type FeesOutcome =
  Fees | { readonly ok: false; readonly reason: 'fee_exceeds_amount' | 'overflow' }

/** @param amount positive, minor units */
export function feesFor(amount: bigint, schedule: FeeSchedule): FeesOutcome {
  assert(amount > 0n && fitsInt64(amount), 'a payout has a positive int64 amount')
  const platform = schedule.platformFixed + roundUp(amount * BigInt(schedule.platformBps), 10_000n)
  const rail = schedule.railFixed
  const fee = platform + rail
  if (schedule.handling === 'deducted') {
    if (fee >= amount) return { ok: false, reason: 'fee_exceeds_amount' }
    return { ok: true, platform, rail, fee, recipient: amount - fee, total: amount }
  }
  const total = amount + fee
  if (!fitsInt64(total)) return { ok: false, reason: 'overflow' }
  return { ok: true, platform, rail, fee, recipient: amount, total }
}
