/**
 * The amount in a QR code, parsed exactly into minor units.
 *
 * - Never rounded or truncated: more decimals than the currency has are rejected.
 * - Zero is rejected; it does not mean "ask the payer".
 */
import { found, rejected, type Step } from './reasons.js'

const LENGTH_MAX = 13
/** A point without decimals is allowed; one without whole digits is not. */
const AMOUNT = /^([0-9]+)(?:\.([0-9]*))?$/

/** Minor units of a currency with this many decimals. */
export function readAmount(text: string, exponent: number): Step<bigint> {
  const parts = text.length <= LENGTH_MAX ? AMOUNT.exec(text) : null
  if (parts === null) return rejected('amount_malformed')
  const [, whole = '', fraction = ''] = parts
  if (fraction.length > exponent) return rejected('amount_decimals')
  const minor = BigInt(whole + fraction.padEnd(exponent, '0'))
  return minor > 0n ? found(minor) : rejected('amount_zero')
}
