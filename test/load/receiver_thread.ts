/**
 * The receivers' thread: answers deliveries and reports ended payments to the clients.
 *
 * - One delivery in 16 has its signature verified, by code independent of the service. Verifying
 *   all of them would load the measured machine.
 * - A notice carries the time of the answer, so its transfer to the client adds no latency.
 */
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { parentPort, type MessagePort } from 'node:worker_threads'
import { canonicalRequest, signatureOf } from '../../src/client/index.js'
import { createMessageReader, type Message } from './client/http_message.js'
import { createLatencies, latencyMs, recordMs } from './client/latency.js'
import type { WebhookNotice } from './client/load.js'
import type { Behavior, Received, ReceiverOrder, ReceiverReply } from './receivers.js'

type Endpoint = Awaited<ReturnType<typeof open>>

const REQUEST = /^POST (\S+) HTTP\/1\.1\r\n/
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const CREATED_AT = /"created_at":"([^"]+)"/
const ENTITY = /"data":\{"[a-z_]+":\{"(?:id|intent_id)":"([^"]+)"/
const ENDED: ReadonlySet<string> = new Set(['payout.completed', 'payment_intent.captured'])
const SLOW_MS = 2_000
const VERIFY_EVERY = 16

let endpoints: readonly Endpoint[] = []
let failing = false
let client: MessagePort | undefined
let arrived = 0
let ages = createLatencies()
let ended: string[] = []

/** Epoch milliseconds with their fraction, the same in all threads. */
const now = (): number => performance.timeOrigin + performance.now()

const header = (name: string): ((message: Message) => string) => {
  const pattern = new RegExp(`\\r\\nx-service-${name}: ([^\\r]+)`, 'i')
  return ({ head }) => pattern.exec(head)?.[1] ?? ''
}
const eventId = header('webhook-event-id')
const eventType = header('webhook-event-type')
const [timestampOf, nonceOf] = [header('timestamp'), header('nonce')]
const givenSignature = header('signature')

function serve(socket: Socket, endpoint: Endpoint): void {
  const reader = createMessageReader(REQUEST)
  endpoint.sockets.add(socket)
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => endpoint.sockets.delete(socket))
  socket.on('data', (chunk) => {
    const message = reader.read(chunk)
    if (message === 'incomplete') return
    if (message !== 'unreadable') return receive(socket, endpoint, message)
    endpoint.faults += 1
    socket.destroy()
  })
}

function receive(socket: Socket, endpoint: Endpoint, message: Message): void {
  endpoint.deliveries += 1
  if (endpoint.deliveries % VERIFY_EVERY === 0 && !isSigned(endpoint, message)) endpoint.faults += 1
  const behavior = failing ? endpoint.behavior : 'healthy'
  if (behavior === 'dead') return
  if (behavior === 'slow') return void setTimeout(() => accept(socket, endpoint, message), SLOW_MS)
  accept(socket, endpoint, message)
}

function accept(socket: Socket, endpoint: Endpoint, message: Message): void {
  if (socket.destroyed) return
  const event = eventId(message)
  if (event === '') endpoint.faults += 1
  endpoint.events.add(event)
  socket.write(OK)
  arrived += 1
  const body = message.body.toString('utf8')
  if (endpoint.behavior === 'healthy') {
    recordMs(ages, now() - Date.parse(CREATED_AT.exec(body)?.[1] ?? ''))
  }
  if (ENDED.has(eventType(message))) notify(ENTITY.exec(body)?.[1] ?? '')
}

function isSigned({ secret }: Endpoint, message: Message): boolean {
  const [path = '', body] = [message.first[1], message.body.toString('utf8')]
  const [timestamp, nonce] = [timestampOf(message), nonceOf(message)]
  const canonical = canonicalRequest({ method: 'POST', path, timestamp, nonce, body })
  return givenSignature(message) === signatureOf(canonical, secret)
}

/** All notices of one event-loop iteration in one message. */
function notify(entity: string): void {
  ended.push(entity)
  if (ended.length > 1) return
  const at = now()
  setImmediate(() => {
    const notice: WebhookNotice = { at, entities: ended }
    ended = []
    client?.postMessage(notice)
  })
}

async function open(behavior: Behavior) {
  const server = createServer((socket) => serve(socket, endpoint))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const seen = { sockets: new Set<Socket>(), events: new Set<string>(), deliveries: 0, faults: 0 }
  const endpoint = { server, port, behavior, ...seen, secret: '' }
  return endpoint
}

function setFailures(on: boolean): void {
  failing = on
  if (on) return
  for (const { behavior, sockets } of endpoints) {
    if (behavior !== 'healthy') for (const socket of sockets) socket.destroy()
  }
}

async function replyTo(order: ReceiverOrder): Promise<ReceiverReply> {
  switch (order.kind) {
    case 'listen':
      endpoints = await Promise.all(order.behaviors.map(open))
      return endpoints.map(({ port }) => port)
    case 'secrets':
      for (const [index, endpoint] of endpoints.entries()) {
        endpoint.secret = order.secrets[index] ?? ''
      }
      return undefined
    case 'failures':
      return void setFailures(order.on)
    case 'notify':
      client = order.port
      return undefined
    case 'received':
      return endpoints.map(({ events, faults }): Received => ({ answered: events.size, faults }))
    case 'arrivals': {
      const arrivals = { count: arrived, age: latencyMs(ages) }
      arrived = 0
      ages = createLatencies()
      return arrivals
    }
  }
}

parentPort?.on('message', (order: ReceiverOrder) => {
  void replyTo(order).then((reply) => parentPort?.postMessage(reply))
})
