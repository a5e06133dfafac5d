/**
 * Request signatures of the partner API: base64 HMAC-SHA256 over the canonical request
 * (gateway/guide/signing.md).
 *
 * - Shares no code with the service, so a test of one against the other checks the contract.
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

/** Five lines: method, path, timestamp, nonce, hex SHA-256 of the body (empty without a body). */
export function canonicalRequest({ method, path, timestamp, nonce, body }: SignatureInput): string {
  const hash = body.length === 0 ? '' : createHash('sha256').update(body).digest('hex')
  return [method, path, timestamp, nonce, hash, ''].join('\n')
}

/** The HMAC key is the UTF-8 secret with its prefix. */
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

/** For example `X-Service-Key-Id`. */
export const brandHeader = (brand: string, name: string): string => `X-${brand}-${name}`

export interface SignedRequest {
  readonly canonical: string
  readonly headers: Readonly<Record<string, string>>
}

/** The query of the path is not signed. */
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
