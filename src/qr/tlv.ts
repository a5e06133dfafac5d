/**
 * EMVCo data objects: two digits of id, two digits of length, then a value of that many characters.
 *
 * Owns: splitting a text into objects. Does not own: the meaning of ids, which values are
 * templates.
 *
 * - Characters are Unicode code points. The text has no lone surrogate: `read` rejects those
 *   before.
 * - Strict: objects cover the text from its first to its last character, or it is malformed.
 * - No object is empty and no id is repeated, so a result has at most 100 objects.
 * - Linear time. Values are not parsed recursively: the caller walks a template in another call.
 */
import { found, rejected, type QrReason, type Step } from './reasons.js'

export interface Objects {
  get(id: string): string | undefined
  has(id: string): boolean
  keys(): Iterable<string>
}

export interface Walked {
  /** In text order. */
  readonly objects: Objects
  /** The id of the last object; empty when there is none. */
  readonly last: string
}

/** All objects of the text. An empty text has none. */
export function walk(text: string): Step<Walked> {
  const objects = new Map<string, string>()
  let last = ''
  for (let at = 0; at < text.length;) {
    const object = objectAt(text, at)
    if (typeof object === 'string') return rejected(object)
    if (objects.has(object.id)) return rejected('tlv_duplicate_tag')
    objects.set(object.id, object.value)
    last = object.id
    at = object.end
  }
  return found({ objects, last })
}

/** The first object with this id in arbitrary text; undefined after malformed data. */
export function peek(text: string, id: string): string | undefined {
  for (let at = 0; at < text.length;) {
    const object = objectAt(text, at)
    if (typeof object === 'string') return undefined
    if (object.id === id) return object.value
    at = object.end
  }
  return undefined
}

type Fault = Extract<QrReason, 'tlv_malformed' | 'tlv_length_zero' | 'tlv_truncated'>
interface DataObject {
  readonly id: string
  readonly value: string
  readonly end: number
}

const HEADER = 4
const ZERO = 0x30

function objectAt(text: string, at: number): DataObject | Fault {
  const start = at + HEADER
  if (start > text.length) return 'tlv_truncated'
  if (!isDigit(text, at) || !isDigit(text, at + 1)) return 'tlv_malformed'
  if (!isDigit(text, at + 2) || !isDigit(text, at + 3)) return 'tlv_malformed'

  const length = (text.charCodeAt(at + 2) - ZERO) * 10 + (text.charCodeAt(at + 3) - ZERO)
  if (length === 0) return 'tlv_length_zero'
  const end = skip(text, start, length)
  if (end === undefined) return 'tlv_truncated'
  return { id: text.slice(at, at + 2), value: text.slice(start, end), end }
}

/** Number() and parseInt() accept blanks, signs and more; the standard does not. */
function isDigit(text: string, at: number): boolean {
  const digit = text.charCodeAt(at) - ZERO
  return digit >= 0 && digit <= 9
}

/** The index after `count` code points; undefined when the text ends before. */
function skip(text: string, from: number, count: number): number | undefined {
  let at = from
  for (let left = count; left > 0; left--) {
    if (at >= text.length) return undefined
    at += isHighSurrogate(text.charCodeAt(at)) ? 2 : 1
  }
  return at
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
