/**
 * The exchange rates that quotes and conversions use.
 *
 * Owns: the default rates, the maximum age of a rate. Does not own: setting rates
 * (processor/commands/operators/rate_set), the arithmetic (money/rate).
 *
 * - A rate set by operators is of one environment, and replaces the default.
 * - Defaults apply to the sandbox only: production has no rate until operators set one.
 */
import { plus, type Instant } from '../base/clock.js'
import { environmentOf, type Environment, type TenantId } from '../base/ids.js'
import { USD, type Currency } from '../money/currency.js'
import type { Rate } from '../money/rate.js'
import type { CorridorCurrency } from '../qr/corridor.js'

/** A rate that operators set. */
export interface SetRate {
  readonly rate: Rate
  readonly setAt: Instant
  /** Null while it is set. */
  readonly removedAt: Instant | null
  /** When it was set cannot be read. */
  readonly isCorrupt?: true
}

/** The key of a rate in memory and in a commit, e.g. `production THB`. */
export type RateKey = `${Environment} ${Currency}`

export const rateKey = (environment: Environment, currency: Currency): RateKey =>
  `${environment} ${currency}`

/** The rates that are known now, and the rule of their age. */
export interface RatesNow {
  readonly memory: { readonly rates: ReadonlyMap<RateKey, SetRate> }
  /** Null means that rates do not age. */
  readonly rules: { readonly rateMaxAgeMs: number | null }
  readonly now: Instant
}

/** Units per US dollar. A corridor whose currency has none does not compile. */
const OF_CORRIDORS: Readonly<Record<CorridorCurrency, Rate>> = {
  THB: { numerator: 36_00n, denominator: 100n },
  VND: { numerator: 26_500n, denominator: 1n },
}

export const DEFAULT_RATES: ReadonlyMap<Currency, Rate> = new Map(
  Object.entries(OF_CORRIDORS).map(([currency, rate]) => [currency as Currency, rate]),
)

/** Units of `currency` per US dollar for this tenant; null when there is no rate or it is stale. */
export function usableRate(ctx: RatesNow, tenant: TenantId, currency: Currency): Rate | null {
  const environment = environmentOf(tenant)
  const known = ctx.memory.rates.get(rateKey(environment, currency))
  if (known?.removedAt === null) return isTooOld(ctx, known) ? null : known.rate
  if (environment === 'production') return null
  return DEFAULT_RATES.get(currency) ?? null
}

export function isTooOld({ rules, now }: RatesNow, { setAt, isCorrupt }: SetRate): boolean {
  const { rateMaxAgeMs } = rules
  if (isCorrupt) return true
  return rateMaxAgeMs !== null && now >= plus(setAt, rateMaxAgeMs)
}

/** Major units of `to` for one of `from`, crossed over the dollar; null when a rate is missing. */
export function rateBetween(
  ctx: RatesNow,
  tenant: TenantId,
  from: Currency,
  to: Currency,
): Rate | null {
  const ofFrom = from === USD ? ONE : usableRate(ctx, tenant, from)
  const ofTo = to === USD ? ONE : usableRate(ctx, tenant, to)
  if (ofFrom === null || ofTo === null) return null
  return {
    numerator: ofTo.numerator * ofFrom.denominator,
    denominator: ofTo.denominator * ofFrom.numerator,
  }
}

const ONE: Rate = { numerator: 1n, denominator: 1n }

export const isSet = ({ removedAt }: SetRate): boolean => removedAt === null
