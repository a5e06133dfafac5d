/** Clients that do not read their answers, or read them slowly: what the server keeps for them. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.js'
import { patience } from '../support/patience.js'
import { createEchoServer, head, startEcho, statusesIn, VAST } from './echo_server.js'
import { call, createRequest, roundTrip } from './signing_partner.js'
import { openClient, type RawClient } from './open_client.js'
import { startGateway } from './running_gateway.js'
import { spawnGateway } from './spawned_gateway.js'

const MIB = 1024 * 1024
const BATCH = 200
const QUIET_MS = 200

/** Connected, and never reads. */
async function deafClient(t: Test, port: number): Promise<RawClient> {
  const client = openClient(t, port)
  client.socket.pause()
  await once(client.socket, 'connect')
  return client
}

/** Reads a little at a time. Resolves with everything once the peer has closed. */
async function slowAnswer(port: number, bytes: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' })
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    socket.pause()
    setImmediate(() => socket.resume())
  })
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

const bodyOf = (text: string): string => text.slice(text.indexOf('\r\n\r\n') + 4)

t.test('pipelined requests whose answers are not read', async (t) => {
  const { port, pid } = await spawnGateway(t)
  const memory = (): number => {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
  }
  t.equal((await call(port, createRequest())).status, 201)
  const before = memory()
  const requests = head('GET /openapi.json').repeat(200)
  for (let client = 1; client <= 60; client++) {
    const { socket } = await deafClient(t, port)
    socket.write(requests)
    t.equal((await call(port, createRequest())).status, 201, `others are served, ${client}`)
  }
  t.ok(memory() - before < 150 * MIB, `${(memory() - before) / MIB} MiB for 12,000 answers`)
})

t.test('a connection is closed while an answer of it is unread', async (t) => {
  const { port, metrics } = await startGateway(t)
  const { socket, isClosed } = await deafClient(t, port)
  socket.write(head('GET /openapi.json').repeat(500))
  await eventually('the server closed the connection', () => {
    socket.write(head('GET /openapi.json'))
    return isClosed()
  })
  await eventually('it is counted', async () =>
    (await metrics()).includes('\ncauseway_http_unread_answers_total 1\n'),
  )
  t.equal((await call(port, createRequest())).status, 201)
})

for (const [what, request] of [
  ['small answers', head('GET /small')],
  ['answers without a body', head('HEAD /small')],
  ['rejections that close', head('GET /away', 'Content-Length: x')],
] as const) {
  t.test(`${what} that are not read end the connection`, async (t) => {
    let answered = 0
    const port = await startEcho(t, { withinMs: 60_000, answered: () => (answered += 1) })
    const { socket, isClosed } = await deafClient(t, port)
    for (let batch = 1; !isClosed() && batch <= 1_000; batch++) {
      const [expected, quiet] = [answered + BATCH, patience(QUIET_MS)]
      socket.write(request.repeat(BATCH))
      // A client that does not read notices the end of its connection when it writes again.
      await eventually(
        'the batch is answered',
        () => answered >= expected || quiet.isOver(),
        15_000,
        0,
      )
    }
    t.ok(isClosed(), `after ${answered} answers`)
  })
}

t.test('a slow client gets all of its answer', async (t) => {
  const port = await startEcho(t, { withinMs: 60_000 })
  for (const path of ['/vast', '/file']) {
    const closed = await slowAnswer(port, head(`GET ${path}`, 'Connection: close'))
    t.same(statusesIn(closed.slice(0, 100)), ['200'])
    t.ok(bodyOf(closed) === VAST, path)
    const closing = await slowAnswer(
      port,
      `${head(`GET ${path}`, 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    )
    t.match(closing.slice(0, 500), /^Connection: close\r$/m)
    t.ok(bodyOf(closing) === VAST, `${path}, closed by the server`)
  }
  t.same(statusesIn((await roundTrip(port, head('GET /next'))).text), ['200'])
})

t.test('a slow client keeps its connection, and a stop waits for it', async () => {
  const server = createEchoServer({ withinMs: 60_000 })
  const port = await server.listen('127.0.0.1', 0)
  const socket = connect({ port, host: '127.0.0.1' })
  let received = 0
  socket.on('data', (chunk: Buffer) => (received += chunk.length))
  const length = Buffer.byteLength(VAST)
  socket.write(head('GET /vast'))
  await eventually('the first answer', () => received > length)
  const first = received
  socket.write(head('GET /vast'))
  await eventually('the second answer begins', () => received > first)
  socket.pause()
  const stopped = server.close(3_600_000)
  socket.resume()
  await stopped
  await eventually('the second answer is whole', () => received === 2 * first)
  socket.destroy()
})

t.test('a client that leaves in the middle of its answer is counted', async (t) => {
  let unread = 0
  const port = await startEcho(t, { withinMs: 60_000, onUnread: () => (unread += 1) })
  for (const path of ['/vast', '/file']) {
    for (const headers of [[], ['Connection: close']]) {
      const before = unread
      const socket = connect({ port, host: '127.0.0.1' })
      socket.write(head(`GET ${path}`, ...headers))
      await once(socket, 'data')
      socket.resetAndDestroy()
      await eventually(`the end of ${path}`, () => unread === before + 1)
    }
  }
  t.same(statusesIn((await roundTrip(port, head('GET /next', 'Connection: close'))).text), ['200'])
  t.equal(unread, 4, 'an answer that is read is not counted')
})
