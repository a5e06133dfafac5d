/**
 * The Idempotency-Key header.
 *
 * Owns: its length and its alphabet. Does not own: what is replayed (processor).
 *
 * - Printable ASCII. The HTTP parser drops bytes from 0x80 on at a value's ends before anything
 *   of ours sees them, which makes two such keys one: answers repeat the key that was understood.
 */
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import { accepted, refused, type Outcome } from '../../src/base/errors.js'
import type { RequestContext } from '../http/request_context.js'

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

/**
 * Tells the caller the key as it arrived here. Only a valid key is repeated, so the answer's header
 * holds printable ASCII and nothing else.
 */
export function repeatKey(request: RequestContext, maxLength: number): void {
  const key = optionalKey(request.header(IDEMPOTENCY_KEY), maxLength)
  if (key.ok && key.value !== undefined) request.repeat('Idempotency-Key', key.value)
}
