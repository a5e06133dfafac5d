/**
 * The source of random bytes, passed as an argument. Only this file reads the system's source.
 *
 * - Bytes are drawn in blocks, because one system call costs microseconds at any size.
 * - A byte is returned once and wiped from the block, one by one: for a handful of bytes a copy and
 *   a fill by the engine take three times as long.
 */
import { randomFillSync } from 'node:crypto'

export interface Random {
  /** Fresh bytes that the caller owns. */
  bytes(count: number): Buffer
  /** Uniform in [0, 1). For jitter only, never for secrets. */
  fraction(): number
}

const BLOCK_BYTES = 8_192

export function systemRandom(): Random {
  const block = Buffer.alloc(BLOCK_BYTES)
  let used = BLOCK_BYTES
  const bytes = (count: number): Buffer => {
    if (count > BLOCK_BYTES) return randomFillSync(Buffer.alloc(count))
    if (used + count > BLOCK_BYTES) {
      randomFillSync(block)
      used = 0
    }
    const drawn = Buffer.allocUnsafe(count)
    for (let i = 0; i < count; i++, used++) {
      drawn[i] = block[used]!
      block[used] = 0
    }
    return drawn
  }
  return { bytes, fraction: () => bytes(4).readUInt32LE(0) / 2 ** 32 }
}
