/**
 * Checks of texts. Lengths count code points, as documented for partners (gateway/README.md).
 */

/** The first comparison suffices for most texts: code points never exceed UTF-16 units. */
export const isWithin = (text: string, most: number): boolean =>
  text.length <= most || [...text].length <= most

/** With the `u` flag only a lone surrogate matches, not one of a pair. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

/** Without NUL and lone surrogates, which not every store preserves. */
export const isCleanText = (text: string): boolean =>
  !text.includes('\0') && !LONE_SURROGATE.test(text)

/** A replacement character for each NUL and lone surrogate. */
export const toCleanText = (text: string): string =>
  isCleanText(text)
    ? text
    : text.replaceAll('\0', '\ufffd').replaceAll(new RegExp(LONE_SURROGATE, 'gu'), '\ufffd')

/** Whether every text of a message passes, member names included. */
export function everyText(message: unknown, passes: (text: string) => boolean): boolean {
  if (typeof message === 'string') return passes(message)
  if (typeof message !== 'object' || message === null || Buffer.isBuffer(message)) return true
  if (Array.isArray(message)) return message.every((item) => everyText(item, passes))
  return Object.entries(message).every(
    ([name, member]) => passes(name) && everyText(member, passes),
  )
}

/**
 * An absolute http(s) URL without user or fragment. The webhook pool checks whether the target is
 * allowed.
 */
export function isWebhookUrl(text: string): boolean {
  if (!/^https?:\/\/[!-~]+$/.test(text) || !URL.canParse(text)) return false
  const { username, password, hash } = new URL(text)
  return username === '' && password === '' && hash === '' && !text.includes('#')
}
