/**
 * Where the row of an idempotency key lies, for every key that was ever bound; and in an index of
 * its own, which intent of a user is the last (user_intent_links).
 *
 * Keys are chosen by callers, so an index on disk would touch a page of its own for each new key;
 * and nearly every lookup is of a key that is not there. Here a lookup is memory only, and the rows
 * are appended in the order of commits.
 *
 * Owns: fingerprint → sequence number. Does not own: the rows (store), or whether a row is of the
 * very same key (needs).
 *
 * Size: 12 bytes a slot, 16 to 24 bytes a key; a million keys are some 20 MB.
 *
 * - A key that was added is always among the candidates of its fingerprint. Others may be too:
 *   the row decides.
 * - No call does more than its own segment's work; growing needs no pause.
 * - `replace` keeps one sequence a fingerprint. An index is used with it, or with `add`.
 */

/** 64 bits of a key's digest. */
export interface Fingerprint64 {
  readonly high: number
  readonly low: number
}

export interface IdempotencyIndex {
  add(fingerprint: Fingerprint64, sequence: number): void
  /** Sequence numbers of the rows that may be of this key; nearly always none or one. */
  candidates(fingerprint: Fingerprint64): readonly number[]
  /** Puts it in the place of the one that was there and returns that; undefined: none was. */
  replace(fingerprint: Fingerprint64, sequence: number): number | undefined
  readonly size: number
  readonly bytes: number
}

const SEGMENTS = 1_024
const SLOT_WORDS = 3
const FIRST_SLOTS = 16
/** Above it, probing gets long. */
const FULL = 0.75
const NONE: readonly number[] = []

interface Segment {
  /** high, low, sequence + 1 of each slot; the last is 0 in an empty one. */
  words: Uint32Array
  used: number
}

export function createIdempotencyIndex(): IdempotencyIndex {
  const segments: Segment[] = Array.from({ length: SEGMENTS }, () => newSegment(FIRST_SLOTS))
  let size = 0

  const add = ({ high, low }: Fingerprint64, sequence: number): void => {
    const segment = segments[high >>> 22]!
    if (segment.used >= (segment.words.length / SLOT_WORDS) * FULL) grow(segment)
    put(segment, high, low, sequence + 1)
    size += 1
  }

  return {
    add,
    replace: (fingerprint, sequence) => {
      const { words } = segments[fingerprint.high >>> 22]!
      const at = placeOf(words, fingerprint)
      const stored = words[at + 2]!
      if (stored === 0) {
        add(fingerprint, sequence)
        return undefined
      }
      words[at + 2] = sequence + 1
      return stored - 1
    },
    candidates: ({ high, low }) => {
      const { words } = segments[high >>> 22]!
      const slots = words.length / SLOT_WORDS
      let found: number[] | null = null
      for (let slot = (low >>> 0) % slots; ; slot = slot + 1 === slots ? 0 : slot + 1) {
        const at = slot * SLOT_WORDS
        const stored = words[at + 2]!
        if (stored === 0) return found ?? NONE
        if (words[at] === high >>> 0 && words[at + 1] === low >>> 0) (found ??= []).push(stored - 1)
      }
    },
    get size() {
      return size
    },
    get bytes() {
      return segments.reduce((sum, { words }) => sum + words.byteLength, 0)
    },
  }
}

const newSegment = (slots: number): Segment => ({
  words: new Uint32Array(slots * SLOT_WORDS),
  used: 0,
})

/** Of the slot with this print, or of the empty one where it is to be. */
function placeOf(words: Uint32Array, { high, low }: Fingerprint64): number {
  const slots = words.length / SLOT_WORDS
  for (let slot = (low >>> 0) % slots; ; slot = slot + 1 === slots ? 0 : slot + 1) {
    const at = slot * SLOT_WORDS
    if (words[at + 2] === 0) return at
    if (words[at] === high >>> 0 && words[at + 1] === low >>> 0) return at
  }
}

function put(segment: Segment, high: number, low: number, stored: number): void {
  const { words } = segment
  const slots = words.length / SLOT_WORDS
  let slot = (low >>> 0) % slots
  while (words[slot * SLOT_WORDS + 2] !== 0) slot = slot + 1 === slots ? 0 : slot + 1
  const at = slot * SLOT_WORDS
  words[at] = high
  words[at + 1] = low
  words[at + 2] = stored
  segment.used += 1
}

/** By half, so that a table is never more than half empty after it. */
function grow(segment: Segment): void {
  const old = segment.words
  const bigger = newSegment(Math.ceil((old.length / SLOT_WORDS) * 1.5))
  for (let at = 0; at < old.length; at += SLOT_WORDS) {
    if (old[at + 2] !== 0) put(bigger, old[at]!, old[at + 1]!, old[at + 2]!)
  }
  segment.words = bigger.words
  segment.used = bigger.used
}

const FINGERPRINT_BYTES = 8
const decoded = Buffer.alloc(FINGERPRINT_BYTES)

/** The print of a row key, which is itself the text of a digest (base64url). */
export function fingerprintOf(rowKey: string): Fingerprint64 {
  decoded.write(rowKey, 0, FINGERPRINT_BYTES, 'base64url')
  return { high: decoded.readUInt32LE(0), low: decoded.readUInt32LE(4) }
}

/** How prints lie on disk. */
export function packedFingerprints(fingerprints: readonly Fingerprint64[]): Buffer {
  const bytes = Buffer.allocUnsafe(fingerprints.length * FINGERPRINT_BYTES)
  for (const [i, { high, low }] of fingerprints.entries()) {
    bytes.writeUInt32LE(high, i * FINGERPRINT_BYTES)
    bytes.writeUInt32LE(low, i * FINGERPRINT_BYTES + 4)
  }
  return bytes
}

export function fingerprintsIn(bytes: Buffer): Fingerprint64[] {
  return Array.from({ length: bytes.length / FINGERPRINT_BYTES }, (_, i) => ({
    high: bytes.readUInt32LE(i * FINGERPRINT_BYTES),
    low: bytes.readUInt32LE(i * FINGERPRINT_BYTES + 4),
  }))
}
