/**
 * HTTP as clients send it when they are broken, slow or hostile. Raw bytes in, because no client
 * library sends these.
 */
import { connect } from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import {
  createHttpServer,
  FORWARDED_FOR,
  type Service,
  type Target,
} from '../../gateway/exchange.js'
import { exchangeBytes, proxyHeader } from './partner.js'
import { eventually } from '../support/eventually.js'

const BODY_MAX = 1_000

interface Echo extends Target {
  readonly path: string
}

/**
 * Answers with what it was given; `/throw` throws, `/never` never answers, `/later` answers when
 * told, as `/away_later` is turned away.
 */
const later: (() => void)[] = []
const echo: Service<Echo> = {
  find: (_method, path) => ({ path, bodyMaxBytes: BODY_MAX, refusesAsConflict: false }),
  turnsAway: (exchange, { path }) => {
    if (path === '/away') exchange.refuse('rate_limited')
    else if (path === '/away_later') later.push(() => exchange.refuse('rate_limited'))
    else return false
    return true
  },
  serve: (exchange, { path }) => {
    if (path === '/throw') throw new Error('a bug')
    if (path === '/never') return
    const { method, query } = exchange
    const host = exchange.header('host')
    const kept = exchange.header('x-kept')
    const forwarded = exchange.header(FORWARDED_FOR)
    const answer = {
      method,
      path,
      query,
      host,
      kept: typeof kept === 'symbol' ? 'repeated' : kept,
      forwarded: typeof forwarded === 'symbol' ? 'repeated' : forwarded,
      body: exchange.body.toString(),
      peer: exchange.peer(),
    }
    const respond = (): void => exchange.answer(200, JSON.stringify(answer))
    if (path === '/later') later.push(respond)
    else respond()
  },
}

async function start(t: Test, withinMs = 5_000): Promise<number> {
  later.length = 0
  const server = createHttpServer({
    service: echo,
    keptHeaders: new Set(['x-kept', FORWARDED_FOR]),
    tls: undefined,
    clock: systemClock,
    random: systemRandom(),
    log: createLog('test', { LOG_LEVEL: 'silent' }),
    observe: () => undefined,
    bodyWithinMs: withinMs,
    answerWithinMs: withinMs,
  })
  const port = await server.listen('127.0.0.1', 0)
  t.teardown(() => server.close(0))
  return port
}

const head = (line: string, ...headers: string[]): string =>
  [`${line} HTTP/1.1`, 'Host: api.localhost', ...headers, '', ''].join('\r\n')

const chunked = (text: string): string =>
  `${text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`}0\r\n\r\n`

const statusesIn = (text: string): string[] =>
  [...text.matchAll(/^HTTP\/1\.1 ([0-9]{3})/gm)].map(([, status]) => status ?? '')

const bodyIn = (text: string): unknown => JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))

void t.test('a request is copied as it was sent', async (t) => {
  const port = await start(t)
  const headers = ['X-Kept: one', 'X-Dropped: two', 'Content-Length: 5', 'Connection: close']
  const sent = head('POST /a%2Fb//c/?x=%20&y', ...headers)
  const { text } = await exchangeBytes(port, `${sent}hello`)
  t.same(bodyIn(text), {
    method: 'POST',
    path: '/a%2Fb//c/',
    query: 'x=%20&y',
    host: 'api.localhost',
    kept: 'one',
    body: 'hello',
    peer: '127.0.0.1',
  })
  t.match(text, /\r\nX-Request-Id: req_[0-9A-Z]{26}\r\n/)
})

void t.test('a header that comes twice is told apart from either value', async (t) => {
  const port = await start(t)
  const { text } = await exchangeBytes(
    port,
    head('GET /', 'X-Kept: one', 'x-kept: one', 'Connection: close'),
  )
  t.match(bodyIn(text), { kept: 'repeated' })
})

void t.test('a list may come in several lines, in their order', async (t) => {
  const port = await start(t)
  const lines = ['X-Forwarded-For: 203.0.113.1', 'x-forwarded-for: 10.0.0.1, 10.0.0.2']
  const { text } = await exchangeBytes(
    port,
    head('GET /', ...lines, 'X-Forwarded-For: 10.0.0.3', 'Connection: close'),
  )
  t.match(bodyIn(text), { forwarded: '203.0.113.1,10.0.0.1, 10.0.0.2,10.0.0.3' })
})

void t.test('a PROXY protocol header changes no peer, wherever it stands', async (t) => {
  const port = await start(t)
  const first = Buffer.concat([proxyHeader('203.0.113.9'), Buffer.from(head('GET /a'))])
  const second = Buffer.concat([proxyHeader('198.51.100.66'), Buffer.from(head('GET /b'))])
  const { text } = await exchangeBytes(port, [Buffer.concat([first, second])])
  const peers = [...text.matchAll(/"peer":"([^"]*)"/g)].map(([, peer]) => peer)
  t.same(peers, ['127.0.0.1', '127.0.0.1'])
})

void t.test('framing that can be read in two ways ends the connection', async (t) => {
  const port = await start(t)
  const length = (value: string | number): string => `Content-Length: ${value}`
  const coding = (value: string): string => `Transfer-Encoding: ${value}`
  const framed = (body: string, ...headers: string[]): string => head('POST /', ...headers) + body
  const cases: Readonly<Record<string, string>> = {
    'two lengths': framed('abc', length(3), length(4)),
    'two equal lengths': framed('abc', length(3), length(3)),
    'a length and chunks': framed(chunked(''), length(3), coding('chunked')),
    'chunks and a length': framed(chunked(''), coding('chunked'), length(3)),
    'a coding that ends in chunked': framed(chunked(''), coding('xchunked')),
    'two codings': framed(chunked(''), coding('gzip, chunked')),
    identity: framed('abc', coding('identity')),
    'a length that is no number': framed('abc', length('3x')),
    'a length with a sign': framed('abc', length('+3')),
    'a negative length': framed('abc', length(-3)),
    'a length in a list': framed('abc', length('3, 3')),
    'two hosts': head('GET /', 'Host: evil.example'),
    'HTTP/1.0': 'GET / HTTP/1.0\r\nHost: api.localhost\r\n\r\n',
    'an absolute address': head('GET http://api.localhost/'),
    'more headers than any client sends': head(
      'GET /',
      ...Array.from({ length: 70 }, (_, i) => `H${i}: 1`),
    ),
    'more bytes of headers': head('GET /', `X-Long: ${'a'.repeat(9_000)}`),
  }
  for (const [what, bytes] of Object.entries(cases)) {
    for (const following of ['', head('GET /smuggled')]) {
      const { text, closed } = await exchangeBytes(port, bytes + following)
      t.ok(closed, `${what}: closed`)
      t.notMatch(text, 'smuggled', `${what}: what follows is not read as a request`)
      t.notMatch(text, /^HTTP\/1\.1 2/m, `${what}: refused`)
      t.ok(statusesIn(text).length <= 1, `${what}: one answer`)
    }
  }
})

void t.test('nothing is read behind a body in chunks', async (t) => {
  const port = await start(t)
  const first = head('POST /a', 'Transfer-Encoding: chunked') + chunked('hello')
  const alone = await exchangeBytes(port, first)
  t.same(statusesIn(alone.text), ['200'])
  t.ok(alone.closed)
  for (const bytes of [[first + head('GET /smuggled')], [first, head('GET /smuggled')]]) {
    const { text, closed } = await exchangeBytes(port, bytes)
    t.notMatch(text, 'smuggled')
    t.ok(closed)
  }
})

void t.test('heads that the parser itself gives up on get no success', async (t) => {
  const port = await start(t)
  const cases: Readonly<Record<string, string>> = {
    'a folded header': 'GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n',
    'a space before the colon': 'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
    'NUL in a value': 'GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n',
    'bare line feeds': 'GET / HTTP/1.1\nHost: a\n\n',
    'no host': 'GET / HTTP/1.1\r\n\r\n',
    'no version': 'GET /\r\n\r\n',
    'TLS to a plain port': '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  }
  for (const [what, bytes] of Object.entries(cases)) {
    const { text } = await exchangeBytes(port, Buffer.from(bytes, 'latin1'))
    t.notMatch(text, /^HTTP\/1\.1 2/m, what)
  }
  const alive = await exchangeBytes(port, head('GET /', 'Connection: close'))
  t.same(statusesIn(alive.text), ['200'])
})

void t.test('a body in parts is the same body', async (t) => {
  const port = await start(t)
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
  const port = await start(t)
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
  const port = await start(t)
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

void t.test('a body that stops coming is 504, one that never comes too', async (t) => {
  const port = await start(t, 100)
  for (const sent of ['', 'ab']) {
    const { text, closed } = await exchangeBytes(
      port,
      `${head('POST /', 'Content-Length: 5')}${sent}`,
      2_000,
    )
    t.same(statusesIn(text), ['504'])
    t.ok(closed)
  }
})

void t.test('a service that never answers is answered for', async (t) => {
  const port = await start(t, 100)
  const { text } = await exchangeBytes(port, head('GET /never'), 1_000)
  t.same(statusesIn(text), ['504'])
  t.match(bodyIn(text), { error: { code: 'timeout' } })
})

void t.test('a service that throws is a 500 and the next request is served', async (t) => {
  const port = await start(t)
  for (const bytes of [head('GET /throw'), `${head('POST /throw', 'Content-Length: 2')}{}`]) {
    const { text } = await exchangeBytes(port, bytes, 100)
    t.same(statusesIn(text), ['500'])
    t.match(bodyIn(text), { error: { code: 'internal_error' } })
    t.notMatch(text, 'a bug', 'nothing of the exception is told')
  }
  const { text } = await exchangeBytes(port, head('GET /', 'Connection: close'))
  t.same(statusesIn(text), ['200'])
})

void t.test('clients that leave at any byte, or while they wait, harm nobody', async (t) => {
  const port = await start(t)
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
  void exchangeBytes(port, bytes, 100).then(({ text }) => (patient = text))
  await eventually('the one that stayed has its answer', () => {
    for (const respond of later) respond()
    return patient !== undefined
  })
  t.same(statusesIn(patient ?? ''), ['200'])
  t.ok(later.length >= 2, 'the one that left had arrived too')
})

void t.test('requests in one packet are answered in order, or the connection ends', async (t) => {
  const port = await start(t)
  const three = ['/a', '/b', '/c'].map((path) => head(`GET ${path}`)).join('')
  const { text } = await exchangeBytes(port, three)
  const paths = [...text.matchAll(/"path":"([^"]+)"/g)].map(([, path]) => path)
  t.same(paths, ['/a', '/b', '/c'])

  const ahead = exchangeBytes(port, `${head('GET /later')}${head('GET /b')}`)
  await eventually('the first one waits', () => later.length === 1)
  later[0]?.()
  const answered = [...(await ahead).text.matchAll(/"path":"([^"]+)"/g)].map(([, path]) => path)
  t.ok(
    answered.length === 0 || answered[0] === '/later',
    'the second is never answered in the place of the first',
  )
})

/** Each part is sent when the one before is answered. */
async function answersTo(port: number, parts: readonly string[]): Promise<string[]> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('error', () => undefined)
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  const answers = (): string[] => text.split('HTTP/1.1 ').slice(1)
  for (const [index, part] of parts.entries()) {
    socket.write(part)
    await eventually('an answer', () => answers().length > index)
  }
  socket.destroy()
  return answers()
}

void t.test('turned away: the body is dropped, the connection goes on', async (t) => {
  const port = await start(t)
  const smuggled = head('GET /smuggled')
  const away = head('POST /away', `Content-Length: ${smuggled.length}`)
  for (const parts of [
    [away, smuggled + head('GET /next')],
    [away + smuggled.slice(0, 20), smuggled.slice(20) + head('GET /next')],
    [away + smuggled, head('GET /next')],
    [head('GET /away'), head('GET /next')],
  ]) {
    const [first, second, ...more] = await answersTo(port, parts)
    t.match(first, /^429 /)
    t.match(second, /^200 [^]*"path":"\/next"/)
    t.same(more, [])
  }
})

void t.test(
  'a HEAD is answered with the length of a body, and its connection goes on',
  async (t) => {
    const port = await start(t)
    const paths = ['/a', '/away']
    const heads = await answersTo(
      port,
      paths.flatMap((path) => [head(`HEAD ${path}`), head(`GET ${path}`)]),
    )
    for (const [index, status] of ['200', '200', '429', '429'].entries()) {
      const [fields = '', body] = (heads[index] ?? '').split('\r\n\r\n')
      t.equal(fields.slice(0, 3), status)
      t.equal(fields.match(/content-length/gi)?.length, 1)
      if (index % 2 === 0) t.equal(body, '')
      else t.match(fields, `Content-Length: ${String(body?.length)}`)
    }
  },
)

void t.test('turned away later: a body that comes meanwhile is dropped as well', async (t) => {
  const port = await start(t)
  const smuggled = head('GET /smuggled')
  const away = head('POST /away_later', `Content-Length: ${smuggled.length}`)
  for (const split of [0, 20, smuggled.length]) {
    later.length = 0
    const socket = connect(port, '127.0.0.1').setNoDelay()
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString()))
    socket.write(away + smuggled.slice(0, split))
    await eventually('the head arrived', () => later.length === 1)
    socket.write(smuggled.slice(split))
    await eventually('the body arrived', () => socket.bytesWritten >= away.length + smuggled.length)
    t.equal(text, '')
    later[0]?.()
    await eventually('it is refused', () => text.endsWith('}'))
    socket.write(head('GET /next'))
    await eventually('the next is answered', () => text.includes('"path":"/next"'))
    t.same(text.match(/HTTP\/1\.1 [0-9]{3}/g), ['HTTP/1.1 429', 'HTTP/1.1 200'])
    socket.destroy()
  }
})

void t.test('turned away later: a client that has left, or never hears of it', async (t) => {
  const port = await start(t, 200)
  const gone = connect(port, '127.0.0.1', () => gone.write(head('GET /away_later')))
  await eventually('it arrived', () => later.length === 1)
  gone.resetAndDestroy()
  const { text } = await exchangeBytes(port, head('GET /away_later'), 2_000)
  t.same(statusesIn(text), ['504'], 'nobody is forgotten')
  for (const refuse of later) refuse()
})

void t.test('turned away: chunks are read first, a body above its cap is a 413', async (t) => {
  const port = await start(t)
  const inChunks = head('POST /away', 'Transfer-Encoding: chunked') + chunked('abc')
  const read = await exchangeBytes(port, inChunks)
  t.same(statusesIn(read.text), ['429'])
  t.ok(read.closed)
  const large = head('POST /away', `Content-Length: ${BODY_MAX + 1}`) + 'x'.repeat(BODY_MAX + 1)
  t.same(statusesIn((await exchangeBytes(port, large)).text), ['413'])
})

void t.test('stopping: open requests finish, new connections are refused', async (t) => {
  const server = createHttpServer({
    service: echo,
    keptHeaders: new Set<string>(),
    tls: undefined,
    clock: systemClock,
    random: systemRandom(),
    log: createLog('test', { LOG_LEVEL: 'silent' }),
    observe: () => undefined,
  })
  later.length = 0
  const port = await server.listen('127.0.0.1', 0)
  const open = exchangeBytes(port, head('GET /later'), 2_000)
  const away = exchangeBytes(port, head('GET /away_later'), 2_000)
  await eventually('two requests are open', () => later.length === 2)
  const closing = server.close(5_000)
  const refused = await exchangeBytes(port, head('GET /'))
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
