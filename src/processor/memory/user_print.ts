/**
 * Eight bytes that stand for a partner's user.
 *
 * Owns: making a print. Does not own: what is found by it (user_intents).
 *
 * U1. HalfSipHash under a secret key: partners choose the ids of their users, and shall not be able
 *     to choose their prints.
 */
import { createHmac } from 'node:crypto'
import { halfSipHash, newFingerprint } from '../../auth/fingerprint.js'
import type { TenantId } from '../../base/ids.js'
import type { KeyPrint } from './key_index.js'

export type UserPrinter = (tenant: TenantId, userId: string) => KeyPrint

/** Room for any tenant and any user id of the gateway; of a longer one the beginning counts. */
const TEXT_BYTES = 2_048
const KEY_BYTES = 8

/** @param salt secret and lasting: prints are stored */
export function createUserPrinter(salt: Uint8Array): UserPrinter {
  const key = createHmac('sha256', salt).update('users').digest().subarray(0, KEY_BYTES)
  const text = Buffer.alloc(TEXT_BYTES)
  const print = newFingerprint()
  return (tenant, userId) => {
    const length = text.write(`${tenant}\n${userId}`)
    const end = Math.ceil(length / 4) * 4
    text.fill(0, length, end)
    halfSipHash(key, text.subarray(0, end), print)
    return { high: print.high >>> 0, low: print.low >>> 0 }
  }
}
