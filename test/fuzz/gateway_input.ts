/**
 * One input of the gateway fuzzer: a partner's request, corrupted.
 *
 * Does not own: sending and checking it (gateway_attack).
 *
 * The body is corrupted before it is signed, to pass authentication; the bytes of the whole request
 * are corrupted afterwards.
 */
import { ROUTES } from '../../gateway/app.js'
import type { AnyRoute } from '../../gateway/routing/route.js'
import {
  bearer,
  beneficiaryBody,
  bytesOf,
  createBody,
  payoutBody,
  receiptBearer,
  remintBody,
  signedHeaders,
} from '../gateway/signing_partner.js'
import type { SeededRandom } from './seeded_random.js'

export interface GatewayInput {
  readonly route: AnyRoute
  readonly intentId: string
  readonly proof: AnyRoute['auth']
  /** The signed body. */
  readonly body: Buffer
  /** The nonce of the signature, if any; it identifies this input in the command. */
  readonly nonce: string
  /** The bytes to send, by packet. */
  readonly packets: readonly Buffer[]
  /** Closes the connection after the last packet. */
  readonly leaves: boolean
}

const PROOFS: readonly AnyRoute['auth'][] = ['hmac', 'session', 'receipt', 'none']

export function gatewayInput(random: SeededRandom, index: number): GatewayInput {
  const route = random.pick(ROUTES)
  const intentId = `pi_${String(index).padStart(26, '0')}`
  const nonce = `${index.toString(16).padStart(16, '0')}${'f'.repeat(48)}`
  const path = route.path.replace(/\{[a-z_]+\}/, intentId)
  const body = random.once(3) ? spoiltJson(random) : bodyFor(route, random)
  const proof = random.once(10) ? random.pick(PROOFS) : route.auth
  const headers = headersFor({ method: route.method, path, body, intentId, nonce, proof })
  const bytes = Buffer.concat([
    Buffer.from(bytesOf({ method: route.method, path, unsigned: true, headers })),
    body,
  ])
  const spoilt = random.once(3) ? bytes : spoiltBytes(bytes, random)
  const packets = inPackets(spoilt, random)
  return { route, intentId, nonce, proof, body, packets, leaves: random.once(6) }
}

const BODIES: readonly object[] = [
  createBody,
  remintBody,
  payoutBody,
  beneficiaryBody,
  { qr_payload: '000201', local_amount_minor_units: '5000' },
  { quote_id: 'qt_1', quote_version: 1 },
  { url: 'https://acme.example/hook' },
  {},
]

/** The body of the route for about every second request. */
function bodyFor(route: AnyRoute, random: SeededRandom): Buffer {
  const right = BODIES.filter((body) => takes(route, body))
  if (right.length === 0 && random.once(2)) return Buffer.alloc(0)
  return Buffer.from(JSON.stringify(random.pick(random.once(2) && right[0] ? right : BODIES)))
}

function takes({ path }: AnyRoute, body: object): boolean {
  if (path.endsWith('/session')) return body === remintBody
  if (path.endsWith('/scan')) return 'qr_payload' in body
  if (path.endsWith('/payment_intents')) return body === createBody
  if (path.endsWith('/payouts')) return body === payoutBody
  if (path.endsWith('/beneficiaries')) return body === beneficiaryBody
  return path.endsWith('/webhook_endpoints') && 'url' in body
}

/** Replacements of a value, a name or a punctuation mark. */
const TOKENS = [
  ...['null', 'true', '0', '-0', '1e2', '1.0', '1E400', '9'.repeat(400), '-9223372036854775809'],
  ...[
    '""',
    '"\\ud800"',
    '"\\u0000"',
    '"__proto__"',
    '"\\u005f_proto__":{},"x"',
    '"a":1,"a":2',
    '{',
  ],
  ...['[', '}', ']', ',', ':', '"', '\\', '//', '[[[[', '[]', '{}', '\ufeff', '\0', '\u2028', '😀'],
]

function spoiltJson(random: SeededRandom): Buffer {
  let text = JSON.stringify(random.pick(BODIES))
  for (let i = random.int(3); i >= 0; i--) {
    const from = random.int(text.length + 1)
    const to = random.once(2) ? from : from + random.int(12)
    const token = random.once(40) ? '['.repeat(20_000) : random.pick(TOKENS)
    text = text.slice(0, from) + token + text.slice(to)
  }
  const bytes = Buffer.from(text)
  if (random.once(8) && bytes.length > 0) bytes[random.int(bytes.length)] = random.int(256)
  return bytes
}

interface FuzzedCall {
  readonly method: string
  readonly path: string
  readonly body: Buffer
  readonly intentId: string
  readonly nonce: string
  readonly proof: AnyRoute['auth']
}

function headersFor(call: FuzzedCall): Record<string, string> {
  const { body, intentId, proof } = call
  const plain = { 'Content-Length': String(body.length), 'Idempotency-Key': `key ${intentId}` }
  if (proof === 'session' || (proof === 'hmac_or_session' && body.length === 0)) {
    return { ...plain, Authorization: bearer(intentId) }
  }
  if (proof === 'receipt') return { ...plain, Authorization: receiptBearer() }
  return proof === 'none' ? plain : { ...plain, ...signedHeaders(call) }
}

/** Bytes that are inserted into a request or replace a part of it. */
const PIECES = [
  ...['\r\n', '\n', '\r', '\0', ' ', '\t', ':', '\r\n\r\n', '\x7f', '\xff', '%', '?', '#', '/../'],
  ...[
    'Host: x\r\n',
    'Content-Length: 5\r\n',
    'Content-Length: 0\r\n',
    'Connection: keep-alive\r\n',
  ],
  ...['Transfer-Encoding: chunked\r\n', 'Expect: 100-continue\r\n', 'Upgrade: websocket\r\n'],
  ...['HTTP/1.0', 'HTTP/1.1', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', '0\r\n\r\n', 'ffffffff\r\n'],
  ...['Authorization: Bearer x\r\n', 'X-Service-Nonce: 00\r\n', `X: ${'a'.repeat(9_000)}\r\n`],
  '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x01\x02\x03\x04\x05\x06\x07\x08\x00\x01\x00\x02',
]

function spoiltBytes(given: Buffer, random: SeededRandom): Buffer {
  let bytes = given
  for (let i = random.int(4); i >= 0; i--) {
    // Most parser faults are in the head.
    const from = random.int(random.once(3) ? bytes.length + 1 : Math.min(bytes.length + 1, 600))
    const to = Math.min(bytes.length, from + random.int(30))
    const [before, between, after] = [
      bytes.subarray(0, from),
      bytes.subarray(from, to),
      bytes.subarray(to),
    ]
    const piece = Buffer.from(random.pick(PIECES), 'latin1')
    bytes = random.pick<() => Buffer>([
      () => Buffer.concat([before, after]),
      () => Buffer.concat([before, piece, between, after]),
      () => Buffer.concat([before, piece, after]),
      () => Buffer.concat([before, between, between, after]),
      () => Buffer.concat([before, Buffer.from(between).reverse(), after]),
      () => Buffer.concat([before, Buffer.from([random.int(256)]), after]),
      () => before,
      () => Buffer.concat([bytes, given]),
    ])()
  }
  return bytes
}

function inPackets(bytes: Buffer, random: SeededRandom): Buffer[] {
  if (!random.once(4)) return [bytes]
  const cut = random.int(bytes.length + 1)
  return [bytes.subarray(0, cut), bytes.subarray(cut)].filter(({ length }) => length > 0)
}
