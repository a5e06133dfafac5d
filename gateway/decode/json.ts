/**
 * Strict JSON: bytes in, a value that means one thing or nothing.
 *
 * Owns: what JSON.parse lets pass and a payment must not. Does not own: shapes (schemas,
 * decode/body).
 *
 * - UTF-8 without faults, no byte-order mark, nesting of at most JSON_DEPTH_MAX.
 * - No member comes twice: parsers disagree on which one counts.
 * - Numbers are plain integers: `1e2` and `100.0` are refused, as no field of ours needs them.
 * - No text holds NUL or half of a surrogate pair, and no member is called `__proto__`.
 * - No member is called `\`. Once V8 13 (Node 24) has read such a one, it takes every name that
 *   is written with an escape in its place for it, also those of other callers.
 */
import { isUtf8 } from 'node:buffer'
import { JSON_DEPTH_MAX } from '../../src/base/constants.js'
import { accepted, refused, type Outcome } from '../../src/base/errors.js'
import { isCleanText } from '../../src/base/text.js'

export function parseJson(bytes: Buffer): Outcome<unknown> {
  if (!isUtf8(bytes)) return INVALID
  const text = bytes.toString('utf8')
  const outline = scan(text)
  if (outline === undefined) return INVALID
  const value = parsed(text)
  if (value === NOTHING) return INVALID
  return isStrict(value, outline) ? accepted(value) : INVALID
}

const INVALID = refused('invalid_request')
const NOTHING = Symbol('not JSON')

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return NOTHING
  }
}

interface Outline {
  /** Members written, that is colons outside of strings. */
  readonly members: number
  /**
   * Whether a `\u` escape occurs; only such can hide NUL or half a surrogate pair in valid UTF-8.
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
 * One pass over the text. Undefined when it is too deep, holds a number that is not a plain integer
 * or a member that must not be read.
 */
function scan(text: string): Outline | undefined {
  let members = 0
  let depth = 0
  let escapes = false
  let isBackslash = false
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        isBackslash =
          text.charCodeAt(at + 1) === BACKSLASH &&
          LONE_BACKSLASH.some((form) => text.startsWith(form, at))
        for (at++; at < text.length; at++) {
          const code = text.charCodeAt(at)
          if (code === QUOTE) break
          if (code !== BACKSLASH) continue
          at++
          escapes ||= text.charCodeAt(at) === LOWER_U
        }
        break
      case COLON:
        if (isBackslash) return undefined
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

/** All that a name of one backslash can look like. */
const LONE_BACKSLASH = ['"\\\\"', '"\\u005c"', '"\\u005C"']

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/**
 * N2: a member that came twice was written twice and is kept once, so fewer are found than were
 * written.
 */
const isStrict = (value: unknown, { members, escapes }: Outline): boolean =>
  countMembers(value, escapes) === members

/** Members of the whole tree; NaN, which equals no count, when one of its texts breaks N4. */
function countMembers(value: unknown, checkTexts: boolean): number {
  if (typeof value === 'string') return checkTexts && !isCleanText(value) ? Number.NaN : 0
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item, checkTexts)
    return count
  }
  for (const [name, member] of Object.entries(value)) {
    if (name === '__proto__' || (checkTexts && !isCleanText(name))) return Number.NaN
    count += 1 + countMembers(member, checkTexts)
  }
  return count
}
