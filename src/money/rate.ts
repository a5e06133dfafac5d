/**
 * Exchange rates as fractions.
 *
 * - A rate says how many major units of one currency a major unit of another is, mostly of a
 *   local currency for a US dollar; it is never a float.
 * - Every rounding is named: what a payer owes rounds up, what a partner receives rounds down.
 */
import { assert } from '../base/assert.js'
import { exponentOf, type Currency } from './currency.js'

/** One unit (1 USD, unless said otherwise) = numerator / denominator. Both positive. */
export interface Rate {
  readonly numerator: bigint
  readonly denominator: bigint
}

const RATE_SHAPE = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,10}))?$/
const BPS = 10_000n
const CENTS = 100n

/** Decimal text such as `36.00`; undefined when it is not one or is zero. */
export function parseRate(text: string): Rate | undefined {
  const [, whole, fraction = ''] = RATE_SHAPE.exec(text) ?? []
  if (whole === undefined) return undefined
  const numerator = BigInt(whole + fraction)
  return numerator === 0n ? undefined : { numerator, denominator: 10n ** BigInt(fraction.length) }
}

/** Exact decimal text of a rate of parseRate or applySpread: the denominators are powers of ten. */
export function rateToText({ numerator, denominator }: Rate): string {
  const places = denominator.toString().length - 1
  const digits = numerator.toString().padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  return places === 0 ? whole : `${whole}.${digits.slice(-places)}`
}

/** By how much the second rate is off the first one, basis points, rounded up. */
export function changeBps(before: Rate, after: Rate): bigint {
  const [old, now] = [before.numerator * after.denominator, after.numerator * before.denominator]
  return roundUp((now > old ? now - old : old - now) * BPS, old)
}

/** The customer's rate: `bps` basis points less of the local currency for a dollar. */
export function applySpread({ numerator, denominator }: Rate, bps: number): Rate {
  assert(Number.isInteger(bps) && bps >= 0 && bps < 10_000, 'a spread is below 100 %')
  return { numerator: numerator * (BPS - BigInt(bps)), denominator: denominator * BPS }
}

/** US cents that pay for a local amount, rounded up: the least that covers it. */
export function centsFor(localMinor: bigint, currency: Currency, rate: Rate): bigint {
  const dividend = localMinor * CENTS * rate.denominator
  const divisor = rate.numerator * 10n ** BigInt(exponentOf(currency))
  return roundUp(dividend, divisor)
}

/**
 * Minor units of `to` for minor units of `from`, rounded down.
 * @param rate major units of `to` that one major unit of `from` is
 */
export function convert(minor: bigint, from: Currency, to: Currency, rate: Rate): bigint {
  assert(minor >= 0n, 'rounding down is for amounts that are received')
  const dividend = minor * rate.numerator * 10n ** BigInt(exponentOf(to))
  return dividend / (rate.denominator * 10n ** BigInt(exponentOf(from)))
}

/** @param dividend not negative @param divisor positive */
export function roundUp(dividend: bigint, divisor: bigint): bigint {
  assert(dividend >= 0n && divisor > 0n, 'rounding up is for amounts that are owed')
  return (dividend + divisor - 1n) / divisor
}
