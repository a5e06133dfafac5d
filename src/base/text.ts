/**
 * Checks of texts. Lengths count code points, as documented for partners (gateway/guide).
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

/** What `isCleanText` demands, as a predicate. */
export const CLEAN_TEXT_RULE = 'must be Unicode text without NUL'

/**
 * The path to the first text of a message that does not pass, member names included; undefined when
 * all pass.
 */
export function pathToText(
  message: unknown,
  fails: (text: string) => boolean,
  path: readonly string[] = [],
): readonly string[] | undefined {
  if (typeof message === 'string') return fails(message) ? path : undefined
  if (typeof message !== 'object' || message === null || Buffer.isBuffer(message)) return undefined
  for (const [name, member] of Object.entries(message)) {
    const at = [...path, name]
    const found = fails(name) ? at : pathToText(member, fails, at)
    if (found !== undefined) return found
  }
  return undefined
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
