/**
 * The receivers' thread: answers deliveries and reports ended payments to the client.
 *
 * - One delivery in 16 has its signature verified, by code independent of the service. Verifying
 *   all of them would load the measured machine.
 * - A notice carries the time of the answer, so its transfer to the client adds no latency.
 */
import { on, once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads'
import { canonicalRequest, connect, signatureOf, type Credentials } from '../../src/client/index.js'
import { createMessageReader, type Message } from './client/http_message.js'
import { createLatencies, latencyMs, recordMs } from './client/latency.js'
import type { WebhookNotice } from './client/load.js'
import type { EndpointPlan } from './receivers.js'

type Endpoint = Awaited<ReturnType<typeof open>>

const REQUEST = /^POST (\S+) HTTP\/1\.1\r\n/
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const CREATED_AT = /"created_at":"([^"]+)"/
const ENTITY = /"data":\{"[a-z_]+":\{"(?:id|intent_id)":"([^"]+)"/
const ENDED: ReadonlySet<string> = new Set(['payout.completed', 'payment_intent.captured'])
const SLOW_MS = 2_000
const VERIFY_EVERY = 16

const notices = new BroadcastChannel(workerData as string)
const endpoints: Endpoint[] = []
let failing = false
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
  const read = createMessageReader(REQUEST)
  endpoint.sockets.add(socket)
  socket.on('error', () => socket.destroy())
  socket.on('close', () => endpoint.sockets.delete(socket))
  socket.on('data', (chunk) => {
    const message = read(chunk)
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
  if (behavior === 'healthy') accept(socket, endpoint, message)
  else if (behavior === 'slow') setTimeout(accept, SLOW_MS, socket, endpoint, message)
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
  const { body, first } = message
  const [timestamp, nonce] = [timestampOf(message), nonceOf(message)]
  const canonical = canonicalRequest({ method: 'POST', path: first[1]!, timestamp, nonce, body })
  return givenSignature(message) === signatureOf(canonical, secret)
}

/** All notices of one event-loop iteration in one message. */
function notify(entity: string): void {
  ended.push(entity)
  if (ended.length > 1) return
  const at = now()
  setImmediate(() => {
    notices.postMessage({ at, entities: ended } satisfies WebhookNotice)
    ended = []
  })
}

async function open(credentials: Credentials, { behavior, events }: EndpointPlan) {
  const partner = connect(credentials)
  const seen = { sockets: new Set<Socket>(), events: new Set<string>(), deliveries: 0, faults: 0 }
  const endpoint = { id: '', secret: '', partner, behavior, ...seen }
  const server = createServer({ noDelay: true }, (socket) => serve(socket, endpoint))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
  const body = { url, enabled_events: events }
  const answer = await partner.request('POST', '/v1/webhook_endpoints', body)
  if (answer.status !== 201) throw new Error(`no endpoint: ${answer.status} ${answer.text}`)
  const { id, secret } = answer.body as Record<'id' | 'secret', string>
  return Object.assign(endpoint, { id, secret })
}

const calls = {
  /** Endpoints of each partner, registered one after the other: their order is that of the ids. */
  register: async (partners: readonly Credentials[], plans: readonly EndpointPlan[]) => {
    for (const partner of partners) {
      for (const plan of plans) endpoints.push(await open(partner, plan))
    }
    return endpoints.map(({ id }) => ({ id }))
  },
  unregister: async (): Promise<void> => {
    for (const { id, partner } of endpoints)
      await partner.request('DELETE', `/v1/webhook_endpoints/${id}`)
  },
  /** Off at first. Switching failures off closes the connections of failing endpoints. */
  setFailures: (on: boolean): void => {
    failing = on
    for (const { behavior, sockets } of on ? [] : endpoints) {
      if (behavior !== 'healthy') for (const socket of sockets) socket.destroy()
    }
  },
  /** At each endpoint: events answered 2xx, and inspected deliveries that were not valid. */
  received: () => endpoints.map(({ events, faults }) => ({ answered: events.size, faults })),
  /** Since the previous call: deliveries answered 2xx, their age at healthy endpoints. */
  arrivals: () => {
    const arrivals = { count: arrived, age: latencyMs(ages) }
    arrived = 0
    ages = createLatencies()
    return arrivals
  },
}
export type Calls = typeof calls

/** One call after the other, so replies are in order. A failure ends the thread. */
for await (const [[name, given]] of on(parentPort!, 'message')) {
  const call = calls[name as keyof Calls] as (...given: unknown[]) => unknown
  parentPort!.postMessage(await call(...(given as unknown[])))
}
