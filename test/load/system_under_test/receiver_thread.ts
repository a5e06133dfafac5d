/**
 * The receivers' thread.
 *
 * Owns: taking deliveries, answering them in their endpoint's manner, telling the clients which
 * payments have ended. Does not own: which endpoints there are (webhook_receivers).
 *
 * - One delivery in so many has its signature verified, by code that shares nothing with the
 *   service's: all of them would cost the machine what it is measured for. The others are counted
 *   by their headers.
 * - What is told to clients carries the instant of the answer, so the way to them costs no
 *   latency.
 */
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { parentPort, type MessagePort } from 'node:worker_threads'
import { createLatencies, latencyMs, recordMs } from '../client/latency.js'
import type { WebhookReport } from '../client/load.js'
import { createMessageReader, type Message } from '../client/message_reader.js'
import type { ReceiverAnswer, ReceiverOrder, Seen, ServedEndpoint } from './webhook_receivers.js'
import { createSigner, type Signer } from '../client/signature.js'

interface Served {
  readonly manner: ServedEndpoint['manner']
  readonly sign: Signer
  readonly events: Set<string>
  came: number
  faults: number
}

const REQUEST = /^POST (\S+) HTTP\/1\.1\r\n/
const EVENT = /\r\nx-service-webhook-event-id: ([^\r]+)/i
const TYPE = /\r\nx-service-webhook-event-type: ([^\r]+)/i
const TIMESTAMP = /\r\nx-service-timestamp: ([^\r]+)/i
const NONCE = /\r\nx-service-nonce: ([^\r]+)/i
const SIGNATURE = /\r\nx-service-signature: ([^\r]+)/i
const CREATED_AT = '"created_at":"'
const ENTITY = /"data":\{"[a-z_]+":\{"(?:id|intent_id)":"([^"]+)"/
const ENDED: ReadonlySet<string> = new Set(['payout.completed', 'payment_intent.captured'])
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const SLOW_MS = 2_000
const VERIFY_EVERY = 16

const endpoints = new Map<string, Served>()
let ill = false
/** Those whose delivery a dead endpoint has taken. */
const hanging = new Set<Socket>()
let clients: readonly MessagePort[] = []
const arrivals = { sample: createLatencies(), window: createLatencies() }
let reports: string[] = []

const say = (answer: ReceiverAnswer): void => parentPort?.postMessage(answer)
/** Epoch milliseconds with their fraction, the same for all threads. */
const now = (): number => performance.timeOrigin + performance.now()

function serve(socket: Socket): void {
  const reader = createMessageReader(REQUEST)
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => hanging.delete(socket))
  socket.on('data', (chunk) => {
    const message = reader.read(chunk)
    if (message === 'incomplete') return
    const endpoint = message === 'unreadable' ? undefined : endpoints.get(message.first[1] ?? '')
    if (message === 'unreadable' || endpoint === undefined) return void socket.destroy()
    receive(socket, endpoint, message)
  })
}

function receive(socket: Socket, endpoint: Served, message: Message): void {
  const { head, body } = message
  endpoint.came += 1
  if (endpoint.came % VERIFY_EVERY === 0 && !isSigned(endpoint, message)) endpoint.faults += 1
  const manner = ill ? endpoint.manner : 'prompt'
  if (manner === 'dead') return void hanging.add(socket)
  const text = body.toString('utf8')
  const answer = (): void => {
    const event = EVENT.exec(head)?.[1] ?? ''
    if (event === '') endpoint.faults += 1
    endpoint.events.add(event)
    socket.write(OK)
  }
  if (manner === 'slow') return void setTimeout(answer, SLOW_MS)
  answer()
  const age = now() - createdAt(text)
  recordMs(arrivals.sample, age)
  recordMs(arrivals.window, age)
  if (ENDED.has(TYPE.exec(head)?.[1] ?? '')) announce(ENTITY.exec(text)?.[1] ?? '')
}

function createdAt(text: string): number {
  const from = text.indexOf(CREATED_AT) + CREATED_AT.length
  return Date.parse(text.slice(from, text.indexOf('"', from)))
}

function isSigned({ sign }: Served, { first, head, body }: Message): boolean {
  const signed = sign({
    method: 'POST',
    path: first[1] ?? '',
    timestamp: TIMESTAMP.exec(head)?.[1] ?? '',
    nonce: NONCE.exec(head)?.[1] ?? '',
    body: body.toString('utf8'),
  })
  return SIGNATURE.exec(head)?.[1] === signed
}

/** What one turn of the event loop brings travels in one message. */
function announce(entity: string): void {
  reports.push(entity)
  if (reports.length > 1) return
  const at = now()
  setImmediate(() => {
    const told: WebhookReport = { at, entities: reports }
    reports = []
    for (const client of clients) client.postMessage(told)
  })
}

function seen(): readonly Seen[] {
  return [...endpoints.values()].map(({ came, events, faults }) => ({
    came,
    answered: events.size,
    faults,
  }))
}

parentPort?.on('message', (order: ReceiverOrder) => {
  switch (order.kind) {
    case 'serve':
      for (const { path, manner, secret } of order.endpoints) {
        endpoints.set(path, {
          manner,
          sign: createSigner(secret),
          events: new Set(),
          came: 0,
          faults: 0,
        })
      }
      return say({ kind: 'served' })
    case 'fall_ill':
      ill = true
      return
    case 'recover':
      ill = false
      for (const socket of hanging) socket.destroy()
      return hanging.clear()
    case 'tell':
      clients = order.ports
      return
    case 'seen':
      return say({ kind: 'seen', seen: seen() })
    case 'arrivals': {
      const since = arrivals[order.of]
      arrivals[order.of] = createLatencies()
      return say({ kind: 'arrivals', arrivals: { count: since.count, age: latencyMs(since) } })
    }
  }
})

const server = createServer(serve)
server.listen(0, '127.0.0.1', () => {
  say({ kind: 'listening', port: (server.address() as AddressInfo).port })
})
