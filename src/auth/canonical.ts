/**
 * The canonical request: the text under a signature, for requests to us and webhooks from us.
 *
 * Owns: its five components and their order. Does not own: the MAC (auth/signature), formats
 * (auth/request_shape).
 *
 * - Two different requests never have the same text. Only the path is free text: the method before
 *   it and the components after it contain no newline, so the text splits in one way.
 * - The body is hashed as sent, without parsing.
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
  /** From `bodyHash`. */
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
