/**
 * Bodies: in parts, too large, and more of them than there is memory for.
 */
import { connect } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { BUFFERED_MAX_BYTES, ReceivedBody } from '../../gateway/received_body.js'
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
import { exchangeBytes } from './partner.js'

void t.test('a body in parts is the same body', async (t) => {
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
        const { text } = await exchangeBytes(port, [
          head('POST /', framing, 'Connection: close'),
          ...sent,
        ])
        t.match(bodyIn(text), { body })
      },
    ),
    { numRuns: 30 },
  )
})

void t.test('a body over its cap is 413 and the connection ends', async (t) => {
  const port = await startEcho(t)
  const large = 'x'.repeat(BODY_MAX + 1)
  const sent = {
    declared: `${head('POST /', `Content-Length: ${large.length}`)}${large}`,
    chunked: head('POST /', 'Transfer-Encoding: chunked') + chunked(large),
  }
  for (const [what, bytes] of Object.entries(sent)) {
    const { text, closed } = await exchangeBytes(port, bytes)
    t.same(statusesIn(text), ['413'], what)
    t.match(bodyIn(text), { error: { code: 'payload_too_large' } })
    t.ok(closed)
  }
  const fits = 'x'.repeat(BODY_MAX)
  const { text } = await exchangeBytes(
    port,
    `${head('POST /', `Content-Length: ${BODY_MAX}`, 'Connection: close')}${fits}`,
  )
  t.same(statusesIn(text), ['200'], 'exactly the cap is within it')
})

void t.test('20 MB: the client reads 413, and the server never holds the body', async (t) => {
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
  t.equal(response.status, 413, 'an ordinary client that sends it whole reads the answer too')
  await response.text()
  const declared = await exchangeBytes(port, head('POST /', 'Content-Length: 999999999999'))
  t.same(statusesIn(declared.text), ['413'], 'a length beyond reading is refused at once')
  t.ok(declared.closed)
})

const part = (bytes: number): ArrayBuffer => new ArrayBuffer(bytes)

void t.test('a body is readable only while it is served', async (t) => {
  const port = await startEcho(t)
  const inParts = head('POST /too_late', 'Transfer-Encoding: chunked') + chunked('hello')
  const answer = exchangeBytes(port, inParts)
  await eventually('it was served', () => later.length === 1)
  later[0]?.()
  t.same(bodyIn((await answer).text), { body: '' })
})

void t.test('what bodies hold together has an end, and is given back', (t) => {
  const memory = { bufferedBytes: 0 }
  const bodies: ReceivedBody[] = []
  const takes = (): boolean => {
    const body = new ReceivedBody(memory)
    bodies.push(body)
    return body.take(part(LARGE / 2), false, LARGE) === 'more'
  }
  while (takes());
  bodies.pop()?.free()
  t.ok(memory.bufferedBytes <= BUFFERED_MAX_BYTES)
  t.ok(memory.bufferedBytes > BUFFERED_MAX_BYTES - LARGE)
  const single = new ReceivedBody(memory)
  t.equal(single.take(part(LARGE), true, LARGE), 'complete', 'one in a single part holds nothing')
  t.notOk(single.keep(), 'unless it is kept')
  for (const body of bodies) body.free()
  t.equal(memory.bufferedBytes, 0)
  t.ok(single.keep())
  t.equal(memory.bufferedBytes, LARGE)
  single.close()
  t.equal(single.readable.length, 0)
  single.open()
  t.equal(single.readable.length, LARGE)
  t.end()
})

void t.test('of a body above its cap nothing is held', (t) => {
  const memory = { bufferedBytes: 0 }
  const body = new ReceivedBody(memory)
  t.equal(body.take(part(BODY_MAX), false, BODY_MAX), 'more')
  t.equal(body.take(part(1), false, BODY_MAX), 'oversized')
  t.equal(memory.bufferedBytes, 0)
  t.equal(body.take(part(1), true, BODY_MAX), 'oversized')
  t.equal(body.bytes, BODY_MAX + 2, 'what follows is counted')
  t.end()
})

void t.test('strangers with half of a body each: one too many is told, others go on', async (t) => {
  const port = await startEcho(t, 60_000)
  const half = Buffer.alloc(LARGE / 2, 'x')
  const refusals: string[] = []
  const ended: string[] = []
  const many = Math.ceil(BUFFERED_MAX_BYTES / LARGE) + 5
  const sockets = Array.from({ length: many }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => refusals.push(chunk.toString('latin1')))
    socket.on('close', () => ended.push('closed'))
    socket.write(head('POST /large', `Content-Length: ${LARGE}`))
    // More than fits into one read: it is held in parts.
    socket.write(half)
    t.teardown(() => socket.destroy())
    return socket
  })
  await eventually('some are told', () => ended.length > 0)
  t.same(
    statusesIn(refusals.join('')).filter((status) => status !== '503'),
    [],
  )
  t.ok(ended.length < many / 2, `${ended.length} of ${many}`)
  const small = await exchangeBytes(
    port,
    `${head('POST /', 'Content-Length: 5', 'Connection: close')}hello`,
  )
  t.same(statusesIn(small.text), ['200'], 'one that comes whole is served meanwhile')
  for (const socket of sockets) socket.destroy()
  await eventually('there is room again', async () => {
    const inParts = head('POST /', 'Transfer-Encoding: chunked') + chunked('hello')
    return statusesIn((await exchangeBytes(port, inParts)).text)[0] === '200'
  })
})
