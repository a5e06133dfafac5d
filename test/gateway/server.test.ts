/** The HTTP server: responses, deadlines, exceptions, disconnects, shutdown. */
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { BodyMemory } from '../../gateway/http/body.js'
import { freePort } from '../../src/supervisor/ports.js'
import { eventually } from '../support/eventually.js'
import {
  BODY_MAX,
  bodyIn,
  chunked,
  createEchoServer,
  head,
  later,
  startEcho,
  statusesIn,
} from './echo_server.js'
import { heldClock } from './held_clock.js'
import { openClient } from './open_client.js'
import { roundTrip } from './signing_partner.js'

t.test('a body that stalls or never starts is 504', async (t) => {
  const port = await startEcho(t, { withinMs: 100 })
  for (const sent of ['', 'ab']) {
    const bytes = `${head('POST /', 'Content-Length: 5')}${sent}`
    const { text, closed } = await roundTrip(port, bytes, 2_000)
    t.same(statusesIn(text), ['504'])
    t.ok(closed)
  }
})

t.test('a service that never answers becomes a 504', async (t) => {
  const port = await startEcho(t, { withinMs: 100 })
  const { text } = await roundTrip(port, head('GET /never'))
  t.same(statusesIn(text), ['504'])
  t.match(bodyIn(text), { error: { code: 'timeout' } })
})

t.test('a service that throws is a 500 and the next request is served', async (t) => {
  const port = await startEcho(t)
  for (const bytes of [head('GET /throw'), `${head('POST /throw', 'Content-Length: 2')}{}`]) {
    const { text } = await roundTrip(port, bytes)
    t.same(statusesIn(text), ['500'])
    t.match(bodyIn(text), { error: { code: 'internal_error' } })
    t.notMatch(text, 'a bug', 'the exception is not exposed')
  }
  const { text } = await roundTrip(port, head('GET /', 'Connection: close'))
  t.same(statusesIn(text), ['200'])
})

t.test('clients may disconnect after any byte, or before the answer', async (t) => {
  const port = await startEcho(t)
  const bytes = `${head('POST /later', 'Content-Length: 5')}hello`
  for (let length = 1; length <= bytes.length; length++) {
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(bytes.slice(0, length), () => {
          socket.resetAndDestroy()
          resolve()
        })
      })
      socket.on('error', () => undefined)
    })
  }
  later.length = 0
  const impatient = connect(port, '127.0.0.1', () => impatient.write(bytes))
  await eventually('a whole request arrived', () => later.length > 0)
  impatient.resetAndDestroy()

  let patient: string | undefined
  void roundTrip(port, bytes).then(({ text }) => (patient = text))
  await eventually('the connected client has its answer', () => {
    for (const respond of later) respond()
    return patient !== undefined
  })
  t.same(statusesIn(patient ?? ''), ['200'])
  t.ok(later.length >= 2, 'the request of the disconnected client had arrived')
})

t.test('requests in one packet are answered in order, or the connection closes', async (t) => {
  const port = await startEcho(t)
  const three = ['/a', '/b', '/c'].map((path) => head(`GET ${path}`)).join('')
  const { text } = await roundTrip(port, three)
  const paths = [...text.matchAll(/"path":"([^"]+)"/g)].map(([, path]) => path)
  t.same(paths, ['/a', '/b', '/c'])

  const ahead = roundTrip(port, `${head('GET /later')}${head('GET /b')}`)
  await eventually('the first request is pending', () => later.length === 1)
  later[0]?.()
  const answered = [...(await ahead).text.matchAll(/"path":"([^"]+)"/g)].map(([, path]) => path)
  t.ok(
    answered.length === 0 || answered[0] === '/later',
    'the second answer is not sent in place of the first',
  )
})

/** Each part is sent after the previous one is answered. */
async function answersTo(t: Test, port: number, parts: readonly string[]): Promise<string[]> {
  const { socket, received } = openClient(t, port)
  const answers = (): string[] => received().split('HTTP/1.1 ').slice(1)
  for (const [index, part] of parts.entries()) {
    socket.write(part)
    await eventually('an answer', () => answers().length > index)
  }
  return answers()
}

t.test('an early rejection drops the body and keeps the connection', async (t) => {
  const port = await startEcho(t)
  const smuggled = head('GET /smuggled')
  const away = head('POST /away', `Content-Length: ${smuggled.length}`)
  for (const parts of [
    [away, smuggled + head('GET /next')],
    [away + smuggled.slice(0, 20), smuggled.slice(20) + head('GET /next')],
    [away + smuggled, head('GET /next')],
    [head('GET /away'), head('GET /next')],
  ]) {
    const [first, second, ...more] = await answersTo(t, port, parts)
    t.match(first, /^429 /)
    t.match(second, /^200 [^]*"path":"\/next"/)
    t.same(more, [])
  }
})

t.test('a HEAD gets the length of a body, and its connection closes', async (t) => {
  const port = await startEcho(t)
  for (const path of ['/a', '/away']) {
    const probe = await roundTrip(port, head(`HEAD ${path}`), 2_000)
    const [fields = '', body] = probe.text.split('\r\n\r\n')
    t.same(statusesIn(probe.text), [path === '/away' ? '429' : '200'])
    t.match(fields, /^Content-Length: [1-9][0-9]+$/m)
    t.equal(fields.match(/content-length/gi)?.length, 1)
    t.equal(body, '')
    t.ok(probe.closed)
  }
})

t.test('a deferred rejection drops a body that arrived before it', async (t) => {
  const port = await startEcho(t)
  const smuggled = head('GET /smuggled')
  const away = head('POST /away_later', `Content-Length: ${smuggled.length}`)
  for (const split of [0, 20, smuggled.length]) {
    later.length = 0
    const { socket, received } = openClient(t, port, away + smuggled.slice(0, split))
    socket.setNoDelay()
    await eventually('the head arrived', () => later.length === 1)
    socket.write(smuggled.slice(split))
    await eventually('the body arrived', () => socket.bytesWritten >= away.length + smuggled.length)
    t.equal(received(), '')
    later[0]?.()
    await eventually('the request is rejected', () => received().endsWith('}'))
    socket.write(head('GET /next'))
    await eventually('the next request is answered', () => received().includes('"path":"/next"'))
    t.same(statusesIn(received().replaceAll('HTTP/1.1', '\nHTTP/1.1')), ['429', '200'])
  }
})

t.test(
  'a deferred rejection of a disconnected client does not affect other requests',
  async (t) => {
    const port = await startEcho(t, { withinMs: 200 })
    const gone = connect(port, '127.0.0.1', () => gone.write(head('GET /away_later')))
    await eventually('the request arrived', () => later.length === 1)
    gone.resetAndDestroy()
    const { text } = await roundTrip(port, head('GET /away_later'), 2_000)
    t.same(statusesIn(text), ['504'], 'the held request is answered')
    for (const refuse of later) refuse()
  },
)

t.test('an early rejection reads chunks first, and a body above its cap is 413', async (t) => {
  const port = await startEcho(t)
  const inChunks = head('POST /away', 'Transfer-Encoding: chunked') + chunked('abc')
  const read = await roundTrip(port, inChunks)
  t.same(statusesIn(read.text), ['429'])
  t.ok(read.closed)
  const large = head('POST /away', `Content-Length: ${BODY_MAX + 1}`) + 'x'.repeat(BODY_MAX + 1)
  t.same(statusesIn((await roundTrip(port, large)).text), ['413'])
})

t.test('at shutdown open requests finish and new connections are rejected', async (t) => {
  const server = createEchoServer()
  later.length = 0
  const port = await server.listen('127.0.0.1', 0)
  const open = roundTrip(port, head('GET /later'))
  const away = roundTrip(port, head('GET /away_later'))
  await eventually('two requests are open', () => later.length === 2)
  const closing = server.close(3_600_000)
  const refused = await roundTrip(port, head('GET /'))
  t.same(statusesIn(refused.text), [])
  for (const respond of later) respond()
  await closing
  for (const [one, status] of [
    [await open, '200'],
    [await away, '429'],
  ] as const) {
    t.same(statusesIn(one.text), [status])
    t.ok(one.closed)
  }
})

t.test(
  'a drained server answers each connection once more, while its successor serves',
  async (t) => {
    const server = createEchoServer()
    const port = await freePort('127.0.0.1')
    await server.listen('127.0.0.1', port)
    t.teardown(() => server.close(0))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const get = (): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        request({ port, agent, path: '/' }, (answer) =>
          answer.resume().once('end', () => resolve(answer)),
        )
          .once('error', reject)
          .end()
      })
    t.equal((await get()).headers.connection, undefined)

    const successor = createEchoServer()
    await successor.listen('127.0.0.1', port)
    t.teardown(() => successor.close(0))
    let isDrained = false
    const drained = server.drain(3_600_000).then(() => (isDrained = true))
    await roundTrip(port, head('GET /', 'Connection: close'))
    t.notOk(isDrained, 'a connection without a request stays')
    t.equal((await get()).headers.connection, 'close', 'it is answered, and closed')
    await drained
    t.equal((await get()).headers.connection, undefined, "the next one is the successor's")
    agent.destroy()

    const idle = connect(port, '127.0.0.1')
    t.teardown(() => idle.destroy())
    await once(idle, 'connect')
    await successor.drain(1)
    t.pass('a connection without a request is awaited for a bounded time')
  },
)

t.test('a request behind one that closed the connection is dropped', async (t) => {
  const withinMs = 100
  const statuses: number[] = []
  const bodies = new BodyMemory()
  const clock = heldClock()
  const answered = (status: number): void => void statuses.push(status)
  const port = await startEcho(t, { withinMs, bodies, answered, clock })
  // An answer beyond the cork buffer of uWebSockets.js is written, and closes, at once.
  const size = 100_000
  const closes =
    head('POST /large', 'Connection: close', `Content-Length: ${size}`) + 'x'.repeat(size)
  const unfinished = `${head('POST /', 'Content-Length: 5')}ab`
  for (let round = 0; round < 20; round++) {
    const { text } = await roundTrip(port, closes + unfinished)
    t.same(statusesIn(text), ['200'])
  }
  const open = roundTrip(port, unfinished)
  await eventually('a request is open', () => bodies.bytes > 0)
  clock.pass(withinMs)
  t.same(statusesIn((await open).text), ['504'], 'all deadlines have passed')
  t.same(
    statuses.filter((status) => status === 504),
    [504],
    'only the open request had a deadline',
  )
})
