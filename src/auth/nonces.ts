/**
 * The nonce table: fingerprints of the nonces used within the window.
 *
 * Owns: inserting and expiring fingerprints. Does not own: their rows on disk (store), when a nonce
 * counts (only after its signature verified), the answer to a rejected request.
 *
 * Size: 8 bytes per slot, at most 16 per nonce (a segment grows to 10 to 16): six million nonces
 * take 60 to 96 MB.
 *
 * - A fingerprint is rejected for at least `windowMs`, and under steady traffic for at most one
 *   tick (`windowMs` / 450) longer.
 * - Expiry uses accumulated time, not the wall clock: between two calls at most STEP_TICKS pass,
 *   and none while the clock shows less than before. A clock set forward therefore expires nothing
 *   early; a clock set back and a pause without calls extend the window. After a step back by more
 *   than the window, time continues from the new clock.
 * - The table holds at most `maxEntries`. A full table rejects every nonce rather than expire one
 *   early; see `isFull`.
 * - No call does more than one segment's work, 1/1,024 of the table, so growth and expiry cause no
 *   pause.
 */
import { NONCE_WINDOW_MS } from '../base/constants.js'
import { SECOND, type Instant } from '../base/clock.js'
import {
  createFingerprinter,
  FINGERPRINT_BYTES,
  newFingerprint,
  readFingerprint,
  type Fingerprint,
  type Fingerprinter,
} from './fingerprint.js'

/**
 * Retention of a nonce, in memory and on disk. A timestamp from the future is accepted for the
 * whole window; the margin covers the time a request waits between the gateway's clock and this
 * table.
 */
export const NONCE_KEPT_MS = NONCE_WINDOW_MS + 30 * SECOND

/** 25,000/s over the whole window, more than one processor accepts. At most 256 MB. */
const ENTRIES_MAX = 16_000_000

export interface NonceTable {
  readonly fingerprint: Fingerprinter
  /** Inserts it. False when it is there already, or when the table is full. */
  add(fingerprint: Fingerprint, now: Instant): boolean
  /** Loads the stored fingerprints of one commit, 8 bytes each; commits in order. */
  load(fingerprints: Buffer, at: Instant): void
  /** The caller rejects requests as overloaded, before `add` rejects valid ones. */
  isFull(now: Instant): boolean
  /** Epoch milliseconds of the oldest fingerprint held; infinite when there is none. */
  heldSince(): number
  /** Epoch milliseconds by which all expire; infinite for a window after a large step back. */
  heldUntil(): number
  /** Fingerprints held, including expired ones that are not swept yet. */
  readonly size: number
  readonly bytes: number
}

export interface NonceTableOptions {
  /** Secret and permanent; see auth/fingerprint. */
  readonly salt: Uint8Array
  readonly windowMs?: number
  readonly maxEntries?: number
}

/** The top 10 bits of a fingerprint select its segment. A slot stores the entry's time instead. */
const SEGMENTS = 1_024
const FINGERPRINT_BITS = 22
const FINGERPRINT_MASK = (1 << FINGERPRINT_BITS) - 1
/** Stamps are ticks modulo 1,023, plus 1; 0 marks an empty slot. */
const STAMPS = 1_023
/**
 * Stamps distinguish ages up to 1,022 ticks. After a sweep an entry is at most a window old, the
 * next sweep is due within SWEEP_TICKS, and a segment untouched for another window is emptied
 * whole: no age exceeds that.
 */
const WINDOW_TICKS = 450
const SWEEP_TICKS = 75
/** Less than the margin in NONCE_KEPT_MS: a jump of the clock consumes at most that margin. */
const STEP_TICKS = 15

/** A segment grows beyond this load factor, where linear probing gets slow. */
const FILL_MAX = 0.8
const FILL_AFTER_GROWTH = 0.5
const SLOTS_MIN = 16

/** An open-addressing table. Slot n is words 2n (stamp, high bits) and 2n + 1 (low bits). */
interface Segment {
  slots: Int32Array
  used: number
  /** Slots in use above which it grows. */
  limit: number
  /** From this tick on the next call first removes expired entries. */
  sweepAt: number
}

export function createNonceTable(options: NonceTableOptions): NonceTable {
  const { salt, windowMs = NONCE_KEPT_MS, maxEntries = ENTRIES_MAX } = options
  const tickMs = windowMs / WINDOW_TICKS
  const stepMs = STEP_TICKS * tickMs
  const segments = firstSegments()
  const loaded = newFingerprint()
  /** The earliest clock reading of each tick in the window, indexed by tick modulo its length. */
  const clocks = new Float64Array(WINDOW_TICKS + 1).fill(Number.POSITIVE_INFINITY)
  let latest = Number.NEGATIVE_INFINITY
  /** When the clock last went back by more than the window; infinite when it never did. */
  let setBackAt = Number.POSITIVE_INFINITY
  /** Accumulated time. */
  let elapsedMs = 0
  let tick = 0
  let cursor = 0
  let size = 0
  let bytes = 0

  const advance = (now: Instant): void => {
    if (now === latest) return
    const ahead = now - latest
    if (ahead < -windowMs) setBackAt = tick
    if (ahead > 0 || ahead < -windowMs) latest = now
    if (ahead > 0) elapsedMs += Math.min(ahead, stepMs)
    const before = tick
    tick = Math.floor(elapsedMs / tickMs)
    for (let passed = before + 1; passed <= tick; passed++) {
      clocks[passed % clocks.length] = Number.POSITIVE_INFINITY
    }
    const slot = tick % clocks.length
    clocks[slot] = Math.min(clocks[slot] as number, now)
  }

  /** While the table is full nothing is added, so each call here sweeps one segment. */
  const isFull = (now: Instant): boolean => {
    advance(now)
    if (size < maxEntries) return false
    sweptSegment(cursor)
    cursor = (cursor + 1) % SEGMENTS
    return size >= maxEntries
  }

  const insert = (high: number, low: number): boolean => {
    const segment = sweptSegment(high >>> FINGERPRINT_BITS)
    const slot = slotOf(segment.slots, high, low)
    const word = segment.slots[slot] as number
    if (word !== 0 && isLive(word, tick)) return false
    segment.slots[slot] = stamped(high, tick)
    segment.slots[slot + 1] = low
    if (word === 0) {
      size += 1
      segment.used += 1
      if (segment.used > segment.limit) rebuild(segment)
    }
    return true
  }

  const sweptSegment = (index: number): Segment => {
    const segment = segments[index] as Segment
    if (tick >= segment.sweepAt) {
      rebuild(segment)
      segment.sweepAt = nextSweep(index, tick)
    }
    return segment
  }

  const rebuild = (segment: Segment): void => {
    size -= segment.used
    bytes -= segment.slots.byteLength
    refill(segment, tick)
    size += segment.used
    bytes += segment.slots.byteLength
  }

  return {
    fingerprint: createFingerprinter(salt),
    add(fingerprint, now) {
      return !isFull(now) && insert(fingerprint.high, fingerprint.low)
    },
    load(fingerprints, at) {
      advance(at)
      for (let offset = 0; offset < fingerprints.length; offset += FINGERPRINT_BYTES) {
        readFingerprint(fingerprints, offset, loaded)
        insert(loaded.high, loaded.low)
      }
    },
    isFull,
    heldSince: () => Math.min(...clocks),
    heldUntil: () =>
      tick - setBackAt > WINDOW_TICKS ? latest + windowMs : Number.POSITIVE_INFINITY,
    get size() {
      return size
    },
    get bytes() {
      return bytes
    },
  }
}

/** A segment's first insertion sweeps it, which makes its slots. */
const NO_SLOTS = new Int32Array(0)

const firstSegments = (): Segment[] =>
  Array.from({ length: SEGMENTS }, () => ({ slots: NO_SLOTS, used: 0, limit: 0, sweepAt: 0 }))

/** Sweeps are staggered by segment. */
function nextSweep(index: number, tick: number): number {
  const phase = Math.floor((index * SWEEP_TICKS) / SEGMENTS)
  return tick + SWEEP_TICKS - ((tick + phase) % SWEEP_TICKS)
}

/** Rehashes live entries into a table of the right size and drops expired ones. */
function refill(segment: Segment, tick: number): void {
  const old = segment.slots
  const untouchedSince = tick - segment.sweepAt
  const allExpired = untouchedSince > WINDOW_TICKS
  let live = 0
  for (let slot = 0; slot < old.length && !allExpired; slot += 2) {
    if (isLive(old[slot] as number, tick)) live += 1
  }
  const count = Math.max(SLOTS_MIN, Math.ceil(live / FILL_AFTER_GROWTH))
  const slots = new Int32Array(count * 2)
  for (let slot = 0; slot < old.length && live > 0; slot += 2) {
    const word = old[slot] as number
    if (!isLive(word, tick)) continue
    const low = old[slot + 1] as number
    const free = slotOf(slots, word, low)
    slots[free] = word
    slots[free + 1] = low
  }
  segment.slots = slots
  segment.used = live
  segment.limit = Math.floor(count * FILL_MAX)
}

/** The slot with this fingerprint, or the empty slot for it. There is one: no segment is full. */
function slotOf(slots: Int32Array, high: number, low: number): number {
  const count = slots.length >>> 1
  let slot = Math.floor(((low >>> 0) / 2 ** 32) * count) * 2
  for (;;) {
    const word = slots[slot] as number
    if (word === 0) return slot
    if (((word ^ high) & FINGERPRINT_MASK) === 0 && slots[slot + 1] === low) return slot
    slot = slot + 2 === slots.length ? 0 : slot + 2
  }
}

const stamped = (high: number, tick: number): number =>
  (((tick % STAMPS) + 1) << FINGERPRINT_BITS) | (high & FINGERPRINT_MASK)

function isLive(word: number, tick: number): boolean {
  if (word === 0) return false
  const age = ((tick % STAMPS) + 1 - (word >>> FINGERPRINT_BITS) + STAMPS) % STAMPS
  return age <= WINDOW_TICKS
}
