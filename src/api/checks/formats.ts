/**
 * String formats that schemas use: date-time, 64-bit integers, webhook URLs.
 *
 * - A regular expression comes first: JavaScript's parsers accept far more than the contract.
 */
export { isDateTime } from '../../base/date_time.js'
export { isWebhookUrl } from '../../base/text.js'

const INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/
const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

/** A signed 64-bit integer in canonical decimal form: no plus sign, leading zero or minus zero. */
export function isInt64(text: string): boolean {
  if (!INTEGER.test(text)) return false
  const value = BigInt(text)
  return value >= INT64_MIN && value <= INT64_MAX
}

export const isPositiveInt64 = (text: string): boolean => isInt64(text) && BigInt(text) > 0n
