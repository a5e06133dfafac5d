/**
 * One input of the fuzzer of the processor's gRPC port: a call with a random message of its rpc and
 * random metadata, or a connection with random HTTP/2 frames.
 *
 * Does not own: sending and checking it (grpc_attack).
 *
 * A message is written field by field from its contract, so that most reach a handler; then some
 * are corrupted.
 */
import type { OutgoingHttpHeaders } from 'node:http2'
import protobuf from 'protobufjs'
import { loadProtoTypes } from '../support/proto_types.js'
import type { SeededRandom } from './seeded_random.js'

export const CALLERS = ['operator', 'service', 'gateway', 'webhooks', 'supervisor'] as const
export type FuzzCaller = (typeof CALLERS)[number] | 'nobody'

export interface CallInput {
  readonly kind: 'call'
  /** The path of the rpc. */
  readonly path: string
  readonly caller: FuzzCaller
  readonly headers: OutgoingHttpHeaders
  /** What the stream carries, in packets. */
  readonly packets: readonly Buffer[]
  /** What the caller does after the last packet. */
  readonly end: 'end' | 'reset' | 'wait'
}

export interface FramesInput {
  readonly kind: 'frames'
  readonly bytes: Buffer
}

export type GrpcInput = CallInput | FramesInput

export function grpcInput(
  random: SeededRandom,
  tokenOf: (caller: FuzzCaller) => string,
): GrpcInput {
  if (random.once(8)) return { kind: 'frames', bytes: framesOf(random) }
  const method = random.pick(METHODS)
  const path = `/${method.parent!.fullName.slice(1)}/${method.name}`
  const caller = random.once(6)
    ? 'nobody'
    : random.once(2)
      ? random.pick(CALLERS)
      : usualCaller(path, random)
  const omitted = random.pick(OMITTED)
  const count = method.requestStream === true ? random.int(4) : random.once(10) ? random.int(3) : 1
  const packets = Array.from({ length: count }, () => {
    const message = messageOf(method.resolvedRequestType!, random, 0, omitted)
    return framed(random.once(3) ? corrupted(message, random) : message, random)
  })
  const end = random.pick(['end', 'end', 'end', 'reset', 'wait'] as const)
  return {
    kind: 'call',
    ...{ path, caller, packets, end },
    headers: headersFor(path, tokenOf(caller), random),
  }
}

function usualCaller(path: string, random: SeededRandom): FuzzCaller {
  if (path.startsWith('/causeway.operator.')) return 'operator'
  if (path.startsWith('/causeway.internal.')) return random.pick(['gateway', 'webhooks'])
  return 'service'
}

/** The rpcs of the processor. */
const METHODS = methodsOf(['causeway.v1', 'causeway.internal.v1', 'causeway.operator.v1'])

function methodsOf(packages: readonly string[]): readonly protobuf.Method[] {
  const root = loadProtoTypes()
  root.resolveAll()
  return packages.flatMap((name) => {
    const { nestedArray } = root.lookup(name) as protobuf.Namespace
    return nestedArray.flatMap((each) =>
      each instanceof protobuf.Service ? each.methodsArray : [],
    )
  })
}

const DEPTH_MAX = 6
/** One of so many fields of a message is absent; of one, all: many rpcs accept that. */
const OMITTED = [6, 6, 2, 1] as const
const TEXTS = [
  ...['', 'demo', 'sandbox', 'production', 'demo_sandbox', 'acme', 'th_promptpay', 'vn_vietqr'],
  ...['USD', 'VND', 'THB', 'usd', '0', '-1', '1', '125000', '9223372036854775808', '1e9', '0.01'],
  ...['pi_01M7Y0QX9DXRWQX15SKFGCQ73G', 'pout_01M7Y0QX9DXRWQX15SKFGCQ73G', 'pi_', 'evt_x', 'k1'],
  ...['https://partner.test/hook', 'http://127.0.0.1/', '2026-11-26T00:00:00Z', '2026-11-26'],
  ...['user-1', 'a reason', '__proto__', 'constructor', '\0', '\ud7ff\u2028', '😀'.repeat(300)],
  ...['%', '../..', "' OR 1=1 --", '{"a":1}', 'null', 'a'.repeat(5_000)],
  ...['00020101021129370016A000000677010111011300668123456785802TH530376463048956', 'all'],
]
const NUMBERS = [
  0n,
  1n,
  2n,
  7n,
  127n,
  500n,
  86_400n,
  2n ** 31n,
  2n ** 53n,
  2n ** 63n,
  2n ** 64n - 1n,
]

function messageOf(
  type: protobuf.Type,
  random: SeededRandom,
  depth: number,
  omitted: number,
): Buffer {
  const parts = type.fieldsArray.flatMap((field) => {
    // About one member of a choice.
    const choice = field.partOf?.isProto3Optional === false ? field.partOf.oneof.length : 1
    if (random.once(depth > 2 ? 2 : omitted) || !random.once(choice)) return []
    const times = field.repeated ? random.int(3) : random.once(30) ? 2 : 1
    return Array.from({ length: times }, () => fieldOf(field, random, depth, omitted))
  })
  return Buffer.concat(parts)
}

function fieldOf(
  field: protobuf.Field,
  random: SeededRandom,
  depth: number,
  omitted: number,
): Buffer {
  const { id, resolvedType, type } = field
  if (field.map) return Buffer.alloc(0)
  if (resolvedType instanceof protobuf.Type) {
    if (depth > DEPTH_MAX) return Buffer.alloc(0)
    return delimited(id, messageOf(resolvedType, random, depth + 1, omitted))
  }
  if (type === 'string') return delimited(id, Buffer.from(random.pick(TEXTS)))
  if (type === 'bytes') return delimited(id, bytesOf(random, random.pick([0, 1, 32, 33, 5_000])))
  if (type === 'double' || type.endsWith('fixed64')) return tagged(id, 1, bytesOf(random, 8))
  if (type === 'float' || type.endsWith('fixed32')) return tagged(id, 5, bytesOf(random, 4))
  return tagged(id, 0, varint(random.pick(NUMBERS)))
}

const bytesOf = (random: SeededRandom, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.int(256)))
const tagged = (id: number, wireType: number, value: Buffer): Buffer =>
  Buffer.concat([varint(BigInt(id * 8 + wireType)), value])
const delimited = (id: number, value: Buffer): Buffer =>
  tagged(id, 2, Buffer.concat([varint(BigInt(value.length)), value]))

function varint(value: bigint): Buffer {
  const bytes: number[] = []
  let left = value
  for (; left > 127n; left >>= 7n) bytes.push(Number(left & 127n) | 128)
  return Buffer.from([...bytes, Number(left)])
}

/** Pieces that a parser of messages reads wrongly if it can. */
const PIECES = [
  Buffer.alloc(11, 0xff), // a varint that does not end
  tagged(1, 2, varint(2n ** 32n - 1n)), // a length beyond the message
  tagged(1, 3, Buffer.alloc(0)), // a group that does not end
  tagged(1, 4, Buffer.alloc(0)),
  tagged(1, 7, Buffer.alloc(3)), // no wire type
  tagged(0, 0, varint(0n)),
  tagged(536_870_911, 2, varint(0n)),
  delimited(1, Buffer.from([0xc3, 0x28, 0xff])), // not UTF-8
  Array.from({ length: 2_000 }).reduce<Buffer>((inner) => delimited(1, inner), Buffer.alloc(0)),
]

function corrupted(message: Buffer, random: SeededRandom): Buffer {
  const at = random.int(message.length + 1)
  const [before, after] = [message.subarray(0, at), message.subarray(at)]
  return random.pick<() => Buffer>([
    () => before,
    () => after,
    () => Buffer.concat([before, random.pick(PIECES), after]),
    () => Buffer.concat([before, bytesOf(random, 1 + random.int(40)), after]),
    () => Buffer.concat([message, message]),
    () => bytesOf(random, random.int(300)),
  ])()
}

/** A message as gRPC frames it, sometimes with a wrong flag or length. */
function framed(message: Buffer, random: SeededRandom): Buffer {
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  if (random.once(30)) prefix[0] = random.pick([1, 2, 255])
  if (random.once(30)) prefix.writeUInt32BE(random.pick([0, 1, 2 ** 20 + 1, 2 ** 32 - 1]), 1)
  return Buffer.concat([prefix, message])
}

const GARBAGE: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['grpc-timeout', ['1S', '0m', '-1S', '99999999H', '999999999H', '1', 'S', '1x', '']],
  ['grpc-encoding', ['gzip', 'deflate', 'identity', 'br', '']],
  ['content-type', ['application/grpc+proto', 'application/json', 'application/grpcx', '']],
  ['te', ['', 'gzip']],
  [
    'authorization',
    ['', 'Bearer', 'Bearer ', 'Basic eDp4', 'bearer x', `Bearer ${'x'.repeat(4_000)}`],
  ],
  ['x-request-id', ['', 'a b', 'x'.repeat(3_000), '\u00ff']],
  ['traceparent', ['00-0-0-00', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`, 'ff']],
  ['garbage-bin', ['%%%', 'AAAA', '=']],
  ['grpc-accept-encoding', ['gzip', 'none,,']],
  ['idempotency-key', ['', 'k', 'k'.repeat(300)]],
]
const PATHS = ['/', '/x', '/causeway.v1.PaymentIntents', '/causeway.v1.PaymentIntents/', '*', '//']

function headersFor(path: string, token: string, random: SeededRandom): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {
    ':method': random.once(40) ? random.pick(['GET', 'PUT', 'OPTIONS']) : 'POST',
    ':path': random.once(40) ? random.pick(PATHS) : path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
  }
  while (random.once(3)) {
    const [name, values] = random.pick(GARBAGE)
    headers[name] = random.pick(values)
  }
  return headers
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const SETTINGS = 4

/** A connection's bytes: mostly the preface and settings, then frames of any type and content. */
function framesOf(random: SeededRandom): Buffer {
  if (random.once(10)) return bytesOf(random, 1 + random.int(400))
  const frames = Array.from({ length: random.int(40) }, () => {
    const length = random.pick([0, 0, 1, 4, 5, 6, 8, 30, 200, 16_384])
    return frame(random.int(12), random.int(256), random.pick([0, 1, 1, 3, 2, 2 ** 31 - 1]), {
      content: bytesOf(random, length),
      announced: random.once(15) ? random.pick([0, 16_385, 2 ** 24 - 1]) : length,
    })
  })
  const settings = frame(SETTINGS, 0, 0, { content: Buffer.alloc(0), announced: 0 })
  const bytes = Buffer.concat([PREFACE, settings, ...frames])
  return random.once(6) ? bytes.subarray(0, random.int(bytes.length)) : bytes
}

interface Content {
  readonly content: Buffer
  readonly announced: number
}

function frame(type: number, flags: number, stream: number, { content, announced }: Content) {
  const head = Buffer.alloc(9)
  head.writeUIntBE(announced, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, content])
}
