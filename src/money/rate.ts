/**
 * Exchange rates as fractions.
 *
 * - A rate is the number of major units of one currency for one major unit of another, usually of a
 *   local currency for one US dollar. It is never a float.
 * - Amounts owed by a payer round up; amounts received by a partner round down.
 */
import { assert } from '../base/assert.js'
import { exponentOf, type Currency } from './currency.js'

/** numerator / denominator units of a currency for one unit, 1 USD by default. Both positive. */
export interface Rate {
  readonly numerator: bigint
  readonly denominator: bigint
}

const RATE_SHAPE = /^(0|[1-9][0-9]{0,11})(?:\.([0-9]{1,10}))?$/
const BPS = 10_000n
const CENTS = 100n

/** Parses decimal text such as `36.00`; undefined when it is malformed or zero. */
export function parseRate(text: string): Rate | undefined {
  const [, whole, fraction = ''] = RATE_SHAPE.exec(text) ?? []
  if (whole === undefined) return undefined
  const numerator = BigInt(whole + fraction)
  return numerator === 0n ? undefined : { numerator, denominator: 10n ** BigInt(fraction.length) }
}

/** Exact decimal text of a rate from parseRate or applySpread, whose denominators are 10^n. */
export function rateToText({ numerator, denominator }: Rate): string {
  const decimals = denominator.toString().length - 1
  const digits = numerator.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  return decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`
}

/** The difference between two rates in basis points of the first, rounded up. */
export function changeBps(before: Rate, after: Rate): bigint {
  const [old, now] = [before.numerator * after.denominator, after.numerator * before.denominator]
  return roundUp((now > old ? now - old : old - now) * BPS, old)
}

/** The customer's rate: `bps` basis points less local currency for one dollar. */
export function applySpread({ numerator, denominator }: Rate, bps: number): Rate {
  assert(Number.isInteger(bps) && bps >= 0 && bps < 10_000, 'a spread is below 100 %')
  return { numerator: numerator * (BPS - BigInt(bps)), denominator: denominator * BPS }
}

/** The least US cents that cover a local amount. */
export function centsFor(localMinor: bigint, currency: Currency, rate: Rate): bigint {
  const dividend = localMinor * CENTS * rate.denominator
  const divisor = rate.numerator * 10n ** BigInt(exponentOf(currency))
  return roundUp(dividend, divisor)
}

/**
 * Minor units of `to` for minor units of `from`, rounded down.
 * @param rate major units of `to` for one major unit of `from`
 */
export function convert(minor: bigint, from: Currency, to: Currency, rate: Rate): bigint {
  assert(minor >= 0n, 'an amount to convert is not negative')
  const dividend = minor * rate.numerator * 10n ** BigInt(exponentOf(to))
  return dividend / (rate.denominator * 10n ** BigInt(exponentOf(from)))
}

/** @param dividend not negative @param divisor positive */
export function roundUp(dividend: bigint, divisor: bigint): bigint {
  assert(dividend >= 0n && divisor > 0n, 'an amount to round up is not negative')
  return (dividend + divisor - 1n) / divisor
}
