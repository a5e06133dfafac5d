/**
 * Eight bytes that stand for a partner's user.
 *
 * Owns: making a print. Does not own: what is found by it (user_intent_links).
 *
 * - HalfSipHash under a secret key: partners choose the ids of their users, and shall not be able
 *   to choose their prints.
 */
import { createHmac } from 'node:crypto'
import { halfSipHash, newFingerprint } from '../../auth/fingerprint.js'
import type { TenantId } from '../../base/ids.js'
import type { Fingerprint64 } from './idempotency_index.js'

export type UserFingerprinter = (tenant: TenantId, userId: string) => Fingerprint64

/** Room for any tenant and any user id of the gateway; of a longer one the beginning counts. */
const TEXT_BYTES = 2_048
const KEY_BYTES = 8

/** @param salt secret and lasting: prints are stored */
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
