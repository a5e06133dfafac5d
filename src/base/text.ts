/**
 * What texts may hold, and their lengths. Lengths count code points, as partners are promised
 * (gateway/README.md).
 */

/** A text of at most as many UTF-16 units has no more code points. */
export const isWithin = (text: string, most: number): boolean =>
  text.length <= most || [...text].length <= most

/**
 * With the `u` flag a surrogate of a pair is no character of its own, so only a lone one matches.
 */
const LONE_SURROGATE = /[\ud800-\udfff]/u

/** Neither NUL nor half of a surrogate pair: not every store keeps them as they are. */
export const isCleanText = (text: string): boolean =>
  !text.includes('\0') && !LONE_SURROGATE.test(text)

/** Whether each text of a message passes, names of members included. */
export function everyText(message: unknown, passes: (text: string) => boolean): boolean {
  if (typeof message === 'string') return passes(message)
  if (typeof message !== 'object' || message === null || Buffer.isBuffer(message)) return true
  if (Array.isArray(message)) return message.every((item) => everyText(item, passes))
  return Object.entries(message).every(
    ([name, member]) => passes(name) && everyText(member, passes),
  )
}
