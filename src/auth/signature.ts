/**
 * Request signatures: base64 of HMAC-SHA256 over the canonical request.
 *
 * Owns: the key's form, signing, comparing. Does not own: the MAC itself (auth/mac), which key (the
 * directory), when a call passes (auth/verify).
 *
 * - The key is the UTF-8 bytes of the secret as the partner sees it, prefix included.
 * - One signature has one text: base64 that would decode alike but is spelled otherwise is refused.
 * - Signatures are compared in constant time.
 */
import { createMac, sameText, type Mac } from './mac.js'

/** A secret prepared once. */
export type SigningSecret = Mac & { readonly __brand: 'SigningSecret' }

export function signingKey(secret: string): SigningSecret {
  return createMac(Buffer.from(secret)) as SigningSecret
}

export function sign(key: SigningSecret, canonical: string): string {
  return key(canonical, 'base64')
}

/** 32 bytes are 43 characters, and the last of them carries four bits only. */
const SIGNATURE_SHAPE = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

export const isSignature = (text: string): boolean => SIGNATURE_SHAPE.test(text)

export function signatureMatches(key: SigningSecret, canonical: string, given: string): boolean {
  return sameText(sign(key, canonical), given)
}
