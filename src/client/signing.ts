/**
 * Request signatures of the partner API: base64 HMAC-SHA256 over the canonical request (spec,
 * Authentication).
 *
 * Written from the contract with node:crypto alone: it shares no code with the service, so what
 * both agree on is the contract and not a common mistake.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export interface SigningKey {
  readonly keyId: string
  readonly secret: string
}

export interface SignatureInput {
  readonly method: string
  /** A request is signed without its query, a webhook with it. */
  readonly path: string
  /** RFC 3339, UTC. */
  readonly timestamp: string
  /** 64 lower-case hex digits. */
  readonly nonce: string
  readonly body: string | Uint8Array
}

/** Five lines: method, path, timestamp, nonce, hex SHA-256 of the body or nothing. */
export function canonicalRequest({ method, path, timestamp, nonce, body }: SignatureInput): string {
  const hash = body.length === 0 ? '' : createHash('sha256').update(body).digest('hex')
  return [method, path, timestamp, nonce, hash, ''].join('\n')
}

/** The key is the UTF-8 bytes of the secret as it was shown, its prefix included. */
export function signatureOf(canonical: string, secret: string): string {
  return createHmac('sha256', secret).update(canonical).digest('base64')
}

/** In constant time. */
export function isSignatureOf(given: string, canonical: string, secret: string): boolean {
  const expected = Buffer.from(signatureOf(canonical, secret))
  const bytes = Buffer.from(given)
  return bytes.length === expected.length && timingSafeEqual(bytes, expected)
}

export const newNonce = (): string => randomBytes(32).toString('hex')

/** `X-Service-Key-Id` and its sisters, for the service's brand. */
export const brandHeader = (brand: string, name: string): string => `X-${brand}-${name}`

export interface SignedRequest {
  readonly canonical: string
  readonly headers: Readonly<Record<string, string>>
}

/** @param input its path may have a query: it is cut */
export function signRequest(key: SigningKey, brand: string, input: SignatureInput): SignedRequest {
  const [path = ''] = input.path.split('?', 1)
  const canonical = canonicalRequest({ ...input, path })
  return {
    canonical,
    headers: {
      [brandHeader(brand, 'Key-Id')]: key.keyId,
      [brandHeader(brand, 'Timestamp')]: input.timestamp,
      [brandHeader(brand, 'Nonce')]: input.nonce,
      [brandHeader(brand, 'Signature')]: signatureOf(canonical, key.secret),
    },
  }
}
