/**
 * Keyed 64-bit fingerprints of a partner's users, for the user index (cache/memory).
 *
 * - HalfSipHash under a secret key: partners choose user ids and must not be able to choose
 *   colliding fingerprints.
 */
import { createHmac } from 'node:crypto'
import { halfSipHash, newFingerprint } from '../../auth/fingerprint.js'
import type { TenantId } from '../../base/ids.js'
import type { Fingerprint64 } from './idempotency_index.js'

export type UserFingerprinter = (tenant: TenantId, userId: string) => Fingerprint64

/** Holds every tenant and user id that the gateway accepts; a longer one is truncated. */
const TEXT_BYTES = 2_048
const KEY_BYTES = 8

/** @param salt secret and permanent: fingerprints are stored */
export function createUserFingerprinter(salt: Uint8Array): UserFingerprinter {
  const key = createHmac('sha256', salt).update('users').digest().subarray(0, KEY_BYTES)
  const text = Buffer.alloc(TEXT_BYTES)
  const fingerprint = newFingerprint()
  return (tenant, userId) => {
    const length = text.write(`${tenant}\n${userId}`)
    const end = Math.ceil(length / 4) * 4
    text.fill(0, length, end)
    halfSipHash(key, text.subarray(0, end), fingerprint)
    return { high: fingerprint.high >>> 0, low: fingerprint.low >>> 0 }
  }
}
