/**
 * HMAC-SHA256 (RFC 2104) of texts, under a key that is reused.
 *
 * Owns: the prepared key, comparing in constant time. Does not own: key lookup.
 *
 * - Two one-shot hashes: the setup of createHmac for each text costs more than the hashing.
 * - MACs are compared as text: another encoding of the same bytes does not match.
 */
import { hash, timingSafeEqual } from 'node:crypto'

/** The MAC of the text's UTF-8 bytes. */
export type Mac = (text: string, encoding: 'base64' | 'base64url') => string

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
/** Enough for usual texts; a longer one gets its own buffer. */
const TEXT_BYTES = 2_048
const BYTES_A_CHARACTER = 3

export function createMac(key: Uint8Array): Mac {
  const inner = Buffer.concat([padded(key, 0x36), Buffer.alloc(TEXT_BYTES)])
  const outer = Buffer.concat([padded(key, 0x5c), Buffer.alloc(DIGEST_BYTES)])
  const innerWith = (text: string): Buffer =>
    text.length * BYTES_A_CHARACTER <= TEXT_BYTES
      ? inner.subarray(0, BLOCK_BYTES + inner.write(text, BLOCK_BYTES))
      : Buffer.concat([inner.subarray(0, BLOCK_BYTES), Buffer.from(text)])
  return (text, encoding) => {
    outer.write(hash('sha256', innerWith(text), 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', outer, encoding)
  }
}

/** The key, or its hash if it exceeds a block, as one block XORed with the pad. */
function padded(key: Uint8Array, pad: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  block.set(key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key)
  return Buffer.from(block.map((byte) => byte ^ pad))
}

/** Compares in constant time. */
export function sameText(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}
