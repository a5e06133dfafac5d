/** The sender of webhooks: headers, signature, outcomes, response limits. */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { signingKey } from '../../src/auth/signature.js'
import { HOUR, instant, systemClock, type Clock } from '../../src/base/clock.js'
import { systemRandom } from '../../src/base/random.js'
import {
  createSender,
  type WebhookRequest,
  type Sender,
} from '../../actors/webhook/sending/sender.js'
import { systemNames, type Resolve } from '../../actors/webhook/sending/target_guard.js'
import { CONNECTIONS_PER_ENDPOINT } from '../../actors/webhook/endpoint/endpoint_queue.js'
import { listen } from '../support/listen.js'
import { anEndpoint, heldClock, SECRET } from './builders.js'

interface Received {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

type Answer = (response: ServerResponse, received: Received) => void

/** A receiver that records its requests. */
async function aReceiver(t: Test, answer: Answer) {
  const received: Received[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const got = { method, url, headers, body: Buffer.concat(chunks) }
      received.push(got)
      answer(response, got)
    })
  })
  return { received, url: `http://127.0.0.1:${await listen(t, server)}` }
}

function aSender(
  t: Test,
  changes: {
    attemptWithinMs?: number
    allowPrivate?: boolean
    resolve?: Resolve
    brand?: string
    clock?: Clock
  } = {},
): Sender {
  const { allowPrivate = true, resolve = systemNames, brand = 'Service', ...rest } = changes
  const sender = createSender({
    brand,
    rules: { allowPrivate },
    resolve,
    clock: systemClock,
    random: systemRandom(),
    ...rest,
  })
  t.teardown(() => sender.close())
  return sender
}

const aWebhookRequest = (url: string, changes: Partial<WebhookRequest> = {}): WebhookRequest => ({
  endpoint: anEndpoint({ url }),
  eventId: 'evt_1',
  eventType: 'payout.completed',
  body: '{"id":"evt_1","note":"ส่งเงิน ₫"}',
  traceparent: null,
  ...changes,
})

/** The verification of a receiver, written from the contract without the signer's code. */
function verify({ method, url, headers, body }: Received, secret: string, brand = 'service') {
  const header = (name: string): string => String(headers[`x-${brand}-${name}`])
  const hash = createHash('sha256').update(body).digest('hex')
  const lines = [method, url, header('timestamp'), header('nonce'), hash]
  const text = lines.map((line) => line + '\n').join('')
  const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(text).digest('base64')
  return {
    signed: expected === header('signature'),
    ageMs: Math.abs(Date.now() - Date.parse(header('timestamp'))),
    nonce: header('nonce'),
    keyId: header('key-id'),
    id: header('webhook-event-id'),
    type: header('webhook-event-type'),
  }
}

t.test('a delivery has the documented headers, body and signature', async (t) => {
  const { received, url } = await aReceiver(t, (response) => response.writeHead(204).end())
  const sender = aSender(t)
  const webhookRequest = aWebhookRequest(`${url}/hooks/pay%20out?token=a%2Fb&x=1#fragment`)
  const outcome = await sender.send(webhookRequest)
  t.match(outcome, { kind: 'delivered', status: 204, reply: '' })
  const [first] = received
  t.equal(first?.method, 'POST')
  t.equal(first?.url, '/hooks/pay%20out?token=a%2Fb&x=1')
  t.equal(first?.body.toString(), webhookRequest.body, 'byte for byte')
  t.equal(first?.headers['content-type'], 'application/json')
  t.equal(first?.headers['content-length'], String(Buffer.byteLength(webhookRequest.body)))
  const seen = verify(first!, SECRET)
  t.match(seen, { signed: true, keyId: 'whk_1', id: 'evt_1', type: 'payout.completed' })
  t.match(seen.nonce, /^[0-9a-f]{64}$/)
  t.ok(seen.ageMs < 60_000)
  t.notOk(verify({ ...first!, url: '/hooks/pay%20out' }, SECRET).signed, 'the query is signed')
  t.notOk(verify(first!, 'whsec_other').signed)
})

t.test('every attempt has its own timestamp, nonce and signature over the same body', async (t) => {
  const { received, url } = await aReceiver(t, (response) => response.writeHead(500).end())
  const sender = aSender(t)
  const webhookRequest = aWebhookRequest(url)
  for (let tries = 0; tries < 3; tries++) await sender.send(webhookRequest)
  const seen = received.map((each) => verify(each, SECRET))
  t.ok(seen.every(({ signed }) => signed))
  t.equal(new Set(seen.map(({ nonce }) => nonce)).size, 3)
  t.equal(new Set(received.map(({ body }) => body.toString('hex'))).size, 1)
})

t.test('a clock that is set back during an attempt makes no negative latency', async (t) => {
  const clock = heldClock()
  const { url } = await aReceiver(t, (response) => {
    clock.advance(-HOUR)
    response.end()
  })
  const outcome = await aSender(t, { clock }).send(aWebhookRequest(url))
  t.match(outcome, { kind: 'delivered', latencyMs: 0 })
})

t.test('the brand names the headers', async (t) => {
  const { received, url } = await aReceiver(t, (response) => response.end())
  await aSender(t, { brand: 'Acme' }).send(aWebhookRequest(url))
  t.ok(verify(received[0]!, SECRET, 'acme').signed)
})

t.test('the newest active secret signs', async (t) => {
  const { received, url } = await aReceiver(t, (response) => response.end())
  const secret = (keyId: string, text: string, activeFrom: number) => ({
    keyId,
    key: signingKey(text),
    activeFrom: instant(activeFrom),
  })
  const future = Date.now() + 3_600_000
  const secrets = [
    secret('k1', 'whsec_1', 0),
    secret('k2', 'whsec_2', 1_000),
    secret('k3', 'whsec_3', future),
  ]
  const sender = aSender(t)
  await sender.send(aWebhookRequest(url, { endpoint: anEndpoint({ url, secrets }) }))
  t.match(verify(received[0]!, 'whsec_2'), { signed: true, keyId: 'k2' })
  const none = await sender.send(
    aWebhookRequest(url, { endpoint: anEndpoint({ url, secrets: [] }) }),
  )
  t.match(none, { kind: 'retry', status: null, reason: 'no_active_secret' })
  t.equal(received.length, 1, 'no request is sent without a signature')
})

t.test('the status decides the outcome', async (t) => {
  const { url } = await aReceiver(t, (response, { url: path }) => {
    response.writeHead(Number(path.slice(1)), { location: '/200' }).end('said')
  })
  const sender = aSender(t)
  const table = {
    delivered: [200, 201, 202, 204, 299],
    permanent: [
      300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 405, 408, 409, 413, 422, 429,
    ],
    gone: [410],
    retry: [500, 501, 502, 503, 504, 599],
  }
  for (const [kind, statuses] of Object.entries(table)) {
    for (const status of statuses) {
      const outcome = await sender.send(aWebhookRequest(`${url}/${status}`))
      t.match(outcome, { kind, status, reason: `http_${status}` }, String(status))
    }
  }
})

t.test('a redirect is not followed', async (t) => {
  const { received, url } = await aReceiver(t, (response, { url: path }) => {
    if (path === '/start') response.writeHead(307, { location: '/secret' }).end()
    else response.writeHead(200).end()
  })
  t.match(await aSender(t).send(aWebhookRequest(`${url}/start`)), {
    kind: 'permanent',
    status: 307,
  })
  t.same(
    received.map(({ url: path }) => path),
    ['/start'],
  )
})

t.test('a missing response ends at the deadline', async (t) => {
  const { url } = await aReceiver(t, () => undefined)
  const outcome = await aSender(t, { attemptWithinMs: 200 }).send(aWebhookRequest(url))
  t.match(outcome, { kind: 'retry', status: null, reason: 'timeout' })
})

t.test('an endless response body is cut and does not change the outcome', async (t) => {
  const { url } = await aReceiver(t, (response, { url: path }) => {
    response.writeHead(path === '/ok' ? 200 : 503)
    const more = (): void => {
      while (response.writable && response.write('x'.repeat(8_192)));
    }
    response.on('drain', more)
    more()
  })
  const sender = aSender(t)
  const ok = await sender.send(aWebhookRequest(`${url}/ok`))
  t.match(ok, { kind: 'delivered', status: 200 })
  t.equal(ok.reply.length, 4_096, 'only the first bytes are stored')
  t.match(await sender.send(aWebhookRequest(`${url}/no`)), { kind: 'retry', status: 503 })
})

t.test('a response body is read up to 16 KiB, then its connection is closed', async (t) => {
  const ports: (number | undefined)[] = []
  const server = createServer((request, response) => {
    ports.push(request.socket.remotePort)
    const [, bytes, end] = (request.url ?? '').split('/')
    request.resume().on('end', () => {
      response.writeHead(200)
      response.write('x'.repeat(Number(bytes)))
      if (end === 'whole') response.end()
    })
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const sender = aSender(t, { attemptWithinMs: 20_000 })
  const endpoint = anEndpoint()
  const latencyOf = async (path: string): Promise<number> => {
    const outcome = await sender.send(
      aWebhookRequest('', { endpoint: { ...endpoint, url: url + path } }),
    )
    t.match(outcome, { kind: 'delivered', status: 200 }, path)
    await new Promise((resolve) => setImmediate(resolve))
    return outcome.latencyMs
  }
  await latencyOf(`/${16 * 1024}/whole`)
  await latencyOf(`/${16 * 1024}/whole`)
  t.equal(ports[1], ports[0], 'a short body keeps the connection open')
  await latencyOf(`/${16 * 1024 + 1}/whole`)
  await latencyOf('/0/whole')
  t.not(ports[3], ports[2], 'one byte more closes the connection')
  const latency = await latencyOf(`/${16 * 1024 + 1}/and_no_end`)
  t.ok(latency < 20_000, 'bytes beyond the cap are not awaited')
})

t.test('a slow response body is cut at the deadline', async (t) => {
  const { url } = await aReceiver(t, (response) => {
    response.writeHead(200)
    const drip = setInterval(() => response.write('.'), 20)
    response.on('close', () => clearInterval(drip))
  })
  const request = aWebhookRequest(url)
  let outcome = await aSender(t, { attemptWithinMs: 300 }).send(request)
  // On a busy machine the deadline can pass before the status is read.
  for (let within = 600; outcome.reason === 'timeout' && within < 20_000; within *= 2) {
    outcome = await aSender(t, { attemptWithinMs: within }).send(request)
  }
  t.match(outcome, { kind: 'delivered', status: 200 })
  t.match(outcome.reply, /^\.+$/)
})

t.test('a compressed response body is not decompressed', async (t) => {
  const { received, url } = await aReceiver(t, (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('a'.repeat(1_000_000)))
  })
  const outcome = await aSender(t).send(aWebhookRequest(url))
  t.equal(outcome.kind, 'delivered')
  t.notMatch(outcome.reply, /aaaa/)
  t.equal(received[0]?.headers['accept-encoding'], undefined)
})

/** A TCP server that writes a fixed text and closes. */
async function aRawServer(t: Test, talk: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    socket.once('data', () => talk(socket))
  })
  const port = await listen(t, server)
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  return `http://127.0.0.1:${port}`
}

t.test('protocol and network errors are retried', async (t) => {
  const sender = aSender(t, { attemptWithinMs: 1_000 })
  const talks: Record<string, (socket: Socket) => void> = {
    'hangs up': (socket) => socket.destroy(),
    resets: (socket) => socket.resetAndDestroy(),
    'sends no HTTP': (socket) => socket.end('hello\r\n\r\n'),
    'is processing, and gone': (socket) => socket.end('HTTP/1.1 102 Processing\r\n\r\n'),
    'gives hints, and stays silent': (socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'),
    'headers without end': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = setInterval(() => socket.write(`x-${'y'.repeat(2_000)}: 1\r\n`), 1)
      socket.on('close', () => clearInterval(more))
    },
  }
  for (const [name, talk] of Object.entries(talks)) {
    const outcome = await sender.send(aWebhookRequest(await aRawServer(t, talk)))
    t.match(outcome, { kind: 'retry', status: null }, name)
  }
  const closed = createTcpServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { port } = closed.address() as AddressInfo
  closed.close()
  const refused = await sender.send(aWebhookRequest(`http://127.0.0.1:${port}/`))
  t.match(refused, { kind: 'retry', status: null, reason: 'ECONNREFUSED' })
})

t.test('an interim response is ignored', async (t) => {
  const url = await aRawServer(t, (socket) => {
    socket.end('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n')
  })
  t.match(await aSender(t).send(aWebhookRequest(url)), { kind: 'gone', status: 410 })
})

t.test('a response that breaks off after its status counts as that status', async (t) => {
  const url = await aRawServer(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort')
  })
  t.match(await aSender(t).send(aWebhookRequest(url)), {
    kind: 'delivered',
    status: 200,
    reply: 'short',
  })
})

t.test('no request is sent to private targets, by address or by name', async (t) => {
  const { received, url } = await aReceiver(t, (response) => response.end())
  const { port } = new URL(url)
  const toLoopback: Resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }])
  const sender = aSender(t, { allowPrivate: false, resolve: toLoopback })
  const literal = await sender.send(aWebhookRequest(`https://127.0.0.1:${port}/`))
  t.match(literal, { kind: 'permanent', reason: 'target_refused' })
  const named = await sender.send(aWebhookRequest(`https://innocent.example:${port}/`))
  t.match(named, { kind: 'retry', status: null, reason: 'target_refused' })
  const plain = await sender.send(aWebhookRequest(`http://innocent.example:${port}/`))
  t.match(plain, { kind: 'retry', status: null, reason: 'target_refused' })
  t.equal(received.length, 0)
})

t.test('connections are reused for an endpoint and not shared with another', async (t) => {
  const ports = new Set<number | undefined>()
  const server = createServer((request, response) => {
    ports.add(request.socket.remotePort)
    request.resume()
    request.on('end', () => response.end())
  })
  const url = `http://127.0.0.1:${await listen(t, server)}`
  const sender = aSender(t)
  const [one, other] = [anEndpoint({ url }), anEndpoint({ url })]
  await sender.send(aWebhookRequest(url, { endpoint: one }))
  await new Promise((resolve) => setImmediate(resolve))
  await sender.send(aWebhookRequest(url, { endpoint: one }))
  t.equal(ports.size, 1)
  await new Promise((resolve) => setImmediate(resolve))
  await sender.send(aWebhookRequest(url, { endpoint: other }))
  t.equal(ports.size, 2)
})

t.test('an endpoint with another URL gets nothing at the former one', async (t) => {
  const [former, next] = [
    await aReceiver(t, (response) => response.end()),
    await aReceiver(t, (response) => response.end()),
  ]
  const sender = aSender(t)
  const endpoint = anEndpoint({ url: former.url })
  for (const { url } of [former, next])
    await sender.send(aWebhookRequest(url, { endpoint: { ...endpoint, url } }))
  t.same([former.received.length, next.received.length], [1, 1])
})

t.test('an attempt that waits for a connection until its end is not sent', async (t) => {
  const { received, url } = await aReceiver(t, () => undefined)
  const sender = aSender(t, { attemptWithinMs: 300 })
  const webhookRequest = aWebhookRequest(url)
  const attempts = Array.from({ length: CONNECTIONS_PER_ENDPOINT + 1 }, () =>
    sender.send(webhookRequest),
  )
  for (const outcome of await Promise.all(attempts)) t.match(outcome, { reason: 'timeout' })
  const other = await aReceiver(t, (response) => response.end())
  for (let i = 0; i < 3; i++) await sender.send(aWebhookRequest(other.url))
  t.ok(received.length <= CONNECTIONS_PER_ENDPOINT)
})
