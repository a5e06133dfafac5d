/**
 * Request bodies in memory, with a bound for each source and for the process.
 *
 * Does not own: the connection (request_context.ts), the meaning of a body (decode/).
 *
 * - A body that arrives in one part is not copied: it is memory of uWebSockets.js, readable only
 *   during the callback that delivered it, unless it is kept.
 * - Bodies in several parts and kept bodies hold at most BUFFERED_MAX_BYTES together, so
 *   unauthenticated clients cannot exhaust memory.
 * - A source may hold at most as much as it leaves free: one source alone gets half, and n greedy
 *   sources get one part of n + 1 each.
 * - A body above its cap, or without capacity, holds nothing.
 */

/**
 * About 128 of the largest bodies. Half of it covers every request one partner may have in flight,
 * payouts and scans aside.
 */
export const BUFFERED_MAX_BYTES = 64 * 1024 * 1024
const NO_BODY = Buffer.alloc(0)

/** Memory that the bodies of one server hold. */
export class BodyMemory {
  /** Total over all sources. */
  bytes = 0
  /** By source; sources that hold nothing are absent. */
  readonly bySource = new Map<string, number>()

  /** Whether the source may hold this many more bytes. */
  hasCapacity(source: string, bytes: number): boolean {
    return this.heldBy(source) + bytes <= BUFFERED_MAX_BYTES - this.bytes - bytes
  }

  /** A negative number releases memory. */
  add(source: string, bytes: number): void {
    const held = this.heldBy(source) + bytes
    if (held === 0) this.bySource.delete(source)
    else this.bySource.set(source, held)
    this.bytes += bytes
  }

  private heldBy(source: string): number {
    return this.bySource.get(source) ?? 0
  }
}

/** Where a body comes from. */
export interface BodySource {
  /** Called only when memory is needed: most bodies arrive in one part. */
  source(): string
}

/** `oversized`: above its cap. `no_capacity`: the source or the process holds too much. */
export type ReceiveResult = 'complete' | 'more' | 'oversized' | 'no_capacity'

export class ReceivedBody {
  /** Received so far, including parts that are not held. */
  bytes = 0
  /** Above its cap, received or announced. */
  oversized = false
  private held: Buffer = NO_BODY
  private whole: Buffer = NO_BODY
  private source: string | undefined
  private readonly memory: BodyMemory
  private readonly bodySource: BodySource

  constructor(memory: BodyMemory, bodySource: BodySource) {
    this.memory = memory
    this.bodySource = bodySource
  }

  /** The complete body; empty while it is not readable. */
  get readable(): Buffer {
    return this.whole
  }

  /** Receives the next part. */
  receive(chunk: ArrayBuffer, isLast: boolean, maxBytes: number): ReceiveResult {
    const before = this.bytes
    this.bytes += chunk.byteLength
    this.oversized ||= this.bytes > maxBytes
    if (this.oversized) {
      this.free()
      return 'oversized'
    }
    if (isLast && before === 0) {
      this.whole = Buffer.from(chunk)
      return 'complete'
    }
    if (!this.append(chunk, before, maxBytes)) {
      this.free()
      return 'no_capacity'
    }
    if (!isLast) return 'more'
    this.open()
    return 'complete'
  }

  /** Keeps the body for a later `open`. False means that there is no capacity. */
  keep(): boolean {
    if (this.held !== NO_BODY || this.whole.length === 0) return true
    if (!this.grow(this.whole.length)) return false
    this.held.set(this.whole)
    return true
  }

  /** Makes a kept body readable. */
  open(): void {
    this.whole = this.held.subarray(0, this.bytes)
  }

  /** Ends readability; a kept body stays in memory. */
  close(): void {
    this.whole = NO_BODY
  }

  free(): void {
    if (this.source !== undefined) this.memory.add(this.source, -this.held.length)
    this.source = undefined
    this.held = NO_BODY
  }

  /** Grows by doubling: neither a large announced length nor single bytes cost more. */
  private append(chunk: ArrayBuffer, offset: number, maxBytes: number): boolean {
    const needed = offset + chunk.byteLength
    const isFull = needed > this.held.length
    if (isFull && !this.grow(Math.min(maxBytes, needed * 2))) return false
    this.held.set(new Uint8Array(chunk), offset)
    return true
  }

  /** Grows the buffer to this size. False means that there is no capacity. */
  private grow(bytes: number): boolean {
    const source = (this.source ??= this.bodySource.source())
    const more = bytes - this.held.length
    if (!this.memory.hasCapacity(source, more)) return false
    this.memory.add(source, more)
    const larger = Buffer.allocUnsafe(bytes)
    this.held.copy(larger)
    this.held = larger
    return true
  }
}
