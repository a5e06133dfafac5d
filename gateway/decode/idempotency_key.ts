/**
 * The Idempotency-Key header: length and alphabet. The processor replays answers.
 *
 * - Printable ASCII only. The HTTP parser drops bytes from 0x80 at both ends of a value, which can
 *   make two keys equal; so responses echo the key as the gateway received it.
 */
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import { accepted, invalid, type Outcome } from '../../src/base/errors.js'
import type { RequestContext } from '../http/request_context.js'

export const IDEMPOTENCY_KEY = 'idempotency-key'
const NAME = 'Idempotency-Key'
const PLACE = `header/${NAME}`

const PRINTABLE = /^[ -~]+$/

export function requiredKey(header: HeaderValue, maxLength: number): Outcome<string> {
  if (header === undefined) return invalid(PLACE, 'is required')
  if (header === REPEATED) return invalid(PLACE, 'must not be repeated')
  if (header.length <= maxLength && PRINTABLE.test(header)) return accepted(header)
  return invalid(PLACE, `must be 1 to ${maxLength} printable ASCII characters`)
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
