/**
 * Requests with safe retries.
 *
 * - Every attempt carries the same Idempotency-Key and a signature of its own: a nonce is valid
 *   once.
 * - Keys are printable ASCII; the key in the answer must equal the key that was sent.
 * - Answers other than 2xx with JSON are thrown (errors.ts).
 */
import type { BearerConnection } from './connection.js'
import { ConnectionError, errorOf, IdempotencyKeyError } from './errors.js'
import type { HttpAnswer } from './http.js'
import {
  delayMs,
  is2xx,
  isRetriedFault,
  isRetriedStatus,
  RETRY,
  retryAfterMs,
  type RetryOptions,
} from './retry.js'

export interface ClientOptions {
  readonly retry?: Partial<RetryOptions>
  /** For each attempt, to the last byte of the answer; default 30 seconds. */
  readonly timeoutMs?: number
  /** A new X-Request-Id of each request, which your logs and the service's then share. */
  readonly requestId?: () => string
  /** Epoch milliseconds; for tests. */
  readonly now?: () => number
  /** From 0 to 1; for tests. */
  readonly random?: () => number
  /** For tests. */
  readonly sleep?: (ms: number) => Promise<void>
}

export interface ApiRequest {
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
  readonly sleep: (ms: number) => Promise<void>
}

/** Without spaces at the ends: HTTP drops them. */
const PRINTABLE_ASCII = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

const defaultSleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))

export function createRequester(options: ClientOptions): Requester {
  const { random = Math.random, sleep = defaultSleep, now = Date.now } = options
  const limits = { ...RETRY, ...options.retry }

  const send: Requester['send'] = async (connection, request) => {
    const { method, path, body, idempotencyKey: key } = request
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
    for (let attempt = 1; ; attempt++) {
      const result = await connection
        .request(method, path, body, { headers })
        .catch((cause: unknown) => new ConnectionError(key, cause))
      const failed = result instanceof ConnectionError
      if (!failed) checkEcho(result, key)
      if (!failed && isSuccess(result)) return result
      const after = failed ? undefined : retryAfterMs(result, now())
      const isRetried = failed
        ? isRetriedFault(result.cause, isRepeatable)
        : isRetriedStatus(result.status, isRepeatable)
      const delay = isRetried
        ? delayMs({ attempt, retryAfterMs: after, random: random() }, limits)
        : undefined
      if (delay === undefined) throw failed ? result : errorOf(result, key, after)
      await sleep(delay)
    }
  }
  return { send, random, now, sleep }
}

/** Every answer of the service is a JSON object. */
const isSuccess = ({ status, body }: HttpAnswer): boolean =>
  is2xx(status) && typeof body === 'object' && body !== null

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
