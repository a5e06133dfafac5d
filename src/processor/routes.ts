/**
 * Payout routes: which country and currency can be reached, and what it costs.
 *
 * R1. A route's fees are frozen on each payout when it is accepted; a change here reaches only later ones.
 */
import type { FeeSchedule } from '../money/fees.js'
import type { Currency } from '../money/currency.js'

export interface Route {
  readonly country: string
  readonly currency: string
  readonly fees: FeeSchedule
}

const onTop = (platformFixed: bigint, platformBps: number, railFixed: bigint): FeeSchedule => ({
  platformFixed,
  platformBps,
  railFixed,
  handling: 'on_top',
  refundFeesOnReversal: true,
})

/** Amounts in minor units: satang, dong, sen. */
const ROUTES: readonly Route[] = [
  { country: 'TH', currency: 'THB', fees: onTop(10_00n, 20, 5_00n) },
  { country: 'VN', currency: 'VND', fees: onTop(5_000n, 20, 3_300n) },
  { country: 'ID', currency: 'IDR', fees: onTop(2_500_00n, 20, 2_500_00n) },
]

export function routeTo(country: string, currency: Currency): Route | null {
  return ROUTES.find((r) => r.country === country && r.currency === currency) ?? null
}
