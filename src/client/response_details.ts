/**
 * What an answer has beside its body: status, headers, request id.
 *
 * - It is kept beside the result, so results stay plain objects that can be compared and stored.
 */
import type { IncomingHttpHeaders } from 'node:http'

export interface ResponseDetails {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** Quote it to support. */
  readonly requestId: string
  /** Whether a key repeated an earlier answer. Undefined if the operation does not say. */
  readonly replayed: boolean | undefined
  /** The key that was sent, also a generated one. */
  readonly idempotencyKey: string | undefined
  /** Attempts that this call needed. */
  readonly attempts: number
}

const details = new WeakMap<object, ResponseDetails>()

/** @throws a TypeError when this is no result of a client */
export function responseOf(result: object): ResponseDetails {
  const found = details.get(result)
  if (found === undefined) throw new TypeError('not a result of a client')
  return found
}

export function withDetails<Result extends object>(result: Result, of: ResponseDetails): Result {
  details.set(result, of)
  return result
}

export const requestIdOf = (headers: IncomingHttpHeaders): string =>
  String(headers['x-request-id'] ?? '')

export function replayedOf(headers: IncomingHttpHeaders): boolean | undefined {
  const value = headers['idempotent-replayed']
  return value === undefined ? undefined : value === 'true'
}
