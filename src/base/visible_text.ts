/** Text whose characters are all seen in a terminal, and the escapes of those that are not. */

/**
 * Control and format characters (bidirectional ones too), line and paragraph separators, lone
 * surrogates: in a terminal they can change how other text is shown.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u
const INVISIBLE_ALL = new RegExp(INVISIBLE, 'gu')

export const isVisibleText = (text: string): boolean => !INVISIBLE.test(text)

/** What `isVisibleText` demands, as a predicate. */
export const VISIBLE_TEXT_RULE = 'must be text without control and format characters'

/** Each such character as `\u202e`, `\u{e0001}` beyond U+FFFF. */
export const toVisibleText = (text: string): string =>
  text.replace(INVISIBLE_ALL, (character) => {
    const code = character.codePointAt(0)!.toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })

/** The same JSON value; no such character is in the text. */
export const toVisibleJson = (json: string): string =>
  json.replace(INVISIBLE_ALL, (character) =>
    Array.from({ length: character.length }, (_, i) => {
      return `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
    }).join(''),
  )
