/**
 * Money: an amount in minor units and its currency.
 *
 * Owns: the int64 bounds, the wire form, the text form for people. Does not own: sums (ledger),
 * rates (money/rate), fees (money/fees).
 *
 * - Amounts are bigint in memory and decimal text on every wire. The only amount held as a `number`
 *   is the US cents of an intent.
 * - Only the ledger adds amounts, account by account, and an account has one currency.
 */
import { assert } from '../base/assert.js'
import { exponentOf, type Currency } from './currency.js'

export interface Money {
  readonly currency: Currency
  readonly minor: bigint
}

export const INT64_MAX = 9_223_372_036_854_775_807n
export const INT64_MIN = -9_223_372_036_854_775_808n

export const fitsInt64 = (value: bigint): boolean => value >= INT64_MIN && value <= INT64_MAX

export const money = (currency: Currency, minor: bigint): Money => ({ currency, minor })

const INT64_SHAPE = /^(?:0|-?[1-9][0-9]{0,18})$/

/** Parses canonical decimal text of an int64: no plus sign, no leading zero, no blank. */
export function parseInt64(text: string): bigint | undefined {
  if (!INT64_SHAPE.test(text)) return undefined
  const value = BigInt(text)
  return fitsInt64(value) ? value : undefined
}

export function parsePositiveInt64(text: string): bigint | undefined {
  const value = parseInt64(text)
  return value !== undefined && value > 0n ? value : undefined
}

export function toWire(minor: bigint): string {
  assert(fitsInt64(minor), 'an amount on a wire fits an int64')
  return minor.toString()
}

/** US cents as a number, as intents store them. */
export function usdCents(minor: bigint): number {
  assert(minor >= 0n && minor <= BigInt(Number.MAX_SAFE_INTEGER), 'cents are a safe integer')
  return Number(minor)
}

/** For people: `THB 1234.50`, `VND 125000`. */
export function formatMajor({ currency, minor }: Money): string {
  const exponent = exponentOf(currency)
  const digits = (minor < 0n ? -minor : minor).toString().padStart(exponent + 1, '0')
  const whole = digits.slice(0, digits.length - exponent)
  const fraction = exponent === 0 ? '' : `.${digits.slice(-exponent)}`
  return `${currency} ${minor < 0n ? '-' : ''}${whole}${fraction}`
}

/** Whole units of the currency; the fraction is truncated. */
export const toWholeUnits = ({ currency, minor }: Money): string =>
  (minor / 10n ** BigInt(exponentOf(currency))).toString()
