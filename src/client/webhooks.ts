/**
 * Webhook verification for receivers.
 *
 * - The raw body is verified before it is parsed.
 * - A timestamp outside the window and a repeated nonce are refused.
 * - Process an event once: answer a `duplicate` and do nothing.
 * - A 4xx is final for the sender, so only a wrong signature under a known key has one. Everything
 *   else can heal: the next attempt has a new timestamp and nonce, and finds a loaded secret.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { brandHeader, canonicalRequest, isSignatureOf } from './signing.js'
import type { WebhookEvent } from './types.js'

export interface WebhookRequest {
  readonly method: string
  /** Unchanged path with query. */
  readonly url: string
  /** As `node:http` gives them, with names in lower case, or as `fetch` does. */
  readonly headers: IncomingHttpHeaders | Headers
  readonly body: Uint8Array
}

export type WebhookFault =
  | 'unknown_key'
  | 'timestamp_outside_window'
  | 'nonce_repeated'
  | 'wrong_signature'
  | 'headers_contradict_body'

/** With the HTTP status to answer. */
export type Verification =
  /** Answer it when the event is stored. */
  | { readonly kind: 'verified'; readonly status: 204; readonly event: WebhookEvent }
  /** Valid, and stored before. */
  | { readonly kind: 'duplicate'; readonly status: 204; readonly event: WebhookEvent }
  | { readonly kind: 'refused'; readonly status: 401 | 503; readonly fault: WebhookFault }

/**
 * Ids of stored events. Keep them with the events, in the same transaction and under a unique key:
 * two deliveries of one event can arrive at the same time.
 */
export interface EventStore {
  has(eventId: string): boolean | Promise<boolean>
}

/** For receivers that need no database. */
export interface MemoryEventStore extends EventStore {
  /** Call it when the event is processed. @returns false when it was there before */
  add(eventId: string): boolean
}

/** Seen nonces. Share the store between receivers. */
export interface NonceStore {
  /** @returns false when the nonce was there before */
  add(nonce: string, atMs: number): boolean | Promise<boolean>
}

export interface VerifierOptions {
  /** The webhook secret of a key id; during a rotation there are two. */
  readonly secretOf: (keyId: string) => string | undefined | Promise<string | undefined>
  readonly events: EventStore
  readonly nonces?: NonceStore
  readonly brand?: string
  /** Epoch milliseconds. */
  readonly now?: () => number
}

export type WebhookVerifier = (request: WebhookRequest) => Promise<Verification>

const TIMESTAMP_WINDOW_MS = 5 * 60_000
const NONCE_WINDOW_MS = 10 * 60_000

export function createWebhookVerifier(options: VerifierOptions): WebhookVerifier {
  const { secretOf, events, brand = 'Service', now = Date.now } = options
  const nonces = options.nonces ?? rememberNonces()

  const faultOf = async (request: WebhookRequest): Promise<WebhookFault | undefined> => {
    const header = headersOf(request, brand)
    const secret = await secretOf(header('Key-Id'))
    // Anyone can sign with an empty secret.
    if (secret === undefined || secret === '') return 'unknown_key'
    const timestamp = header('Timestamp')
    const age = now() - Date.parse(timestamp)
    if (!(Math.abs(age) <= TIMESTAMP_WINDOW_MS)) return 'timestamp_outside_window'
    const { method, url: path, body } = request
    const nonce = header('Nonce')
    const canonical = canonicalRequest({ method, path, timestamp, nonce, body })
    if (!isSignatureOf(header('Signature'), canonical, secret)) return 'wrong_signature'
    const isNew = /^[0-9a-f]{64}$/.test(nonce) && (await nonces.add(nonce, now()))
    return isNew ? undefined : 'nonce_repeated'
  }

  return async (request) => {
    const fault = await faultOf(request)
    if (fault !== undefined) return refused(fault)
    const header = headersOf(request, brand)
    const event = eventOf(request.body, header('Webhook-Event-Id'), header('Webhook-Event-Type'))
    if (event === undefined) return refused('headers_contradict_body')
    return { kind: (await events.has(event.id)) ? 'duplicate' : 'verified', status: 204, event }
  }
}

const refused = (fault: WebhookFault): Verification => ({
  kind: 'refused',
  status: fault === 'wrong_signature' ? 401 : 503,
  fault,
})

/** A nonce store in the memory of one process. */
export function rememberNonces(): NonceStore {
  const seen = new Map<string, number>()
  return {
    add: (nonce, atMs) => {
      for (const [old, at] of seen) {
        if (at >= atMs - NONCE_WINDOW_MS) break
        seen.delete(old)
      }
      if (seen.has(nonce)) return false
      seen.set(nonce, atMs)
      return true
    },
  }
}

const EVENTS_MAX = 100_000

/** An event store in the memory of one process: the newest ids, lost at a restart. */
export function rememberEvents(max = EVENTS_MAX): MemoryEventStore {
  const ids = new Set<string>()
  return {
    has: (id) => ids.has(id),
    add: (id) => {
      if (ids.has(id)) return false
      ids.add(id)
      for (const oldest of ids) {
        if (ids.size <= max) break
        ids.delete(oldest)
      }
      return true
    },
  }
}

function headersOf({ headers }: WebhookRequest, brand: string): (name: string) => string {
  return (name) => {
    const lower = brandHeader(brand, name).toLowerCase()
    const value = headers instanceof Headers ? headers.get(lower) : headers[lower]
    return typeof value === 'string' ? value : ''
  }
}

function eventOf(body: Uint8Array, id: string, type: string): WebhookEvent | undefined {
  const event = parsed(body)
  const isConsistent =
    event?.id === id &&
    event.webhook_event_id === id &&
    event.type === type &&
    event.webhook_event_type === type
  return isConsistent ? event : undefined
}

function parsed(body: Uint8Array): WebhookEvent | undefined {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8')) as WebhookEvent
  } catch {
    return undefined
  }
}
