/**
 * Requests that no client library sends, each with its allowed answers.
 *
 * Every request closes its connection or is broken, so a connection that stays open is a hang.
 */
import { bytesOf, createBody, createRequest, signedHeaders } from './signing_partner.js'

export interface Entry {
  readonly parts: readonly (string | Buffer)[]
  /** Allowed status codes. 0 means that the connection closes without an answer. */
  readonly answers: readonly number[]
  /** Sent repeatedly after the parts. */
  readonly trickle?: string
}

const create = createRequest()
const path = create.path
const body = create.body ?? ''
const good = (): string => bytesOf(create)

const entry = (bytes: string | Buffer, ...answers: number[]): Entry => ({
  parts: [typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes],
  answers,
})
/** The builds for Node 22 and later limit a head to 4 KiB. */
const IS_OLDER_UWS = Number(process.versions.modules) <= 120
const later = (answer: number): readonly number[] => (IS_OLDER_UWS ? [] : [answer])

/** Rejected by the gateway or by uWebSockets.js, or closed without an answer. */
const refused = (bytes: string | Buffer): Entry => entry(bytes, 0, 400, 505, ...later(431))

/** A signed create with the first match replaced. */
const edited = (what: string | RegExp, by: string): string => good().replace(what, () => by)
const withLine = (line: string): string => edited('Host:', `${line}\r\nHost:`)

/** Signed over exactly these bytes. */
function signedBody(bytes: string | Buffer, to = path): Buffer {
  const sent = Buffer.from(bytes)
  const headers = {
    ...signedHeaders({ method: 'POST', path: to, body: sent }),
    'Idempotency-Key': 'k',
    'Content-Length': String(sent.length),
  }
  const head = bytesOf({ method: 'POST', path: to, unsigned: true, headers })
  return Buffer.concat([Buffer.from(head), sent])
}

const badBody = (bytes: string | Buffer, to?: string): Entry => entry(signedBody(bytes, to), 400)

/** The create's body with one text replaced. */
const badJson = (value: string, by: string): Entry => badBody(body.replace(value, () => by))

/** The length replaced by this line. */
const framed = (line: string): string => edited(/Content-Length: .*\r\n/, `${line}\r\n`)
const inChunks = (chunks: string): string =>
  framed('Transfer-Encoding: chunked').replace(body, () => chunks)
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

const unsigned = (line: string, ...headers: string[]): string =>
  [`${line} HTTP/1.1`, 'Host: api.localhost', 'Connection: close', ...headers, '', ''].join('\r\n')

export const CORPUS: Readonly<Record<string, Entry>> = {
  'a valid request': entry(good(), 201),
  'a valid request in chunks': entry(
    inChunks(`${chunk(body.slice(0, 9))}${chunk(body.slice(9))}0\r\n\r\n`),
    201,
  ),
  'a valid request with Expect': entry(withLine('Expect: 100-continue'), 201),
  'a valid request with Upgrade': entry(withLine('Upgrade: websocket'), 201),

  // Paths.
  'dot segments': entry(unsigned('GET /v1/../v1/balances'), 404),
  'a dot segment': entry(unsigned('GET /v1/./balances'), 404),
  'encoded dot segments': entry(unsigned('GET /v1/%2e%2e/v1/balances'), 404),
  'dot segments around a parameter': entry(unsigned('GET /v1/payouts/../balances'), 404),
  'a parameter that is dots': entry(unsigned('GET /v1/payouts/..'), 401),
  'a backslash': entry(unsigned('GET /v1\\balances'), 404),
  'an encoded NUL': entry(unsigned('GET /v1/balances%00'), 404),
  'NUL in the path': refused(unsigned('GET /v1/bal\0ances')),
  'a byte beyond ASCII in the path': entry(unsigned('GET /v1/balances\xff'), 404),
  'a fragment': entry(unsigned('GET /v1/balances#top'), 404),
  'a path of 5,000 bytes': entry(unsigned(`GET /${'a'.repeat(5_000)}`), IS_OLDER_UWS ? 404 : 431),
  'a path of 9,000 bytes': refused(unsigned(`GET /${'a'.repeat(9_000)}`)),
  'a path of 200,000 bytes': refused(unsigned(`GET /${'a'.repeat(200_000)}`)),
  'a query of 9,000 bytes': refused(unsigned(`GET /?${'a'.repeat(9_000)}`)),
  'an absolute URL': refused(unsigned('GET http://api.localhost/v1/balances')),
  'an absolute URL of another host': refused(unsigned('GET http://evil.example/')),
  'an authority': refused(unsigned('CONNECT api.localhost:443')),
  'an asterisk': refused(unsigned('OPTIONS *')),

  // Request lines.
  'a method in lower case': entry(unsigned('get /v1/balances'), 405),
  'an unknown method': entry(unsigned('BREW /v1/balances'), 405),
  'a method of 9,000 bytes': refused(unsigned(`${'A'.repeat(9_000)} /v1/balances`)),
  'two spaces': refused(edited(`POST ${path}`, `POST  ${path}`)),
  'tabs for spaces': refused(edited(`POST ${path} `, `POST\t${path}\t`)),
  'HTTP/1.0': refused(edited('HTTP/1.1', 'HTTP/1.0')),
  'HTTP/2.0': refused(edited('HTTP/1.1', 'HTTP/2.0')),
  'no version': refused(`POST ${path}\r\n\r\n`),
  'a preface of HTTP/2': refused('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  'TLS to a plain port': refused('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  'an empty line first': refused(`\r\n${good()}`),

  // Header lines.
  'bare line feeds': refused(good().replaceAll('\r\n', '\n')),
  'one bare line feed': refused(withLine('X-A: b\nX-C: d')),
  'a bare carriage return': refused(withLine('X-A: b\rX-C: d')),
  'NUL in a value': refused(withLine('X-A: b\0c')),
  'NUL in a name': refused(withLine('X\0A: b')),
  'a folded line': refused(withLine('X-A: b\r\n c')),
  'a space before the colon': refused(withLine('X-A : b')),
  'no colon': refused(withLine('X-A')),
  'no host': refused(edited(/Host: .*\r\n/, '')),
  'two hosts': refused(withLine('Host: evil.example')),
  '70 headers': refused(withLine(Array.from({ length: 70 }, (_, i) => `H${i}: 1`).join('\r\n'))),
  '200 headers': refused(withLine(Array.from({ length: 200 }, (_, i) => `H${i}: 1`).join('\r\n'))),
  'a header of 9,000 bytes': refused(withLine(`X-A: ${'a'.repeat(9_000)}`)),
  'a header of 300,000 bytes': entry(withLine(`X-A: ${'a'.repeat(300_000)}`), 0, 400, 431),
  'a signature header twice': entry(withLine(`X-Service-Nonce: ${'ab'.repeat(32)}`), 401),
  'a signature header in other case': entry(edited('X-Service-Key-Id', 'x-sErViCe-KeY-iD'), 201),

  // Framing.
  'two lengths': refused(withLine('Content-Length: 3')),
  'two equal lengths': refused(withLine(`Content-Length: ${body.length}`)),
  'a length and chunks': refused(withLine('Transfer-Encoding: chunked')),
  'a length with a sign': refused(edited('Content-Length: ', 'Content-Length: +')),
  'a length in hexadecimal': refused(framed('Content-Length: 0x1')),
  'a negative length': refused(edited('Content-Length: ', 'Content-Length: -')),
  'a list of lengths': refused(framed('Content-Length: 3, 3')),
  'a length of 20 digits': refused(edited('Content-Length: ', `Content-Length: ${'9'.repeat(20)}`)),
  'an empty length': refused(framed('Content-Length: ')),
  'a length that is too short': entry(framed('Content-Length: 3'), ...[0, 400, 505, ...later(401)]),
  identity: refused(inChunks(body).replace('chunked', 'identity')),
  'two codings': refused(inChunks(chunk(body)).replace('chunked', 'gzip, chunked')),
  'chunked twice': refused(inChunks(chunk(body)).replace('chunked', 'chunked, chunked')),
  'a coding that ends in chunked': refused(inChunks(chunk(body)).replace('chunked', 'xchunked')),
  'a coding in capitals': entry(
    inChunks(`${chunk(body)}0\r\n\r\n`).replace('chunked', 'CHUNKED'),
    201,
  ),
  'a chunk that is no number': refused(inChunks('zz\r\nab\r\n0\r\n\r\n')),
  'a chunk with a sign': refused(inChunks('-1\r\nab\r\n0\r\n\r\n')),
  'a chunk larger than all memory': refused(inChunks('ffffffffffffffff\r\nab\r\n0\r\n\r\n')),
  'chunks with bare line feeds': entry(inChunks('2\nab\n0\n\n'), 401),
  'a chunk larger than it says': entry(inChunks('1\r\nabcdef\r\n0\r\n\r\n'), 0, 400, 401, 504, 505),
  'a chunk with an extension': entry(inChunks('2;a=b\r\nab\r\n0\r\n\r\n'), 0, 400, 401, 504, 505),
  'a trailer': entry(inChunks(`${chunk(body)}0\r\nX-A: b\r\n\r\n`), 0, 201, 505),
  'two in one packet': {
    parts: [good().replace('close', 'keep-alive') + good()],
    answers: [0, 201],
  },

  // Bodies.
  'invalid UTF-8': badBody(Buffer.from('{"a":"\xc3\x28"}', 'latin1')),
  'an overlong character': badBody(Buffer.from([0x7b, 0xc0, 0x80, 0x7d])),
  'a surrogate in UTF-8': badBody(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])),
  'a byte-order mark': badBody(`\ufeff${body}`),
  'half a surrogate pair': badJson('user-1', '\\ud800'),
  'the other half': badJson('user-1', '\\udc00x'),
  'half a pair as a name': badJson('partner_user_id', '\\ud800'),
  'NUL in a text': badJson('user-1', 'a\\u0000'),
  'NUL in the JSON': badJson('user-1', 'a\0'),
  'a member twice': badJson('{"partner', '{"amount_usd_cents":1,"partner'),
  'a member twice, once escaped': badJson('{"partner', '{"\\u0061mount_usd_cents":1,"partner'),
  __proto__: badJson('{"partner', '{"__proto__":{"a":1},"partner'),
  '__proto__, escaped': badJson('{"partner', '{"\\u005f_proto__":{"a":1},"partner'),
  constructor: badJson('{"partner', '{"constructor":{"prototype":{}},"partner'),
  'depth 33': badBody('['.repeat(33) + ']'.repeat(33)),
  'depth 16,000': badBody('['.repeat(16_000)),
  'depth 20,000': badBody('['.repeat(20_000), '/v1/payouts'),
  'depth 20,000, objects': badBody(`${'{"a":'.repeat(20_000)}1`, '/v1/payouts'),
  '1e2': badJson('1250', '1e2'),
  '1E+2': badJson('1250', '1E+2'),
  '1250.0': badJson('1250', '1250.0'),
  '-0': badJson('1250', '-0'),
  '1e400': badJson('1250', '1e400'),
  'a number of 10,000 digits': badJson('1250', '9'.repeat(10_000)),
  'a leading zero': badJson('1250', '01250'),
  NaN: badJson('1250', 'NaN'),
  'a comment': badJson('{"partner', '{/**/"partner'),
  'a comma too many': badBody(body.replace(/}$/, ',}')),
  'two values': badBody(`${body}${body}`),
  'no value': badBody('   '),
  'a list': badBody(`[${body}]`),
  null: badBody('null'),
  'one byte too many': entry(signedBody(`${body}${' '.repeat(16 * 1024 - body.length + 1)}`), 413),
  'a body of the maximum size': entry(
    signedBody(`${body}${' '.repeat(16 * 1024 - body.length)}`),
    201,
  ),
  '20 MB': entry(signedBody(Buffer.alloc(20 * 1024 * 1024, ' ')), 413),
  'a length of 1 TB': entry(framed('Content-Length: 1099511627776'), 413),

  // Slowness.
  nothing: { parts: [''], answers: [0] },
  'a head without an end': { parts: [good().slice(0, 200)], answers: [0] },
  'a head that comes byte by byte': { parts: [good().slice(0, 200)], trickle: 'a', answers: [0] },
  'a body without an end': { parts: [good().slice(0, -5)], answers: [504] },
  'a body that never begins': { parts: [good().slice(0, -body.length)], answers: [504] },
  'a body that comes byte by byte': {
    parts: [framed('Content-Length: 9999')],
    trickle: ' ',
    answers: [504],
  },
  'chunks without an end': { parts: [inChunks(chunk('a'))], trickle: '1\r\na\r\n', answers: [504] },
}

/** The content of a create, for tests that compare it with the command. */
export const CREATED = createBody
