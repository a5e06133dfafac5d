/**
 * The Idempotency-Key header. The processor replays answers.
 *
 * - Printable ASCII only. The HTTP parser drops bytes from 0x80 at both ends of a value, which can
 *   make two keys equal; so responses echo the key as the gateway received it.
 */
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import { accepted, invalid, type Outcome } from '../../src/base/errors.js'
import { KEY_POINTER, keyFault } from '../../src/api/checks/idempotency_key.js'
import type { RequestContext } from '../http/request_context.js'

export const IDEMPOTENCY_KEY = 'idempotency-key'
const NAME = 'Idempotency-Key'

export function requiredKey(header: HeaderValue, maxLength: number): Outcome<string> {
  if (header === undefined) return invalid(KEY_POINTER, 'is required')
  if (header === REPEATED) return invalid(KEY_POINTER, 'must not be repeated')
  return keyFault(header, maxLength) ?? accepted(header)
}

export function optionalKey(header: HeaderValue, maxLength: number): Outcome<string | undefined> {
  return header === undefined ? accepted(undefined) : requiredKey(header, maxLength)
}

/**
 * Echoes the key as received. Only a valid key is echoed, so the response header holds printable
 * ASCII only.
 */
export function echoKey(request: RequestContext, maxLength: number): void {
  const key = optionalKey(request.header(IDEMPOTENCY_KEY), maxLength)
  if (key.ok && key.value !== undefined) request.echo(NAME, key.value)
}
