/**
 * Strict JSON parser: rejects what JSON.parse accepts and a payment must not.
 *
 * - Valid UTF-8 without a byte-order mark, nested at most JSON_DEPTH_MAX deep.
 * - No duplicate members: parsers disagree on which one counts.
 * - Numbers are plain integers: `1e2` and `100.0` are rejected, as no field needs them.
 * - No text holds NUL or a lone surrogate, and no member is named `__proto__`.
 * - No name has a backslash. V8 13 (Node 24) compares the spelling of an escaped name with names
 *   that it has read in its place, also of other callers: after `a\` it reads `a\u0062` as that.
 */
import { isUtf8 } from 'node:buffer'
import { JSON_DEPTH_MAX } from '../../src/base/constants.js'
import { accepted, invalid, refused, type Outcome } from '../../src/base/errors.js'
import { isCleanText } from '../../src/base/text.js'
import { jsonViolation } from './json_violation.js'

export function parseJson(bytes: Buffer): Outcome<unknown> {
  if (!isUtf8(bytes)) return invalid('', 'must be UTF-8')
  const text = bytes.toString('utf8')
  const outline = scan(text)
  const value = outline === undefined ? NOTHING : parsed(text)
  const isAccepted = outline !== undefined && value !== NOTHING && isStrict(value, outline)
  return isAccepted ? accepted(value) : refused('invalid_request', jsonViolation(text))
}

const NOTHING = Symbol('not JSON')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return NOTHING
  }
}

interface Outline {
  /** Members in the text: colons outside of strings. */
  readonly members: number
  /**
   * Whether a `\u` escape occurs; in valid UTF-8 only an escape can hide NUL or a lone surrogate.
   */
  readonly escapes: boolean
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const DOT = 0x2e
const COLON = 0x3a
const UPPER_E = 0x45
const LOWER_E = 0x65
const LOWER_U = 0x75
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/**
 * Scans the text once. Undefined when it is too deep, or holds a number that is not a plain integer
 * or a forbidden member.
 */
function scan(text: string): Outline | undefined {
  let members = 0
  let depth = 0
  let escapes = false
  let hasBackslash = false
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        hasBackslash = false
        for (at++; at < text.length; at++) {
          const code = text.charCodeAt(at)
          if (code === QUOTE) break
          if (code !== BACKSLASH) continue
          at++
          escapes ||= text.charCodeAt(at) === LOWER_U
          hasBackslash ||= BACKSLASHES.some((form) => text.startsWith(form, at))
        }
        break
      case COLON:
        if (hasBackslash) return undefined
        members++
        break
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (++depth > JSON_DEPTH_MAX) return undefined
        break
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        depth--
        break
      case DOT:
        return undefined
      case LOWER_E:
      case UPPER_E:
        if (isDigit(text.charCodeAt(at - 1))) return undefined
    }
  }
  return { members, escapes }
}

/** Every escape of a backslash, without its own one. */
const BACKSLASHES = ['\\', 'u005c', 'u005C']

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** A duplicate member is counted twice in the text and once in the value. */
const isStrict = (value: unknown, { members, escapes }: Outline): boolean =>
  countMembers(value, escapes) === members

/** Members of the whole tree; NaN, which equals no count, when a text or name is forbidden. */
function countMembers(value: unknown, checkTexts: boolean): number {
  if (typeof value === 'string') return checkTexts && !isCleanText(value) ? Number.NaN : 0
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item, checkTexts)
    return count
  }
  // Makes no list of the members: it was a fifteenth of what a request allocates here.
  for (const name in value) {
    if (name === '__proto__' || (checkTexts && !isCleanText(name))) return Number.NaN
    count += 1 + countMembers((value as Record<string, unknown>)[name], checkTexts)
  }
  return count
}
