/**
 * Formats of texts inside bodies, by the name that schemas give them.
 *
 * Owns: which texts are integers and reachable addresses. Does not own: which are moments
 * (base/date_time), what they mean to a payment.
 *
 * - A regular expression goes first: JavaScript's own parsers take far more than the contract
 *   does.
 */
import { parseDateTime } from '../../src/base/date_time.js'

export const isDateTime = (text: string): boolean => parseDateTime(text) !== undefined

const INTEGER = /^(?:0|-?[1-9][0-9]{0,18})$/
const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)

/** A signed 64-bit integer in its one decimal text: no plus, no leading zero, no minus zero. */
export function isInt64(text: string): boolean {
  if (!INTEGER.test(text)) return false
  const value = BigInt(text)
  return value >= INT64_MIN && value <= INT64_MAX
}

export const isPositiveInt64 = (text: string): boolean => isInt64(text) && BigInt(text) > 0n

/**
 * An absolute http(s) address without a user or a fragment. Whether we may call it is asked
 * elsewhere.
 */
export function isWebhookUrl(text: string): boolean {
  if (!/^https?:\/\/[!-~]+$/.test(text) || !URL.canParse(text)) return false
  const { username, password, hash } = new URL(text)
  return username === '' && password === '' && hash === '' && !text.includes('#')
}
