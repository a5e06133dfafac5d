/**
 * Signed requests, ready to be sent.
 *
 * - Every request has its own timestamp, nonce and signature, and its own Idempotency-Key where it
 *   takes one. No request is sent twice.
 * - Presigned requests are used first. Afterwards a continuing source signs a few at a time,
 *   which costs the client about 15 µs each; any other source ends.
 */
import assert from 'node:assert/strict'
import { systemClock, toRfc3339 } from '../../../src/base/clock.js'
import { systemRandom } from '../../../src/base/random.js'
import { canonicalRequest, signatureOf } from '../../../src/client/index.js'
import type { ScenarioOrder } from '../scenarios/scenarios.js'

export type PresignedRequests = ReturnType<typeof createPresignedRequests>

const SIGNED_AT_ONCE = 16
const random = systemRandom()

type SigningCredentials = Pick<ScenarioOrder, 'host' | 'keyId' | 'secret'>

export interface Unsigned {
  readonly method: 'GET' | 'POST'
  readonly target: string
  /** ASCII. */
  readonly body: string
}

/** The whole request; a POST has an Idempotency-Key. */
export function signedRequest(
  { method, target, body }: Unsigned,
  { host, keyId, secret }: SigningCredentials,
  timestamp = toRfc3339(systemClock.now()),
): string {
  const [path = ''] = target.split('?', 1)
  const nonce = random.bytes(32).toString('hex')
  const canonical = canonicalRequest({ method, path, timestamp, nonce, body })
  return (
    `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n` +
    `X-Service-Key-Id: ${keyId}\r\nX-Service-Timestamp: ${timestamp}\r\n` +
    `X-Service-Nonce: ${nonce}\r\nX-Service-Signature: ${signatureOf(canonical, secret)}\r\n` +
    (method === 'GET'
      ? '\r\n'
      : `Idempotency-Key: ${random.bytes(16).toString('hex')}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`)
  )
}

/**
 * @param method of all of them
 * @param nextRequest ASCII; all of one source have the same length, so that they fit one buffer
 */
export function createPresignedRequests(
  method: Unsigned['method'],
  nextRequest: () => Omit<Unsigned, 'method'>,
  credentials: SigningCredentials,
) {
  let requests = Buffer.alloc(0)
  let bytes = 0
  let used = 0
  let signsMore = false

  const signOne = (): string => signedRequest({ method, ...nextRequest() }, credentials)
  /** Into a new buffer: a send may still read the old one. */
  const signMany = (count: number): void => {
    for (let index = 0; index < count; index += 1) {
      const text = signOne()
      if (index === 0) {
        bytes = text.length
        requests = Buffer.allocUnsafe(count * bytes)
      }
      assert.equal(text.length, bytes, 'requests of one source have the same length')
      requests.write(text, index * bytes, 'latin1')
    }
    used = 0
  }
  return {
    /** @param continues whether more are signed once these are used up */
    prepare: (count: number, continues: boolean): void => {
      signsMore = continues
      signMany(count)
    },
    /** Undefined when there is none left. */
    next: (): Buffer | undefined => {
      if (used === requests.length) {
        if (!signsMore) return undefined
        signMany(SIGNED_AT_ONCE)
      }
      used += bytes
      return requests.subarray(used - bytes, used)
    },
  }
}
