/**
 * A request's body as it comes in.
 *
 * Owns: its parts, and the bound of the memory that they take. Does not own: the connection and
 * what is answered (exchange), what the body means (decode).
 *
 * V1. One that comes in a single part is not copied: it is uWS's own memory, and readable only
 *     while the callback runs that brought it, unless it is kept.
 * V2. Bodies in parts and bodies that are kept hold at most BUFFERED_MAX_BYTES together; strangers
 *     can not fill the memory with them.
 * V3. Of a body above its cap nothing is held.
 */

/** A hundred of the largest bodies at once. */
export const BUFFERED_MAX_BYTES = 64 * 1024 * 1024
export const NO_BODY = Buffer.alloc(0)

/** What the bodies of one server hold together. */
export interface BodyMemory {
  bufferedBytes: number
}

/** `oversized`: above its cap. `no_room`: others hold too much. */
export type Taken = 'complete' | 'more' | 'oversized' | 'no_room'

export class ReceivedBody {
  /** Of all parts, also those that are not held. */
  bytes = 0
  /** It is above its cap, or was announced as such. */
  oversized = false
  private held: Buffer = NO_BODY
  private whole: Buffer = NO_BODY
  private readonly memory: BodyMemory

  constructor(memory: BodyMemory) {
    this.memory = memory
  }

  /** The whole of it; empty while it is not readable. */
  get readable(): Buffer {
    return this.whole
  }

  /** The next part. */
  take(chunk: ArrayBuffer, isLast: boolean, maxBytes: number): Taken {
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
    if (!this.append(chunk, before, maxBytes)) return 'no_room'
    if (!isLast) return 'more'
    this.open()
    return 'complete'
  }

  /** Makes it readable again later. False: there is no room for it. */
  keep(): boolean {
    if (this.held !== NO_BODY) return true
    if (this.memory.bufferedBytes + this.whole.length > BUFFERED_MAX_BYTES) return false
    this.hold(Buffer.from(this.whole))
    return true
  }

  /** What is kept is readable. */
  open(): void {
    this.whole = this.held.subarray(0, this.bytes)
  }

  /** It is not readable any more; what is kept stays. */
  close(): void {
    this.whole = NO_BODY
  }

  free(): void {
    this.hold(NO_BODY)
  }

  /** Doubles with what came: neither a large announcement nor single bytes cost us more. */
  private append(chunk: ArrayBuffer, offset: number, maxBytes: number): boolean {
    const needed = offset + chunk.byteLength
    if (needed > this.held.length) {
      const roomier = Buffer.allocUnsafe(Math.min(maxBytes, needed * 2))
      this.held.copy(roomier)
      this.hold(roomier)
    }
    if (this.memory.bufferedBytes > BUFFERED_MAX_BYTES) return false
    this.held.set(new Uint8Array(chunk), offset)
    return true
  }

  private hold(buffer: Buffer): void {
    this.memory.bufferedBytes += buffer.length - this.held.length
    this.held = buffer
  }
}
