/** Request bodies in parts, above their cap, and beyond the memory bound. */
import { connect } from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { PAYOUT_BODY_MAX_BYTES } from '../../src/base/constants.js'
import { FORWARDED_FOR } from '../../gateway/http/head.js'
import {
  BodyMemory,
  BUFFERED_MAX_BYTES,
  ReceivedBody,
  type BodySource,
} from '../../gateway/http/body.js'
import { eventually } from '../support/eventually.js'
import {
  BODY_MAX,
  bodyIn,
  chunked,
  head,
  LARGE,
  later,
  startEcho,
  statusesIn,
} from './echo_server.js'
import { heldClock } from './held_clock.js'
import { openClient, type RawClient } from './open_client.js'
import { createBody, roundTrip, signedHeaders } from './signing_partner.js'
import { startGateway } from './running_gateway.js'

t.test('a body sent in parts is joined', async (t) => {
  const port = await startEcho(t)
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 }), {
        maxLength: 20,
      }),
      fc.boolean(),
      async (parts, inChunks) => {
        const body = parts.join('')
        const framing = inChunks ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`
        const sent = inChunks
          ? [...parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`), '0\r\n\r\n']
          : parts
        const { text } = await roundTrip(port, [
          head('POST /', framing, 'Connection: close'),
          ...sent,
        ])
        t.match(bodyIn(text), { body })
      },
    ),
    { numRuns: 30 },
  )
})

t.test('a body over its cap is 413 and the connection ends', async (t) => {
  const port = await startEcho(t)
  const large = 'x'.repeat(BODY_MAX + 1)
  const sent = {
    declared: `${head('POST /', `Content-Length: ${large.length}`)}${large}`,
    chunked: head('POST /', 'Transfer-Encoding: chunked') + chunked(large),
  }
  for (const [what, bytes] of Object.entries(sent)) {
    const { text, closed } = await roundTrip(port, bytes)
    t.same(statusesIn(text), ['413'], what)
    t.match(bodyIn(text), { error: { code: 'payload_too_large' } })
    t.ok(closed)
  }
  const fits = 'x'.repeat(BODY_MAX)
  const fitting = head('POST /', `Content-Length: ${BODY_MAX}`, 'Connection: close') + fits
  const { text } = await roundTrip(port, fitting)
  t.same(statusesIn(text), ['200'], 'exactly the cap is within it')
})

t.test('a body of 20 MB is 413 and is not buffered', async (t) => {
  const port = await startEcho(t)
  const part = Buffer.alloc(64 * 1024, 'x')
  const parts = 320
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  const status = await new Promise<string | undefined>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const send = (left: number): void => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
      if (left > 0) socket.write(part, () => send(left - 1))
    }
    socket.on('error', reject)
    socket.on('data', (chunk) => resolve(statusesIn(chunk.toString('latin1'))[0]))
    socket.write(head('POST /', `Content-Length: ${part.length * parts}`), () => send(parts))
  })
  t.equal(status, '413')
  t.ok(most < 20 * part.length, `held at most ${most} bytes`)

  const body = Buffer.alloc(part.length * parts)
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body })
  t.equal(response.status, 413, 'a client that sends the whole body reads the answer too')
  await response.text()
  const declared = await roundTrip(port, head('POST /', 'Content-Length: 999999999999'))
  t.same(statusesIn(declared.text), ['413'], 'a length far above the cap is rejected at once')
  t.ok(declared.closed)
})

const part = (bytes: number): ArrayBuffer => new ArrayBuffer(bytes)

t.test('a body is not readable after its handler returned', async (t) => {
  const port = await startEcho(t)
  const inParts = head('POST /too_late', 'Transfer-Encoding: chunked') + chunked('hello')
  const answer = roundTrip(port, inParts)
  await eventually('the handler has returned', () => later.length === 1)
  later[0]?.()
  t.same(bodyIn((await answer).text), { body: '' })
})

const from = (source: string): BodySource => ({ source: () => source })

t.test('memory of bodies is bounded per source and in total, and is released', async (t) => {
  const memory = new BodyMemory()
  const bodies: ReceivedBody[] = []
  const takes = (source: string): boolean => {
    const body = new ReceivedBody(memory, from(source))
    bodies.push(body)
    return body.receive(part(LARGE / 2), false, LARGE) === 'more'
  }
  while (takes('a'));
  t.ok(memory.bytes <= BUFFERED_MAX_BYTES / 2, 'a single source gets half of the bound')
  t.ok(memory.bytes > BUFFERED_MAX_BYTES / 2 - LARGE)
  while (takes('b'));
  t.ok((memory.bySource.get('b') ?? 0) > BUFFERED_MAX_BYTES / 4 - LARGE)
  const single = new ReceivedBody(memory, from('a'))
  const whole = single.receive(part(LARGE), true, LARGE)
  t.equal(whole, 'complete', 'a body in a single part is not buffered')
  t.notOk(single.keep(), 'keeping it needs memory')
  t.ok(new ReceivedBody(memory, from('a')).keep(), 'an empty body needs no capacity')
  t.ok(takes('c'), 'another source has memory')
  for (let i = 0; i < 100; i += 1) while (takes(`s${i}`));
  t.ok(memory.bytes <= BUFFERED_MAX_BYTES)
  t.ok(memory.bytes > BUFFERED_MAX_BYTES - 2 * LARGE)
  for (const body of bodies) body.free()
  t.equal(memory.bytes, 0)
  t.equal(memory.bySource.size, 0)
  t.ok(single.keep())
  t.equal(memory.bytes, LARGE)
  single.close()
  t.equal(single.readable.length, 0)
  single.open()
  t.equal(single.readable.length, LARGE)
})

t.test('sources that take all they can get equal shares, and one share stays free', async (t) => {
  const memory = new BodyMemory()
  const lines = new Map(['a', 'b', 'c'].map((source) => [source, [] as ReceivedBody[]]))
  for (let round = 0; round < 200; round += 1) {
    for (const [source, line] of lines) {
      const body = new ReceivedBody(memory, from(source))
      if (body.receive(part(LARGE), false, LARGE) === 'more') line.push(body)
      if (round % 4 === 0) line.shift()?.free()
    }
  }
  const share = BUFFERED_MAX_BYTES / 4
  for (const [source, held] of memory.bySource) {
    t.ok(Math.abs(held - share) < 2 * LARGE, `${source} has ${held}`)
  }
  t.ok(BUFFERED_MAX_BYTES - memory.bytes > share - 2 * LARGE)
})

t.test('the accounted memory is exact for any sequence of bodies', async () => {
  const piece = part(LARGE)
  const step = fc.record({
    body: fc.nat(39),
    what: fc.constantFrom('part', 'part', 'last', 'keep', 'free'),
    bytes: fc.oneof(fc.nat(100), fc.nat(LARGE)),
    maxBytes: fc.constantFrom(BODY_MAX, 3 * LARGE),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const memory = new BodyMemory()
      const bodies = new Map<number, ReceivedBody>()
      for (const { body: number, what, bytes, maxBytes } of steps) {
        const body = bodies.get(number) ?? new ReceivedBody(memory, from(`s${number % 3}`))
        bodies.set(number, body)
        if (what === 'keep') body.keep()
        else if (what !== 'free') body.receive(piece.slice(0, bytes), what === 'last', maxBytes)
        else {
          body.free()
          bodies.delete(number)
        }
        const sum = [...memory.bySource.values()].reduce((all, held) => all + held, 0)
        if (sum !== memory.bytes || sum > BUFFERED_MAX_BYTES) return false
        if ([...memory.bySource.values()].some((held) => held <= 0)) return false
      }
      for (const body of bodies.values()) body.free()
      return memory.bytes === 0 && memory.bySource.size === 0
    }),
    { numRuns: 50 },
  )
})

t.test('a body above its cap holds no memory', async (t) => {
  const memory = new BodyMemory()
  const body = new ReceivedBody(memory, from('a'))
  t.equal(body.receive(part(BODY_MAX), false, BODY_MAX), 'more')
  t.equal(body.receive(part(1), false, BODY_MAX), 'oversized')
  t.equal(memory.bytes, 0)
  t.equal(body.receive(part(1), true, BODY_MAX), 'oversized')
  t.equal(body.bytes, BODY_MAX + 2, 'further bytes are counted')
})

/** Sends the same bytes on each of many connections, then nothing. */
const stall = (t: Test, port: number, count: number, bytes: string): RawClient[] =>
  Array.from({ length: count }, () => openClient(t, port, bytes))

const statusesOf = (stalled: readonly RawClient[]): string[] =>
  stalled.flatMap(({ received }) => statusesIn(received()))

const OTHER_SOURCE = `${FORWARDED_FOR}: 203.0.113.2`
/** Larger than one read, so it is buffered in parts. */
const WHOLE = `${head('POST /large', `Content-Length: ${LARGE}`)}${'x'.repeat(LARGE)}`
const MOST = Math.floor(BUFFERED_MAX_BYTES / 2 / LARGE)

t.test(
  'requests of a stalling source above its memory are rejected, others are served',
  async (t) => {
    const bodies = new BodyMemory()
    const port = await startEcho(t, { withinMs: 60_000, bodies })
    const stalled = stall(t, port, 2 * MOST, WHOLE.slice(0, -1))
    await eventually(
      'the requests above the bound are answered',
      () => statusesOf(stalled).length === MOST,
    )
    t.same(new Set(statusesOf(stalled)), new Set(['503']))
    t.same([...bodies.bySource.keys()], ['127.0.0.1'])
    const small = `${head('POST /', 'Content-Length: 5', 'Connection: close')}hello`
    t.same(statusesIn((await roundTrip(port, small)).text), ['200'], 'a body in one part is served')
    const inParts = (...headers: string[]): string =>
      head('POST /', 'Transfer-Encoding: chunked', ...headers) + chunked('x'.repeat(BODY_MAX))
    const other = await roundTrip(port, inParts(OTHER_SOURCE), 10_000)
    t.same(statusesIn(other.text), ['200'], 'a body in parts of another source is served')
    for (const { socket } of stalled) socket.destroy()
    await eventually('the memory is released', () => bodies.bytes === 0)
    t.equal(bodies.bySource.size, 0)
  },
)

t.test('memory is released however a body ends', async (t) => {
  const ends: [what: string, withinMs: number, statuses: string[], rest: string | null][] = [
    ['answered', 60_000, ['200', '200', '200'], 'x'],
    ['disconnected', 60_000, [], null],
    ['late', 500, ['504', '504', '504'], ''],
  ]
  for (const [what, withinMs, statuses, rest] of ends) {
    const bodies = new BodyMemory()
    const clock = heldClock()
    const port = await startEcho(t, { withinMs, bodies, clock })
    const stalled = stall(t, port, 3, WHOLE.slice(0, -1))
    await eventually('all bodies are buffered', () => bodies.bytes >= 3 * (LARGE - 1))
    if (what === 'late') clock.pass(withinMs)
    for (const { socket } of stalled) {
      if (rest === null) socket.destroy()
      else socket.write(rest)
    }
    await eventually(`${what}: the memory is released`, () => bodies.bytes === 0)
    t.equal(bodies.bySource.size, 0)
    await eventually(
      'all requests are answered',
      () => statusesOf(stalled).length === statuses.length,
    )
    t.same(statusesOf(stalled), statuses, what)
  }
})

t.test('behind a proxy a stalling client takes no memory from another', async (t) => {
  const gateway = await startGateway(t, {
    environment: { TRUSTED_PROXIES: '127.0.0.0/8' },
    bodyWithinMs: 60_000,
  })
  const stalls = head(
    'POST /v1/payouts',
    `${FORWARDED_FOR}: 203.0.113.1`,
    `Content-Length: ${PAYOUT_BODY_MAX_BYTES}`,
  )
  const lacking = stalls + 'x'.repeat(PAYOUT_BODY_MAX_BYTES - 1)
  const stalled = stall(t, gateway.port, BUFFERED_MAX_BYTES / PAYOUT_BODY_MAX_BYTES, lacking)
  await eventually(
    'half of the requests are answered',
    () => statusesOf(stalled).length >= stalled.length / 2,
  )
  const path = '/v1/payment_intents'
  const body = JSON.stringify(createBody)
  const signed = Object.entries(signedHeaders({ method: 'POST', path, body }))
  const lines = signed.map(([name, value]) => `${name}: ${value}`)
  const other = head(`POST ${path}`, ...lines, 'Transfer-Encoding: chunked', OTHER_SOURCE)
  const { text } = await roundTrip(gateway.port, other + chunked(body), 10_000)
  t.same(statusesIn(text), ['201'])
})
