/** Request heads, and the boundaries between requests. */
import t from 'tap'
import { bodyIn, chunked, head, startEcho, statusesIn } from './echo_server.js'
import { roundTrip, proxyHeader } from './signing_partner.js'

t.test('a request is passed on as sent', async (t) => {
  const port = await startEcho(t)
  const headers = ['X-Kept: one', 'X-Dropped: two', 'Content-Length: 5', 'Connection: close']
  const sent = head('POST /a%2Fb//c/?x=%20&y', ...headers)
  const { text } = await roundTrip(port, `${sent}hello`)
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

t.test('a repeated header differs from either value', async (t) => {
  const port = await startEcho(t)
  const { text } = await roundTrip(
    port,
    head('GET /', 'X-Kept: one', 'x-kept: one', 'Connection: close'),
  )
  t.match(bodyIn(text), { kept: 'repeated' })
})

t.test('a list header joins its lines in order', async (t) => {
  const port = await startEcho(t)
  const lines = ['X-Forwarded-For: 203.0.113.1', 'x-forwarded-for: 10.0.0.1, 10.0.0.2']
  const { text } = await roundTrip(
    port,
    head('GET /', ...lines, 'X-Forwarded-For: 10.0.0.3', 'Connection: close'),
  )
  t.match(bodyIn(text), { forwarded: '203.0.113.1,10.0.0.1, 10.0.0.2,10.0.0.3' })
})

t.test('a PROXY protocol header does not change the peer', async (t) => {
  const port = await startEcho(t)
  const first = Buffer.concat([proxyHeader('203.0.113.9'), Buffer.from(head('GET /a'))])
  const second = Buffer.concat([proxyHeader('198.51.100.66'), Buffer.from(head('GET /b'))])
  const { text } = await roundTrip(port, [Buffer.concat([first, second])])
  const peers = [...text.matchAll(/"peer":"([^"]*)"/g)].map(([, peer]) => peer)
  t.same(peers, ['127.0.0.1', '127.0.0.1'])
})

t.test('ambiguous framing closes the connection', async (t) => {
  const port = await startEcho(t)
  const length = (value: string | number): string => `Content-Length: ${value}`
  const coding = (value: string): string => `Transfer-Encoding: ${value}`
  const framed = (body: string, ...headers: string[]): string => head('POST /', ...headers) + body
  const cases: Readonly<Record<string, string>> = {
    'two lengths': framed('abc', length(3), length(4)),
    'two equal lengths': framed('abc', length(3), length(3)),
    'a length and chunks': framed(chunked(''), length(3), coding('chunked')),
    'chunks and a length': framed(chunked(''), coding('chunked'), length(3)),
    'a coding that ends in chunked': framed(chunked(''), coding('xchunked')),
    'a coding in capitals that ends in chunked': framed(chunked(''), coding('XCHUNKED')),
    'two codings': framed(chunked(''), coding('gzip, chunked')),
    'two codings in lines': framed(chunked(''), coding('Chunked'), coding('chunked')),
    'a length and chunks in capitals': framed(chunked(''), length(3), coding('Chunked')),
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
      const { text, closed } = await roundTrip(port, bytes + following)
      t.ok(closed, `${what}: closed`)
      t.notMatch(text, 'smuggled', `${what}: the bytes after it are not read as a request`)
      t.notMatch(text, /^HTTP\/1\.1 2/m, `${what}: refused`)
      t.ok(statusesIn(text).length <= 1, `${what}: one answer`)
    }
  }
})

t.test('the connection closes after a chunked body', async (t) => {
  const port = await startEcho(t)
  for (const coding of ['chunked', 'Chunked']) {
    const first = head('POST /a', `Transfer-Encoding: ${coding}`) + chunked('hello')
    const alone = await roundTrip(port, first)
    t.same(statusesIn(alone.text), ['200'], coding)
    t.match(bodyIn(alone.text), { body: 'hello' }, coding)
    t.ok(alone.closed, coding)
    for (const bytes of [[first + head('GET /smuggled')], [first, head('GET /smuggled')]]) {
      const { text, closed } = await roundTrip(port, bytes)
      t.notMatch(text, 'smuggled', coding)
      t.ok(closed, coding)
    }
  }
})

t.test('a head that the parser rejects gets no successful response', async (t) => {
  const port = await startEcho(t)
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
    const { text } = await roundTrip(port, Buffer.from(bytes, 'latin1'), 300)
    t.notMatch(text, /^HTTP\/1\.1 2/m, what)
  }
  const alive = await roundTrip(port, head('GET /', 'Connection: close'))
  t.same(statusesIn(alive.text), ['200'])
})
