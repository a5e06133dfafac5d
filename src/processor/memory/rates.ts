/**
 * Rates as they may be sold at now.
 *
 * Owns: whether a rate is too old. Does not own: setting rates (commands/rate_set), the arithmetic
 * (money/rate).
 */
import { plus } from '../../base/clock.js'
import { USD, type Currency } from '../../money/currency.js'
import type { Rate } from '../../money/rate.js'
import type { Desk } from '../cycle/command.js'

/** What an operator set for a dollar, unless it is too old; null when there is none to sell at. */
export function usableRate({ memory, rules, now }: Desk, currency: Currency): Rate | null {
  const known = memory.rates.get(currency)
  if (known === undefined) return null
  const { rateMaxAgeMs } = rules
  const isStale = rateMaxAgeMs !== null && now >= plus(known.setAt, rateMaxAgeMs)
  return isStale ? null : known.rate
}

/** Major units of `to` for one of `from`, by way of the dollar; null when either has no rate. */
export function rateBetween(desk: Desk, from: Currency, to: Currency): Rate | null {
  const ofFrom = from === USD ? ONE : usableRate(desk, from)
  const ofTo = to === USD ? ONE : usableRate(desk, to)
  if (ofFrom === null || ofTo === null) return null
  return {
    numerator: ofTo.numerator * ofFrom.denominator,
    denominator: ofTo.denominator * ofFrom.numerator,
  }
}

const ONE: Rate = { numerator: 1n, denominator: 1n }
