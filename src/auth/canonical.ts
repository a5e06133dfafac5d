/**
 * The text that a signature covers, for calls to us and for webhooks from us.
 *
 * Owns: the five components and their order. Does not own: the MAC (auth/signature), shapes
 * (auth/request_shape).
 *
 * - Two different requests never give the same text. Only the path may be any text: the method
 *   before it and the three components after it have shapes without a newline, so the text can be
 *   cut in one way only.
 * - The body is hashed as it was sent; nothing here parses it.
 */
import { hash } from 'node:crypto'

export interface CanonicalParts {
  /** Upper case, as in the request line. */
  readonly method: string
  /** As received, not decoded. Without the query for calls to us, with it for webhooks. */
  readonly path: string
  /** The header's value as received. */
  readonly timestamp: string
  readonly nonce: string
  /** Of `bodyHash`. */
  readonly bodyHash: string
}

export function canonicalRequest(parts: CanonicalParts): string {
  const { method, path, timestamp, nonce } = parts
  return `${method}\n${path}\n${timestamp}\n${nonce}\n${parts.bodyHash}\n`
}

/** SHA-256 of the bytes in lower-case hex; the empty string when there is no body. */
export function bodyHash(body: Uint8Array): string {
  return body.length === 0 ? '' : hash('sha256', body)
}
