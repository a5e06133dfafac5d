/**
 * Requests with safe retries.
 *
 * - Every attempt carries the same Idempotency-Key and a signature of its own: a nonce is valid
 *   once.
 * - Keys are printable ASCII; the key in the answer must equal the key that was sent.
 * - Answers other than 2xx with JSON are thrown (errors.ts).
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { BearerConnection } from './connection.js'
import { AbortedError, ConnectionError, errorOf, IdempotencyKeyError } from './errors.js'
import type { HttpAnswer } from './http.js'
import { replayedOf, requestIdOf, withDetails } from './response_details.js'
import {
  delayMs,
  is2xx,
  isRetriedFault,
  isRetriedStatus,
  RETRY,
  retryAfterMs,
  type RetryOptions,
} from './retry.js'
import type { TransportOptions } from './transport.js'

export interface ClientOptions extends TransportOptions {
  readonly retry?: Partial<RetryOptions>
  /** For each attempt, to the last byte of the answer; default 30 seconds. */
  readonly timeoutMs?: number
  /** Name and version of your program, added to the `User-Agent`. */
  readonly userAgent?: string
  /** After each attempt, for logs and metrics. It must not throw. */
  readonly onAttempt?: (attempt: Attempt) => void
  /** A new X-Request-Id of each request, which your logs and the service's then share. */
  readonly requestId?: () => string
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number
  /** From 0 to 1; for tests. */
  readonly random?: () => number
  /** For tests. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** One attempt of a call. Paths, keys and ids are no secrets; bodies and tokens are not in it. */
export interface Attempt {
  readonly method: string
  /** With its query. */
  readonly path: string
  /** From 1. */
  readonly number: number
  /** Undefined means that there is no answer. */
  readonly status: number | undefined
  /** Empty without an answer. */
  readonly requestId: string
  /** Why there was no answer. */
  readonly error: Error | undefined
  readonly idempotencyKey: string | undefined
  readonly durationMs: number
  /** Until the next attempt. Undefined if this was the last one. */
  readonly retryInMs: number | undefined
}

export interface CallOptions {
  /** Ends the call with an AbortedError. The request may have been carried out. */
  readonly signal?: AbortSignal
  /** For each attempt of this call, instead of the client's. */
  readonly timeoutMs?: number
}

export interface ApiRequest extends CallOptions {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly idempotencyKey?: string
  /** A repetition changes nothing more. Default: reads, and writes with a key. */
  readonly isRepeatable?: boolean
}

export interface Requester {
  send(connection: BearerConnection, request: ApiRequest): Promise<HttpAnswer>
  readonly random: () => number
  readonly now: () => number
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
}

/** Without spaces at the ends: HTTP drops them. */
const PRINTABLE_ASCII = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

const defaultSleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  wait(ms, undefined, signal === undefined ? {} : { signal })

export function createRequester(options: ClientOptions): Requester {
  const { random = Math.random, sleep = defaultSleep, now = Date.now } = options
  const limits = { ...RETRY, ...options.retry }

  const send: Requester['send'] = async (connection, request) => {
    const { method, path, body, idempotencyKey: key, signal, timeoutMs } = request
    if (key !== undefined && !PRINTABLE_ASCII.test(key)) {
      throw new IdempotencyKeyError(
        'an Idempotency-Key is 1 to 255 printable ASCII characters, without spaces at its ends',
        key,
      )
    }
    const isRepeatable = request.isRepeatable ?? (method === 'GET' || key !== undefined)
    const headers: Record<string, string> = {
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
      ...(options.requestId === undefined ? {} : { 'X-Request-Id': options.requestId() }),
    }
    const advice = (answer: HttpAnswer): string => adviceOn(answer, connection.keyId, now())
    for (let attempt = 1; ; attempt++) {
      const startedAt = performance.now()
      const result = await connection
        .request(method, path, body, { headers, signal, timeoutMs })
        .catch((cause: unknown) =>
          signal?.aborted === true ? new AbortedError(key, cause) : new ConnectionError(key, cause),
        )
      const failed = result instanceof ConnectionError
      const report = (retryInMs: number | undefined): void =>
        options.onAttempt?.({
          method,
          path,
          number: attempt,
          status: failed ? undefined : result.status,
          requestId: failed ? '' : requestIdOf(result.headers),
          error: failed ? result : undefined,
          idempotencyKey: key,
          durationMs: performance.now() - startedAt,
          retryInMs,
        })
      if (!failed && isSuccess(result)) {
        report(undefined)
        checkEcho(result, key)
        return described(result, key, attempt)
      }
      if (!failed) checkEcho(result, key)
      const after = failed ? undefined : retryAfterMs(result, now())
      const isRetried = failed
        ? isRetriedFault(result.cause, isRepeatable)
        : isRetriedStatus(result.status, isRepeatable)
      const delay =
        isRetried && signal?.aborted !== true
          ? delayMs({ attempt, retryAfterMs: after, random: random() }, limits)
          : undefined
      report(delay)
      if (delay === undefined) throw failed ? result : errorOf(result, key, after, advice(result))
      await sleep(delay, signal).catch((cause: unknown) => {
        throw new AbortedError(key, cause)
      })
    }
  }
  return { send, random, now, sleep }
}

/** Every answer of the service is a JSON object. */
const isSuccess = ({ status, body }: HttpAnswer): boolean =>
  is2xx(status) && typeof body === 'object' && body !== null

function described(answer: HttpAnswer, idempotencyKey: string | undefined, attempts: number) {
  const { status, headers, body } = answer
  withDetails(body as object, {
    ...{ status, headers, idempotencyKey, attempts },
    requestId: requestIdOf(headers),
    replayed: replayedOf(headers),
  })
  return answer
}

const CLOCK_MAX_MS = 5 * 60_000

/** What the service does not say of a refused signature: its answer is the same for each cause. */
function adviceOn({ status, headers }: HttpAnswer, keyId: string | undefined, now: number): string {
  if (status !== 401 || keyId === undefined) return ''
  const aheadMs = now - Date.parse(headers.date ?? '')
  if (Math.abs(aheadMs) > CLOCK_MAX_MS) {
    const seconds = Math.round(Math.abs(aheadMs) / 1_000)
    return ` Your clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's.`
  }
  return keyId.includes('_sandbox_') ? ' client.sandbox.checkSignature() tells why.' : ''
}

/** HTTP drops bytes beyond ASCII at both ends of a header: two keys would become one. */
function checkEcho({ headers }: HttpAnswer, sent: string | undefined): void {
  const received = headers['idempotency-key']
  if (sent === undefined || received === undefined || received === sent) return
  throw new IdempotencyKeyError(
    `the service received the key ${JSON.stringify(received)} instead of ${JSON.stringify(sent)}`,
    sent,
  )
}

const ID = /^[A-Za-z0-9_-]+$/

/** A path with one id. @throws a TypeError when it is no id: it could name another path */
export function pathOf(before: string, id: string, after = ''): string {
  if (!ID.test(id)) throw new TypeError(`not an id: ${JSON.stringify(id)}`)
  return `${before}/${id}${after}`
}
