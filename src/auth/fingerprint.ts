/**
 * Nonce fingerprints: a 64-bit keyed hash of a tenant's nonce.
 *
 * Owns: computing them and their 8 bytes on disk. Does not own: the table (auth/nonces).
 *
 * - Every byte of the nonce, the tenant and the salt matters: partners may use counters, or nonces
 *   that share a half.
 * - HalfSipHash-2-4 under a key per tenant: without the salt a caller cannot construct a collision,
 *   and tenants that use the same nonce do not collide. With six million live fingerprints a false
 *   match occurs once in 3 * 10^12 requests.
 * - No allocation: the caller passes one Fingerprint that is overwritten. Its halves are signed
 *   32-bit numbers, which the engine keeps unboxed.
 */
import { createHmac } from 'node:crypto'
import { assert } from '../base/assert.js'
import type { TenantId } from '../base/ids.js'

export interface Fingerprint {
  high: number
  low: number
}

export const newFingerprint = (): Fingerprint => ({ high: 0, low: 0 })

export const FINGERPRINT_BYTES = 8

export function writeFingerprint(fingerprint: Fingerprint, into: Buffer, offset: number): void {
  into.writeInt32LE(fingerprint.high, offset)
  into.writeInt32LE(fingerprint.low, offset + 4)
}

export function readFingerprint(from: Buffer, offset: number, out: Fingerprint): void {
  out.high = from.readInt32LE(offset)
  out.low = from.readInt32LE(offset + 4)
}

/** Tells installations apart, e.g. on a shared bus; says nothing about their salts. */
export const installationOf = (salt: Uint8Array): string =>
  createHmac('sha256', salt).update('causeway installation').digest('hex').slice(0, 32)

export type Fingerprinter = (tenant: TenantId, nonce: Uint8Array, out: Fingerprint) => void

const NONCE_BYTES = 32

/**
 * The salt must not change while stored fingerprints count. Only verified requests get here, so the
 * map has one key per tenant.
 */
export function createFingerprinter(salt: Uint8Array): Fingerprinter {
  const keys = new Map<TenantId, Buffer>()
  const keyOf = (tenant: TenantId): Buffer => {
    let key = keys.get(tenant)
    if (key === undefined) {
      key = createHmac('sha256', salt).update(tenant).digest().subarray(0, 8)
      keys.set(tenant, key)
    }
    return key
  }
  return (tenant, nonce, out) => {
    assert(nonce.length === NONCE_BYTES, 'a nonce has 32 bytes')
    halfSipHash(keyOf(tenant), nonce, out)
  }
}

/**
 * HalfSipHash-2-4 with 64 bits of output (Aumasson and Bernstein), for inputs of whole 32-bit
 * words. `out.high` holds the first four bytes of the reference's output, `out.low` the last four,
 * little-endian.
 *
 * One loop over all steps keeps the state in registers: one step per word, one for the length, two
 * to finish.
 */
export function halfSipHash(key: Uint8Array, input: Uint8Array, out: Fingerprint): void {
  const k0 = wordAt(key, 0)
  const k1 = wordAt(key, 4)
  const words = input.length >>> 2
  let v0 = k0
  let v1 = k1 ^ 0xee
  let v2 = k0 ^ 0x6c796765
  let v3 = k1 ^ 0x74656462
  for (let step = 0; step <= words + 2; step++) {
    const word = step < words ? wordAt(input, step * 4) : step === words ? input.length << 24 : 0
    v3 ^= word
    for (let rounds = step <= words ? 2 : 4; rounds > 0; rounds--) {
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
    }
    v0 ^= word
    if (step === words) v2 ^= 0xee
    if (step === words + 1) {
      out.high = v1 ^ v3
      v1 ^= 0xdd
    }
  }
  out.low = v1 ^ v3
}

/** Little-endian. The casts are safe: callers stay within bounds. */
const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) |
  ((bytes[at + 1] as number) << 8) |
  ((bytes[at + 2] as number) << 16) |
  ((bytes[at + 3] as number) << 24)
