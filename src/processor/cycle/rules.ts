/** The settings that decisions depend on, in the units that decisions use. */
import { SECOND } from '../../base/clock.js'
import type { Settings } from '../../settings/settings.js'
import { currencyOf, type Currency } from '../../money/currency.js'
import type { Caps } from '../../limits/usage.js'
import type { Corridor } from '../../qr/corridor.js'
import { createRailTable, sandboxRail, type RailTable } from '../../rails/rail_table.js'

/**
 * The least amount, in minor units, that needs a second operator; a currency without one needs it
 * at any amount.
 */
export type SecondOperatorRule = ReadonlyMap<Currency, bigint>

export interface Rules {
  readonly brand: string
  readonly sessionTtlMs: number
  readonly quoteTtlMs: number
  readonly intentTtlMs: number
  readonly railSubmitTtlMs: number
  readonly reviewTtlMs: number
  readonly duplicateWindowMs: number
  readonly spreadBps: number
  /** Requests of a key, for partners without a rate of their own. */
  readonly ratePerSecond: number
  /** A rate that is older is not used. Null if rates do not expire. */
  readonly rateMaxAgeMs: number | null
  readonly caps: Readonly<Record<Corridor, Caps>>
  readonly secondOperator: SecondOperatorRule | null
  readonly rails: RailTable
}

/** @param rails default: those without RAILS_FILE */
export function rulesOf(given: Settings, rails: RailTable = railsWithoutFile(given)): Rules {
  return {
    brand: given.BRAND,
    sessionTtlMs: given.SESSION_TTL_S * SECOND,
    quoteTtlMs: given.QUOTE_TTL_S * SECOND,
    intentTtlMs: given.INTENT_TTL_S * SECOND,
    railSubmitTtlMs: given.RAIL_SUBMIT_TTL_S * SECOND,
    reviewTtlMs: given.REVIEW_TTL_S * SECOND,
    duplicateWindowMs: given.DUPLICATE_SCAN_WINDOW_S * SECOND,
    spreadBps: given.SPREAD_BPS,
    ratePerSecond: given.RATE_LIMIT_PER_SECOND,
    rateMaxAgeMs: given.RATE_MAX_AGE_S === 0 ? null : given.RATE_MAX_AGE_S * SECOND,
    caps: capsOf(given),
    secondOperator: secondOperatorRule(given.SECOND_OPERATOR_FROM),
    rails,
  }
}

const railsWithoutFile = ({ ALLOW_SANDBOX_RAIL_IN_PRODUCTION: allowed }: Settings): RailTable =>
  createRailTable([sandboxRail(allowed === 'yes')])

function secondOperatorRule(entries: readonly string[]): SecondOperatorRule | null {
  const least = new Map<Currency, bigint>()
  for (const entry of entries) {
    const [code = '', amount = ''] = entry.split(':')
    const currency = currencyOf(code)
    if (currency === undefined || least.has(currency)) {
      throw new Error(`SECOND_OPERATOR_FROM: ${code} is no currency of ISO 4217, or named twice`)
    }
    least.set(currency, BigInt(amount))
  }
  return least.size === 0 ? null : least
}

function capsOf(given: Settings): Rules['caps'] {
  const satang = (baht: number): bigint => BigInt(baht) * 100n
  return {
    th_promptpay: {
      minimum: BigInt(given.TH_MINIMUM_SATANG),
      perTransaction: satang(given.TH_LIMIT_TRANSACTION_THB),
      perDay: satang(given.TH_LIMIT_DAY_THB),
      perMonth: satang(given.TH_LIMIT_MONTH_THB),
    },
    // The limits are set by law.
    vn_vietqr: {
      minimum: BigInt(given.VN_MINIMUM_VND),
      perTransaction: 5_000_000n,
      perDay: 10_000_000n,
      perMonth: 25_000_000n,
    },
  }
}
