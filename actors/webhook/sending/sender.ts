/**
 * Sends one signed POST to an endpoint and classifies the answer.
 *
 * Owns: headers, signature, connections, deadlines. Does not own: when to send (webhook/pool),
 * allowed targets (sending/target_guard).
 *
 * - Every attempt has its own timestamp, nonce and signature over the same body.
 * - Only the status decides: a long, slow or broken response body does not change the outcome.
 * - Redirects are not followed, response bodies are not decompressed, and only their first bytes
 *   are stored.
 * - One connection pool per endpoint: no connection is shared between endpoints.
 * - `send` never rejects: every fault is an outcome.
 */
import type { Dispatcher } from 'undici'
import Pool from 'undici/lib/dispatcher/pool.js'
import { bodyHash, canonicalRequest } from '../../../src/auth/canonical.js'
import { newNonce } from '../../../src/auth/secret_generation.js'
import { sign } from '../../../src/auth/signature.js'
import { SECOND, toRfc3339, type Clock } from '../../../src/base/clock.js'
import type { Random } from '../../../src/base/random.js'
import { TRACEPARENT, type Traceparent } from '../../../src/base/traceparent.js'
import type { SendOutcome } from '../delivery/send_outcome.js'
import { secretAt, type Endpoint } from '../endpoint/endpoint.js'
import { CONNECTIONS_PER_ENDPOINT } from '../endpoint/endpoint_queue.js'
import {
  guardedLookup,
  checkUrl,
  TargetRefused,
  type GuardRules,
  type Resolve,
} from './target_guard.js'

/** Documented for partners in gateway/guide. */
export const ATTEMPT_WITHIN_MS = 10 * SECOND
const CONNECT_WITHIN_MS = 3 * SECOND
/** Shorter than the 5 s after which common servers close an idle connection. */
const KEEP_ALIVE_MS = 4 * SECOND
const REPLY_MAX_BYTES = 16 * 1024
const REPLY_KEPT_BYTES = 4 * 1024
/** Endpoints with open connection pools; the least recently used one is closed first. */
const POOLS_MAX = 1_024

export interface WebhookRequest {
  readonly endpoint: Endpoint
  readonly eventId: string
  readonly eventType: string
  readonly body: string
  /** Sent as a header. Null if there is none. */
  readonly traceparent: Traceparent | null
}

export interface Sender {
  send(request: WebhookRequest): Promise<SendOutcome>
  close(): Promise<void>
}

export interface SenderOptions {
  readonly brand: string
  readonly rules: GuardRules
  readonly resolve: Resolve
  readonly clock: Clock
  readonly random: Random
  readonly attemptWithinMs?: number
}

export function createSender(options: SenderOptions): Sender {
  const { brand, rules, clock, random, attemptWithinMs = ATTEMPT_WITHIN_MS } = options
  const lookup = guardedLookup(options.resolve, rules)
  const names = headerNames(brand)
  const pools = new Map<string, Pool>()
  const targets = new WeakMap<Endpoint, Target>()

  const send = (request: WebhookRequest): Promise<SendOutcome> => {
    const target = targetOf(request.endpoint)
    if (!target.ok) return Promise.resolve(unsent('permanent', target.reason))
    const body = Buffer.from(request.body)
    const headers = signedHeaders(request, target.path, body)
    if (headers === undefined) return Promise.resolve(unsent('retry', 'no_active_secret'))
    return post(poolOf(target), target.path, headers, body)
  }

  /** A changed endpoint is a new object, so the cached target is never stale. */
  const targetOf = (endpoint: Endpoint): Target => {
    let target = targets.get(endpoint)
    if (target === undefined) targets.set(endpoint, (target = readTarget(endpoint, rules)))
    return target
  }

  /** Names and values, alternating. */
  const signedHeaders = (
    { endpoint, eventId, eventType, traceparent }: WebhookRequest,
    path: string,
    body: Buffer,
  ): string[] | undefined => {
    const now = clock.now()
    const secret = secretAt(endpoint, now)
    if (secret === undefined) return undefined
    const timestamp = toRfc3339(now)
    const nonce = newNonce(random)
    const parts = { method: 'POST', path, timestamp, nonce, bodyHash: bodyHash(body) }
    return [
      ...['content-type', 'application/json', 'user-agent', names.userAgent],
      ...[names.keyId, secret.keyId, names.timestamp, timestamp, names.nonce, nonce],
      ...[names.signature, sign(secret.key, canonicalRequest(parts))],
      ...[names.eventId, eventId, names.eventType, eventType],
      ...(traceparent === null ? [] : [TRACEPARENT, traceparent]),
    ]
  }

  const poolOf = ({ key, origin }: Reachable): Pool => {
    const pool = pools.get(key) ?? openPool(origin)
    pools.delete(key)
    pools.set(key, pool)
    if (pools.size > POOLS_MAX) closeOldest()
    return pool
  }

  const openPool = (origin: string): Pool =>
    new Pool(origin, {
      connections: CONNECTIONS_PER_ENDPOINT,
      pipelining: 1,
      connect: { lookup, timeout: CONNECT_WITHIN_MS },
      headersTimeout: attemptWithinMs,
      bodyTimeout: attemptWithinMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
    })

  const closeOldest = (): void => {
    for (const [key, pool] of pools) {
      pools.delete(key)
      pool.close().catch(() => undefined) // destroyed meanwhile
      return
    }
  }

  const post = (pool: Pool, path: string, headers: string[], body: Buffer): Promise<SendOutcome> =>
    new Promise((resolve) => {
      const began = clock.now()
      const { handler, abort } = readAnswer((answer) => {
        clearTimeout(timer)
        // The clock may be set back meanwhile.
        resolve(outcomeOf(answer, Math.max(0, clock.now() - began)))
      })
      const timer = setTimeout(() => abort('timeout'), attemptWithinMs)
      pool.dispatch({ method: 'POST', path, headers, body }, handler)
    })

  return {
    send,
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
      pools.clear()
    },
  }
}

const unsent = (kind: 'permanent' | 'retry', reason: string): SendOutcome => ({
  kind,
  status: null,
  reason,
  latencyMs: 0,
  reply: '',
})

type Target = Reachable | { readonly ok: false; readonly reason: string }

interface Reachable {
  readonly ok: true
  /** Key of the connection pool. */
  readonly key: string
  readonly origin: string
  /** Including the query. */
  readonly path: string
}

function readTarget(endpoint: Endpoint, rules: GuardRules): Target {
  const checked = checkUrl(endpoint, rules)
  if (!checked.ok) return checked
  const { origin, pathname, search } = checked.url
  return { ok: true, key: `${endpoint.id} ${origin}`, origin, path: pathname + search }
}

const headerNames = (brand: string) => ({
  userAgent: `${brand}-Webhooks`,
  keyId: `X-${brand}-Key-Id`,
  timestamp: `X-${brand}-Timestamp`,
  nonce: `X-${brand}-Nonce`,
  signature: `X-${brand}-Signature`,
  eventId: `X-${brand}-Webhook-Event-Id`,
  eventType: `X-${brand}-Webhook-Event-Type`,
})

interface Answer {
  readonly status: number | null
  /** Why the status is null. */
  readonly fault: string
  readonly reply: string
}

/** Lower ones (102, 103) are interim responses (RFC 9110, 15.2). */
const FINAL_STATUS = 200

/** Collects a response up to its cap. Calls `report` once, also after `abort`. */
function readAnswer(report: (answer: Answer) => void): {
  readonly handler: Dispatcher.DispatchHandler
  abort(fault: string): void
} {
  let controller: Dispatcher.DispatchController | undefined
  let status: number | null = null
  const chunks: Buffer[] = []
  let received = 0
  let over = false

  const end = (fault: string): void => {
    if (over) return
    over = true
    const start = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
    report({ status, fault, reply: start?.toString('utf8', 0, REPLY_KEPT_BYTES) ?? '' })
  }
  const abort = (fault: string): void => {
    end(fault)
    controller?.abort(new Error(fault))
  }
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (given) => {
      controller = given
      if (over) given.abort(new Error('aborted before the request started'))
    },
    onResponseStart: (_controller, given) => {
      if (given >= FINAL_STATUS) status = given
    },
    onResponseData: (_controller, chunk) => {
      received += chunk.length
      if (received - chunk.length < REPLY_KEPT_BYTES) chunks.push(chunk)
      if (received > REPLY_MAX_BYTES) abort('reply cut')
    },
    onResponseEnd: () => end(''),
    onResponseError: (_controller, error) => end(faultName(error)),
  }
  return { handler, abort }
}

function faultName(error: Error): string {
  if (error instanceof TargetRefused) return 'target_refused'
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.name
}

function outcomeOf({ status, fault, reply }: Answer, latencyMs: number): SendOutcome {
  const reason = status === null ? fault : `http_${status}`
  return { kind: kindOf(status), status, reason, latencyMs, reply }
}

function kindOf(status: number | null): SendOutcome['kind'] {
  if (status === null || status >= 500) return 'retry'
  if (status < 300) return 'delivered'
  return status === 410 ? 'gone' : 'permanent'
}
