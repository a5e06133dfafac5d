/**
 * A secret that only its owner can read: encrypted with the owner's RSA key (OAEP with SHA-256).
 *
 * - The owner opens it with its private key, e.g. by `openssl pkeyutl -decrypt`.
 * - The padding takes randomness of its own; nothing that is stored depends on it.
 */
import { constants, createHash, createPublicKey, publicEncrypt, type KeyObject } from 'node:crypto'

/** A private key would be read as its public part, and must never be stored. */
const PUBLIC_KEY =
  /^-----BEGIN PUBLIC KEY-----\n[A-Za-z0-9+/=\n]{1,4000}-----END PUBLIC KEY-----\n?$/
const MODULUS_BITS_MIN = 2_048
export const OWNER_KEY_RULE = `an RSA public key in PEM of ${MODULUS_BITS_MIN} bits or more`

/** Null when it is not an RSA public key of sufficient length in PEM. */
export function ownerKeyIn(pem: string): KeyObject | null {
  if (!PUBLIC_KEY.test(pem)) return null
  try {
    const key = createPublicKey(pem)
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
    return key.asymmetricKeyType === 'rsa' && bits >= MODULUS_BITS_MIN ? key : null
  } catch {
    return null
  }
}

/** 64 hex digits, by which the owner and an operator compare the key. */
export const ownerKeyDigest = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')

/** Base64. */
export const sealedFor = (key: KeyObject, secret: string): string =>
  publicEncrypt(
    { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
    Buffer.from(secret),
  ).toString('base64')
