/**
 * The nonce table: which fingerprints were seen within the window.
 *
 * Owns: remembering and forgetting. Does not own: the fingerprints' rows on disk (store), when a
 * nonce counts (only after its signature verified), what happens to a refused call.
 *
 * Size: 8 bytes a slot, at most 16 a nonce (it grows at 10 to 16): six million are 60 to 96 MB.
 *
 * - A fingerprint that was added is refused for `windowMs` at least, and under steady calls one
 *   tick (`windowMs` / 450) longer at most.
 * - Time is counted here, not read: between two calls no more than STEP_TICKS pass, and none
 *   while the clock shows less than before. So a clock that is set forward frees nothing early,
 *   one that is set back makes fingerprints live longer, and so does a time without calls. A
 *   clock that goes back by more than the window is not waited for: it was wrong before.
 * - At most `maxEntries` are kept. A full table refuses everything rather than forget: see
 *   `isFull`.
 * - No call does more than one segment's work, a 1,024th of the table: growing and forgetting
 *   need no pause.
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
 * How long a nonce is kept, in memory and on disk. A timestamp from the future is accepted for the
 * whole window, so the margin covers what a call may wait between the gateway's clock and this
 * table.
 */
export const NONCE_KEPT_MS = NONCE_WINDOW_MS + 30 * SECOND

/** 25,000 a second over the whole window: above what one processor accepts. 256 MB at most. */
const ENTRIES_MAX = 16_000_000

export interface NonceTable {
  readonly fingerprint: Fingerprinter
  /** Remembers it. False when it was seen within the window, or when the table is full. */
  add(fingerprint: Fingerprint, now: Instant): boolean
  /**
   * Takes back what was stored: fingerprints of one commit, 8 bytes each. Commits come in their
   * order.
   */
  load(fingerprints: Buffer, at: Instant): void
  /** Lets the caller say that it is overloaded, before `add` refuses honest calls. */
  isFull(now: Instant): boolean
  /** No fingerprint that is held was seen earlier, by the clock of then; infinite when none is. */
  heldSince(): number
  /** None was seen later, by the clock of then. It does not end before a clock is set right. */
  heldUntil(): number
  /** Fingerprints held, those included that are over and not yet swept out. */
  readonly size: number
  readonly bytes: number
}

export interface NonceTableOptions {
  /** Secret and lasting: see auth/fingerprint. */
  readonly salt: Uint8Array
  readonly windowMs?: number
  readonly maxEntries?: number
}

/**
 * The top 10 bits of a fingerprint choose its segment. In their place a slot keeps the time of the
 * entry.
 */
const SEGMENTS = 1_024
const FINGERPRINT_BITS = 22
const FINGERPRINT_MASK = (1 << FINGERPRINT_BITS) - 1
/** Stamps are ticks from 1 to 1,023, round and round; 0 marks an empty slot. */
const STAMPS = 1_023
/**
 * Stamps tell ages up to 1,022 ticks apart. An entry is at most a window old when its segment is
 * swept, at most one sweep later the next one is due, and a segment untouched for another window is
 * emptied whole.
 */
const WINDOW_TICKS = 450
const SWEEP_TICKS = 75
/** Less than what NONCE_KEPT_MS adds to the window: a jump of the clock eats that at most. */
const STEP_TICKS = 15

/** A segment grows when it is fuller than this; linear probing gets slow beyond. */
const FILL_MAX = 0.8
const FILL_AFTER_GROWTH = 0.5
const SLOTS_MIN = 16
const SLOT_BYTES = 8

/** An open-addressing table. Slot n is words 2n (stamp and print) and 2n + 1 (print). */
interface Segment {
  slots: Int32Array
  used: number
  /** How many may be used before it grows. */
  room: number
  /** The tick from which the next call first drops what is over. */
  sweepAt: number
}

export function createNonceTable(options: NonceTableOptions): NonceTable {
  const { salt, windowMs = NONCE_KEPT_MS, maxEntries = ENTRIES_MAX } = options
  const tickMs = windowMs / WINDOW_TICKS
  const stepMs = STEP_TICKS * tickMs
  const segments: Segment[] = []
  for (let index = 0; index < SEGMENTS; index++) segments.push(newSegment())
  const loaded = newFingerprint()
  /** The earliest clock of each tick that is still in the window, by tick round and round. */
  const clocks = new Float64Array(WINDOW_TICKS + 1).fill(Number.POSITIVE_INFINITY)
  let latest = Number.NEGATIVE_INFINITY
  /** When the clock last went back by more than the window; infinite when it never did. */
  let setBackAt = Number.POSITIVE_INFINITY
  /** The time counted so far. */
  let elapsedMs = 0
  let tick = 0
  let cursor = 0
  let size = 0
  let bytes = SEGMENTS * SLOTS_MIN * SLOT_BYTES

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
    const place = tick % clocks.length
    clocks[place] = Math.min(clocks[place] as number, now)
  }

  /** While it is full, each question sweeps a segment: nothing else would, as nothing is added. */
  const isFull = (now: Instant): boolean => {
    advance(now)
    if (size < maxEntries) return false
    sweptSegment(cursor)
    cursor = (cursor + 1) % SEGMENTS
    return size >= maxEntries
  }

  const remember = (high: number, low: number): boolean => {
    const segment = sweptSegment(high >>> FINGERPRINT_BITS)
    const place = placeOf(segment.slots, high, low)
    const word = segment.slots[place] as number
    if (word !== 0 && isLive(word, tick)) return false
    segment.slots[place] = stamped(high, tick)
    segment.slots[place + 1] = low
    if (word === 0) {
      size += 1
      segment.used += 1
      if (segment.used > segment.room) rebuild(segment)
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
      return !isFull(now) && remember(fingerprint.high, fingerprint.low)
    },
    load(fingerprints, at) {
      advance(at)
      for (let offset = 0; offset < fingerprints.length; offset += FINGERPRINT_BYTES) {
        readFingerprint(fingerprints, offset, loaded)
        remember(loaded.high, loaded.low)
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

const newSegment = (): Segment => ({
  slots: new Int32Array(SLOTS_MIN * 2),
  used: 0,
  room: SLOTS_MIN * FILL_MAX,
  sweepAt: 0,
})

/** Segments take turns, so that at no moment many of them are due. */
function nextSweep(index: number, tick: number): number {
  const phase = Math.floor((index * SWEEP_TICKS) / SEGMENTS)
  return tick + SWEEP_TICKS - ((tick + phase) % SWEEP_TICKS)
}

/** Moves what is still live into slots of the right number, which drops the rest. */
function refill(segment: Segment, tick: number): void {
  const old = segment.slots
  const untouchedSince = tick - segment.sweepAt
  const allOver = untouchedSince > WINDOW_TICKS
  let live = 0
  for (let slot = 0; slot < old.length && !allOver; slot += 2) {
    if (isLive(old[slot] as number, tick)) live += 1
  }
  const count = Math.max(SLOTS_MIN, Math.ceil(live / FILL_AFTER_GROWTH))
  const slots = new Int32Array(count * 2)
  for (let slot = 0; slot < old.length && live > 0; slot += 2) {
    const word = old[slot] as number
    if (!isLive(word, tick)) continue
    const low = old[slot + 1] as number
    const free = placeOf(slots, word, low)
    slots[free] = word
    slots[free + 1] = low
  }
  segment.slots = slots
  segment.used = live
  segment.room = Math.floor(count * FILL_MAX)
}

/**
 * Where this print is, or else the empty slot that is its place. There is one: no segment is ever
 * full.
 */
function placeOf(slots: Int32Array, high: number, low: number): number {
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
