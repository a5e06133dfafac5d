/**
 * In-memory hash index from 64-bit fingerprints to sequence numbers.
 *
 * One index finds the rows of the newest idempotency keys (cache/key_index); another finds each
 * user's latest intent (changes/user_intent_links). Callers choose the keys and almost every lookup
 * is of a new one, so a B-tree on disk would touch one page per key. With this index a lookup costs
 * no I/O, and rows are appended in commit order.
 *
 * Does not own: the rows (store), comparing the full key (cycle/needs).
 *
 * - No false negatives: an added key is always among the candidates of its fingerprint. Other keys
 *   can share the fingerprint; the caller compares the row.
 * - 12 bytes a slot, 16 to 24 bytes a key: one million keys take about 20 MB.
 * - A call grows at most one of 1,024 segments, so there is no long pause.
 * - An index is used either with `add` or with `replace`, which keeps one sequence per fingerprint.
 */

/** 64 bits of a key's digest. */
export interface Fingerprint64 {
  readonly high: number
  readonly low: number
}

export interface IdempotencyIndex {
  add(fingerprint: Fingerprint64, sequence: number): void
  /** Sequence numbers of the rows that can belong to this key; nearly always none or one. */
  candidates(fingerprint: Fingerprint64): readonly number[]
  /** @returns the replaced sequence; undefined when there was none */
  replace(fingerprint: Fingerprint64, sequence: number): number | undefined
  /** Entries of one of SEGMENTS with sequences up to `through`. */
  entriesIn(segment: number, through: number): readonly IndexEntry[]
  /** Removes them. */
  removeFrom(segment: number, through: number): void
  /** Removes these entries, as far as they are there. */
  removeEach(entries: readonly IndexEntry[]): void
  readonly size: number
  readonly bytes: number
}

export interface IndexEntry extends Fingerprint64 {
  readonly sequence: number
}

/** By the first ten bits of `high`. */
export const SEGMENTS = 1_024
const SLOT_WORDS = 3
const FIRST_SLOTS = 16
/** Load factor above which a segment grows: probe sequences get long. */
const FULL = 0.75
/** Slots per entry of a segment from which entries were removed. */
const SLACK = 2
const NONE: readonly number[] = []

interface Segment {
  /** Per slot: high, low, sequence + 1. The third word of an empty slot is 0. */
  words: Uint32Array
  used: number
}

export function createIdempotencyIndex(): IdempotencyIndex {
  const segments: Segment[] = Array.from({ length: SEGMENTS }, () => ({ words: NO_SLOT, used: 0 }))
  let size = 0

  const add = ({ high, low }: Fingerprint64, sequence: number): void => {
    const segment = segments[high >>> 22]!
    if (segment.used >= limitOf(segment)) grow(segment)
    put(segment, high, low, sequence + 1)
    size += 1
  }

  const remove = (segment: number, isGone: (entry: IndexEntry) => boolean): void => {
    const entries = entriesOf(segments[segment]!)
    const kept = entries.filter((entry) => !isGone(entry))
    const smaller = newSegment(Math.max(FIRST_SLOTS, Math.ceil(kept.length * SLACK)))
    for (const { high, low, sequence } of kept) put(smaller, high, low, sequence + 1)
    segments[segment] = smaller
    size -= entries.length - kept.length
  }

  return {
    add,
    replace: (fingerprint, sequence) => {
      const { words } = segments[fingerprint.high >>> 22]!
      const at = slotOf(words, fingerprint)
      const stored = words[at + 2]!
      if (stored === 0) {
        add(fingerprint, sequence)
        return undefined
      }
      words[at + 2] = sequence + 1
      return stored - 1
    },
    entriesIn: (segment, through) =>
      entriesOf(segments[segment]!).filter(({ sequence }) => sequence <= through),
    removeFrom: (segment, through) => remove(segment, ({ sequence }) => sequence <= through),
    removeEach: (entries) => {
      const gone = new Set(entries.map(({ sequence }) => sequence))
      for (const segment of new Set(entries.map(({ high }) => high >>> 22)))
        remove(segment, ({ sequence }) => gone.has(sequence))
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

/** An empty slot, of all segments without an entry. */
const NO_SLOT = new Uint32Array(SLOT_WORDS)

const limitOf = ({ words }: Segment): number =>
  words === NO_SLOT ? 0 : (words.length / SLOT_WORDS) * FULL

const newSegment = (slots: number): Segment => ({
  words: new Uint32Array(slots * SLOT_WORDS),
  used: 0,
})

function entriesOf({ words }: Segment): IndexEntry[] {
  const entries: IndexEntry[] = []
  for (let at = 0; at < words.length; at += SLOT_WORDS) {
    const stored = words[at + 2]!
    if (stored !== 0) entries.push({ high: words[at]!, low: words[at + 1]!, sequence: stored - 1 })
  }
  return entries
}

/** Offset of the slot with this fingerprint, or of the empty slot to put it in. */
function slotOf(words: Uint32Array, { high, low }: Fingerprint64): number {
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

/** Grows by half, so a segment is at least half full afterwards. */
function grow(segment: Segment): void {
  const old = segment.words
  const bigger = newSegment(Math.max(FIRST_SLOTS, Math.ceil((old.length / SLOT_WORDS) * 1.5)))
  for (let at = 0; at < old.length; at += SLOT_WORDS) {
    if (old[at + 2] !== 0) put(bigger, old[at]!, old[at + 1]!, old[at + 2]!)
  }
  segment.words = bigger.words
  segment.used = bigger.used
}

const FINGERPRINT_BYTES = 8
const decoded = Buffer.alloc(FINGERPRINT_BYTES)
/** A key is looked up and bound in one decision. */
let latest: { readonly rowKey: string; readonly fingerprint: Fingerprint64 } | undefined

/** The first 64 bits of a row key, which is a digest in base64url. */
export function fingerprintOf(rowKey: string): Fingerprint64 {
  if (latest?.rowKey !== rowKey) {
    decoded.write(rowKey, 0, FINGERPRINT_BYTES, 'base64url')
    const fingerprint = { high: decoded.readUInt32LE(0), low: decoded.readUInt32LE(4) }
    latest = { rowKey, fingerprint }
  }
  return latest.fingerprint
}

const WORD_BITS = 32n

/** As a signed integer of 64 bits, for a column. */
export const asInteger = ({ high, low }: Fingerprint64): bigint =>
  BigInt.asIntN(64, (BigInt(high) << WORD_BITS) | BigInt(low))

/** The stored form of fingerprints. */
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
