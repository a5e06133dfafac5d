/**
 * The Idempotency-Key header.
 *
 * Owns: its length and its alphabet. Does not own: what is replayed (processor).
 *
 * H1. Printable ASCII. The HTTP parser drops other bytes at a value's ends, which would make two
 *     keys one.
 */
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import { accepted, refused, type Outcome } from '../../src/base/errors.js'

export const IDEMPOTENCY_KEY = 'idempotency-key'

const PRINTABLE = /^[ -~]+$/

export function requiredKey(header: HeaderValue, maxLength: number): Outcome<string> {
  if (header === undefined || header === REPEATED) return refused('invalid_request')
  const valid = header.length <= maxLength && PRINTABLE.test(header)
  return valid ? accepted(header) : refused('invalid_request')
}

export function optionalKey(header: HeaderValue, maxLength: number): Outcome<string | undefined> {
  return header === undefined ? accepted(undefined) : requiredKey(header, maxLength)
}
