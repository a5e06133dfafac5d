/**
 * Detached signatures of messages: a JWS over the exact bytes of a body, in an HTTP header.
 *
 * - RS256 and ES256 only, with a key id that the peer's key file has; anything else is no
 *   signature. The payload is not encoded (RFC 7797), so the bytes on the wire are what is signed.
 * - A key is used with the one algorithm that its file names.
 */
import {
  createLocalJWKSet,
  FlattenedSign,
  flattenedVerify,
  importPKCS8,
  type CryptoKey,
  type FlattenedVerifyGetKey,
  type JSONWebKeySet,
} from 'jose'

/** A JSON Web Key Set. */
export type PublicKeys = JSONWebKeySet

export const SIGNATURE_HEADER = 'x-jws-signature'
export const ALGORITHMS = ['RS256', 'ES256'] as const
export type Algorithm = (typeof ALGORITHMS)[number]

export interface Signer {
  sign(body: Uint8Array): Promise<string>
}

export interface Verifier {
  /** Whether the header is a signature of these bytes with a key of the peer. */
  verify(body: Uint8Array, header: string | undefined): Promise<boolean>
}

/** @param pem the private key, PKCS 8 @throws Error when it is no key of this algorithm */
export async function createSigner(
  pem: string,
  keyId: string,
  algorithm: Algorithm,
): Promise<Signer> {
  const key: CryptoKey = await importPKCS8(pem, algorithm)
  return {
    sign: async (body) => {
      const { protected: head, signature } = await new FlattenedSign(body)
        .setProtectedHeader({ alg: algorithm, kid: keyId, b64: false, crit: ['b64'] })
        .sign(key)
      return `${head}..${signature}`
    },
  }
}

const DETACHED = /^([A-Za-z0-9_-]{1,1024})\.\.([A-Za-z0-9_-]{1,1024})$/

/** @param keys public keys, each with `kid` and `alg` @throws Error when a key lacks one */
export function createVerifier(keys: PublicKeys): Verifier {
  for (const { kid, alg } of keys.keys) {
    const isAllowed = ALGORITHMS.some((allowed) => allowed === alg)
    if (kid === undefined || !isAllowed) throw new Error('a key has no kid, or no alg we accept')
  }
  const keySet = createLocalJWKSet(keys)
  const keyOf: FlattenedVerifyGetKey = (head, token) => {
    if (typeof head?.kid !== 'string') throw new Error('no key id')
    return keySet(head, token)
  }
  return {
    verify: async (body, header) => {
      const [, head, signature] = DETACHED.exec(header ?? '') ?? []
      if (head === undefined || signature === undefined) return false
      try {
        const token = { protected: head, payload: body, signature }
        const { protectedHeader } = await flattenedVerify(token, keyOf, {
          algorithms: [...ALGORITHMS],
        })
        return protectedHeader?.b64 === false
      } catch {
        return false
      }
    },
  }
}
