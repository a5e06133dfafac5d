/**
 * Request signatures: base64 of HMAC-SHA256 over the canonical request.
 *
 * Owns: the key's form, signing, comparing. Does not own: the MAC itself (auth/mac), key lookup
 * (the directory), the other checks of a request (auth/verify).
 *
 * - The key is the UTF-8 bytes of the secret as the partner sees it, prefix included.
 * - A signature has exactly one encoding: other base64 texts that decode to the same bytes are
 *   rejected.
 * - Signatures are compared in constant time.
 */
import { createMac, sameText, type Mac } from './mac.js'

/** A secret with its MAC state precomputed. */
export type SigningSecret = Mac & { readonly __brand: 'SigningSecret' }

export function signingKey(secret: string): SigningSecret {
  return createMac(Buffer.from(secret)) as SigningSecret
}

export function sign(key: SigningSecret, canonical: string): string {
  return key(canonical, 'base64')
}

/** 32 bytes are 43 characters, of which the last carries four bits. */
const SIGNATURE_SHAPE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

export const isSignature = (text: string): boolean => SIGNATURE_SHAPE.test(text)

export function signatureMatches(key: SigningSecret, canonical: string, given: string): boolean {
  return sameText(sign(key, canonical), given)
}
