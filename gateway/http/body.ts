/**
 * A request's body as it comes in.
 *
 * Owns: its parts, and the bound of the memory that they take. Does not own: the connection and
 * what is answered (request_context), what the body means (decode).
 *
 * - One that comes in a single part is not copied: it is uWS's own memory, and readable only
 *   while the callback runs that brought it, unless it is kept.
 * - Bodies in parts and bodies that are kept hold at most BUFFERED_MAX_BYTES together; strangers
 *   cannot fill the memory with them.
 * - A source takes no more than it leaves free. One alone has half of all at most; where n take
 *   what they can, each of them comes to one part of n + 1, and one stays free for the others.
 * - Of a body above its cap, or without room, nothing is held.
 */

/**
 * A hundred of the largest bodies at once. Half of it is all that one partner may have waiting, of
 * any kind but payouts and scans.
 */
export const BUFFERED_MAX_BYTES = 64 * 1024 * 1024
export const NO_BODY = Buffer.alloc(0)

/** What the bodies of one server hold. */
export class BodyMemory {
  /** All of them together. */
  bytes = 0
  /** By source; who holds nothing is not in it. */
  readonly bySource = new Map<string, number>()

  /** For so many more bytes. */
  hasRoom(source: string, bytes: number): boolean {
    return this.of(source) + bytes <= BUFFERED_MAX_BYTES - this.bytes - bytes
  }

  /** What is given back is less than none. */
  add(source: string, bytes: number): void {
    const held = this.of(source) + bytes
    if (held === 0) this.bySource.delete(source)
    else this.bySource.set(source, held)
    this.bytes += bytes
  }

  private of(source: string): number {
    return this.bySource.get(source) ?? 0
  }
}

/** Who sends a body. */
export interface Sender {
  /** Asked only when something of it is to be held: most bodies come in a single part. */
  source(): string
}

/** `oversized`: above its cap. `no_room`: its source, or all together, hold too much. */
export type Taken = 'complete' | 'more' | 'oversized' | 'no_room'

export class ReceivedBody {
  /** Of all parts, also those that are not held. */
  bytes = 0
  /** It is above its cap, or was announced as such. */
  oversized = false
  private held: Buffer = NO_BODY
  private whole: Buffer = NO_BODY
  private source: string | undefined
  private readonly memory: BodyMemory
  private readonly sender: Sender

  constructor(memory: BodyMemory, sender: Sender) {
    this.memory = memory
    this.sender = sender
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
    if (!this.append(chunk, before, maxBytes)) {
      this.free()
      return 'no_room'
    }
    if (!isLast) return 'more'
    this.open()
    return 'complete'
  }

  /** Makes it readable again later. False: there is no room for it. */
  keep(): boolean {
    if (this.held !== NO_BODY || this.whole.length === 0) return true
    if (!this.makeRoom(this.whole.length)) return false
    this.held.set(this.whole)
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
    if (this.source !== undefined) this.memory.add(this.source, -this.held.length)
    this.source = undefined
    this.held = NO_BODY
  }

  /** Doubles with what came: neither a large announcement nor single bytes cost us more. */
  private append(chunk: ArrayBuffer, offset: number, maxBytes: number): boolean {
    const needed = offset + chunk.byteLength
    const isFull = needed > this.held.length
    if (isFull && !this.makeRoom(Math.min(maxBytes, needed * 2))) return false
    this.held.set(new Uint8Array(chunk), offset)
    return true
  }

  /** For so many bytes in all. False: there is none. */
  private makeRoom(bytes: number): boolean {
    const source = (this.source ??= this.sender.source())
    const more = bytes - this.held.length
    if (!this.memory.hasRoom(source, more)) return false
    this.memory.add(source, more)
    const roomier = Buffer.allocUnsafe(bytes)
    this.held.copy(roomier)
    this.held = roomier
    return true
  }
}
