/**
 * Amounts in major units with their currency, as operators type and read them.
 *
 * - More decimals than the currency has are rejected, never rounded.
 */
import { currencyOf, exponentOf, type Currency } from '../../money/currency.js'
import { fitsInt64, formatMajor, money, type Money } from '../../money/money.js'

/**
 * `1000`, `1000.5`, `1,000.50` → minor units; undefined unless it is a positive amount.
 *
 * - Commas are read only with all decimals, as amounts are printed: in many countries `1,000` is
 *   one with three decimals, and `0,500` a half.
 */
export function parseMajor(text: string, currency: Currency): bigint | undefined {
  const exponent = exponentOf(currency)
  const shape = /^([0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.([0-9]+))?$/.exec(text)
  const [, whole, fraction = ''] = shape ?? []
  if (whole === undefined || fraction.length > exponent) return undefined
  if (whole.includes(',') && fraction.length !== exponent) return undefined
  const minor = BigInt(whole.replaceAll(',', '') + fraction.padEnd(exponent, '0'))
  return minor > 0n && fitsInt64(minor) ? minor : undefined
}

/** How an amount may be typed: `1000.50 or 1,000.50`, `1000 or 1,000`. */
export function amountForms(currency: Currency): string {
  const decimals = '500'.slice(0, exponentOf(currency))
  return ['1000', '1,000'].map((whole) => [whole, decimals].filter(Boolean).join('.')).join(' or ')
}

/** `USD 10,000,000.00`, `VND 1,000,000`. */
export function formatAmount(amount: Money): string {
  const [whole = '', fraction] = formatMajor(amount).split('.')
  const grouped = whole.replace(/[0-9](?=(?:[0-9]{3})+$)/g, '$&,')
  return fraction === undefined ? grouped : `${grouped}.${fraction}`
}

/** `1000.50`, `125000`: for files that programs read. */
export function plainAmount(code: string, minor: bigint): string {
  const currency = currencyOf(code)
  return currency === undefined
    ? minor.toString()
    : formatMajor(money(currency, minor)).slice(currency.length + 1)
}

/** The same for wire values: a currency code and minor units as text. */
export function formatWireAmount(code: string, minor: string): string {
  const currency = currencyOf(code)
  return currency === undefined ? `${code} ${minor}` : formatAmount(money(currency, BigInt(minor)))
}
