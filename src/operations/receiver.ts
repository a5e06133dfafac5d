/**
 * A partner's webhook receiver.
 *
 * Owns: verifying a delivery as the contract asks of receivers, with node:crypto alone, and
 * dropping what came before. Does not own, and does not use, the service's own signing (auth).
 *
 * V1. What is verified is the bytes as they came, before anything parses them.
 * V2. An event counts once, however often it is delivered.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { MINUTE, type Clock } from '../base/clock.js'

const TIMESTAMP_WINDOW_MS = 5 * MINUTE
const NONCE_WINDOW_MS = 10 * MINUTE

export interface Delivery {
  readonly eventId: string
  readonly eventType: string
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
  /** `valid`, `duplicate` (valid, and seen before), or what is wrong with it. */
  readonly verdict: 'valid' | 'duplicate' | Fault
}

export type Fault =
  | 'unknown key'
  | 'timestamp outside of the window'
  | 'nonce seen before'
  | 'wrong signature'
  | 'headers do not match the body'

export interface ReceiverOptions {
  readonly clock: Clock
  readonly brand: string
  /** 0 takes a free one. */
  readonly port: number
  /** The webhook secret of an outbound key id. */
  readonly secretOf: (keyId: string) => string | undefined
  /** The status to answer with; 200 unless told otherwise. One that is not valid gets 401. */
  readonly answer?: (delivery: Delivery) => number | Promise<number>
  /** With the status it was answered with. */
  readonly onAnswered?: (delivery: Delivery, status: number) => void
}

export interface Receiver {
  readonly url: string
  /** Every request that came, in order. */
  readonly deliveries: readonly Delivery[]
  /** The events, each once, by id. */
  readonly events: ReadonlyMap<string, Delivery>
  close(): Promise<void>
}

export async function openReceiver(options: ReceiverOptions): Promise<Receiver> {
  const deliveries: Delivery[] = []
  const events = new Map<string, Delivery>()
  const judge = createJudge(options)

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bytesOf(request)
    const judged = judge(request, body)
    const repeated = judged.verdict === 'valid' && events.has(judged.eventId)
    const delivery: Delivery = repeated ? { ...judged, verdict: 'duplicate' } : judged
    deliveries.push(delivery)
    response.statusCode = await statusFor(delivery, options)
    const stored = response.statusCode < 300 && delivery.verdict === 'valid'
    if (stored) events.set(delivery.eventId, delivery)
    response.end()
    options.onAnswered?.(delivery, response.statusCode)
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((done, fail) => {
    server.once('error', fail)
    server.listen(options.port, '127.0.0.1', done)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    deliveries,
    events,
    close: () => {
      server.closeAllConnections()
      return new Promise((done) => server.close(() => done()))
    },
  }
}

async function statusFor(delivery: Delivery, { answer }: ReceiverOptions): Promise<number> {
  if (delivery.verdict !== 'valid' && delivery.verdict !== 'duplicate') return 401
  return answer === undefined ? 200 : answer(delivery)
}

/** Judges one request; remembers nonces for as long as a repeated one must be refused. */
function createJudge({ brand, clock, secretOf }: ReceiverOptions) {
  const nonces = new Map<string, number>()
  const forgetOld = (): void => {
    const oldest = clock.now() - NONCE_WINDOW_MS
    for (const [nonce, at] of nonces) if (at < oldest) nonces.delete(nonce)
  }

  const faultOf = (request: IncomingMessage, body: Buffer): Fault | undefined => {
    const header = (name: string): string => headerOf(request, `x-${brand}-${name}`)
    const secret = secretOf(header('key-id'))
    if (secret === undefined) return 'unknown key'
    const age = clock.now() - Date.parse(header('timestamp'))
    if (!(Math.abs(age) <= TIMESTAMP_WINDOW_MS)) return 'timestamp outside of the window'
    const nonce = header('nonce')
    if (!/^[0-9a-f]{64}$/.test(nonce) || nonces.has(nonce)) return 'nonce seen before'
    const canonical = canonicalOf(request, body, header('timestamp'), nonce)
    if (!isSignature(header('signature'), canonical, secret)) return 'wrong signature'
    forgetOld()
    nonces.set(nonce, clock.now())
    return matches(body, header('webhook-event-id'), header('webhook-event-type'))
      ? undefined
      : 'headers do not match the body'
  }

  return (request: IncomingMessage, body: Buffer): Delivery => ({
    eventId: headerOf(request, `x-${brand}-webhook-event-id`),
    eventType: headerOf(request, `x-${brand}-webhook-event-type`),
    body,
    headers: request.headers,
    verdict: faultOf(request, body) ?? 'valid',
  })
}

/** The path of a webhook is signed with its query. */
function canonicalOf(
  { method, url }: IncomingMessage,
  body: Buffer,
  timestamp: string,
  nonce: string,
): string {
  const hash = body.length === 0 ? '' : createHash('sha256').update(body).digest('hex')
  return [method, url, timestamp, nonce, hash, ''].join('\n')
}

function isSignature(given: string, canonical: string, secret: string): boolean {
  const wanted = createHmac('sha256', secret).update(canonical).digest()
  const bytes = Buffer.from(given, 'base64')
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
}

interface Event {
  readonly id?: unknown
  readonly type?: unknown
  readonly webhook_event_id?: unknown
  readonly webhook_event_type?: unknown
}

function matches(body: Buffer, id: string, type: string): boolean {
  const event = JSON.parse(body.toString('utf8')) as Event
  return (
    event.id === id &&
    event.webhook_event_id === id &&
    event.type === type &&
    event.webhook_event_type === type
  )
}

function headerOf({ headers }: IncomingMessage, name: string): string {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : ''
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}
