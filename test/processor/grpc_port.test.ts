/**
 * Bounds of the gRPC port: requests that are unfinished, too large or too slow, with and without
 * the token, neither hold memory nor delay other calls.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connect, type ClientHttp2Session } from 'node:http2'
import { join } from 'node:path'
import { credentials, status } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { ReplyBatch__Output as ReplyBatch } from '../../protos/types/causeway/internal/v1/ReplyBatch.js'
import type { ProtoGrpcType as CommandStreamProto } from '../../protos/types/command_stream.js'
import type { ProtoGrpcType as IntentsProto } from '../../protos/types/intents.js'
import { GRPC_CONNECTIONS_MAX, GRPC_UNARY_MESSAGE_MAX_BYTES } from '../../src/base/constants.js'
import { bearer } from '../../src/grpc/bearer.js'
import { projectRoot } from '../../src/base/project_root.js'
import { contracts } from '../../src/grpc/contracts.js'

const TOKEN = 'it_ours'
const MIB = 1024 * 1024
const GROWTH_MAX = 64 * MIB
const REQUESTS = 300
const SESSIONS = 3
const BODY = Buffer.alloc(7_900_000)
/** Also on a busy machine; the test's process does nothing else. */
const ANSWER_WITHIN_MS = 60_000
const CREATE = '/causeway.v1.PaymentIntents/Create'
const CHECK = '/grpc.health.v1.Health/Check'

function intentsAt(t: Test, address: string, options: object = {}) {
  const { PaymentIntents } = contracts<IntentsProto>().causeway.v1
  const client = new PaymentIntents(address, credentials.createInsecure(), options)
  t.teardown(() => client.close())
  return client
}

async function openPort(t: Test) {
  const script = join(projectRoot(), '.build/test/processor/grpc_port_process.js')
  const child = fork(script, [TOKEN], { silent: true })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  t.teardown(() => child.kill('SIGKILL'))
  const { port } = await messageFrom<{ port: number }>(child)
  const address = `127.0.0.1:${port}`
  const client = intentsAt(t, address)
  const call = { tenant: { partner_id: 'demo', environment: 'sandbox' }, intent_id: 'pi_1' }
  return {
    address,
    url: `http://${address}`,
    /** What the process has printed. */
    printed: () => printed,
    rss: async (): Promise<number> => {
      child.send('rss')
      return (await messageFrom<{ rss: number }>(child)).rss
    },
    /** Whether a call with the token is answered. */
    answers: () =>
      new Promise<boolean>((resolve) => {
        const deadline = Date.now() + ANSWER_WITHIN_MS
        client.Get(call, bearer(TOKEN), { deadline }, (fault) =>
          resolve(fault?.code === status.NOT_FOUND),
        )
      }),
  }
}

async function messageFrom<Message>(child: ChildProcess): Promise<Message> {
  const [message] = (await once(child, 'message')) as [Message]
  return message
}

/** Announces a message of `size` bytes, sends a part of it and never ends. */
function unfinished(
  session: ClientHttp2Session,
  { path = CREATE, token = '', size = BODY.length + 100, sent = BODY },
) {
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
    },
    { endStream: false },
  )
  stream.on('error', () => undefined)
  /** The gRPC status of the answer. */
  const answered = new Promise<status>((resolve) => {
    stream.on('response', (headers) => resolve(Number(headers['grpc-status'])))
  })
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(size, 1)
  stream.write(prefix)
  stream.write(sent)
  stream.resume()
  return { stream, answered, closed: new Promise((resolve) => stream.on('close', resolve)) }
}

function openSession(t: Test, url: string): ClientHttp2Session {
  const session = connect(url, { maxSessionMemory: 10_000 })
  session.on('error', () => undefined)
  t.teardown(() => session.destroy())
  return session
}

for (const [who, token, code] of [
  ['unauthenticated calls', '', status.UNAUTHENTICATED],
  ['authenticated calls', TOKEN, status.RESOURCE_EXHAUSTED],
] as const) {
  for (const path of [CREATE, CHECK]) {
    t.test(`${who}: ${REQUESTS} unfinished requests to ${path} hold no memory`, async (t) => {
      const port = await openPort(t)
      t.ok(await port.answers())
      const before = await port.rss()
      const sessions = Array.from({ length: SESSIONS }, () => openSession(t, port.url))
      const requests = Array.from({ length: REQUESTS }, (_, i) =>
        unfinished(sessions[i % SESSIONS]!, { path, token }),
      )
      t.ok(await port.answers(), 'other calls are answered')
      const codes = await Promise.all(requests.map(({ answered }) => answered))
      t.same([...new Set(codes)], [path === CHECK ? status.RESOURCE_EXHAUSTED : code])
      await Promise.all(requests.map(({ closed }) => closed))
      const growth = (await port.rss()) - before
      t.ok(growth < GROWTH_MAX, `grew by ${Math.round(growth / MIB)} MiB`)
      t.ok(await port.answers())
    })
  }
}

t.test('unfinished requests of a permitted size are bounded together', async (t) => {
  const port = await openPort(t)
  t.ok(await port.answers())
  const before = await port.rss()
  const session = openSession(t, port.url)
  const size = GRPC_UNARY_MESSAGE_MAX_BYTES
  const sent = Buffer.alloc(size - 1)
  const requests = Array.from({ length: 200 }, () =>
    unfinished(session, { token: TOKEN, size, sent }),
  )
  t.ok(await port.answers(), 'other calls are answered')
  const codes = await Promise.all(requests.map(({ answered }) => answered))
  const slow = codes.filter((code) => code === status.DEADLINE_EXCEEDED)
  // 32 at a time: others follow on a machine on which sending them takes longer than that deadline.
  t.ok(slow.length > 0, `${slow.length} were admitted until their deadline`)
  t.equal(codes.filter((code) => code === status.RESOURCE_EXHAUSTED).length, 200 - slow.length)
  const growth = (await port.rss()) - before
  t.ok(growth < 2 * GROWTH_MAX, `grew by ${Math.round(growth / MIB)} MiB`)
})

t.test('a request of each kind is ended when it does not finish in time', async (t) => {
  const port = await openPort(t)
  const session = openSession(t, port.url)
  const sent = Buffer.alloc(3)
  const requests = [
    unfinished(session, { token: TOKEN, size: 10, sent }),
    unfinished(session, { path: CHECK, size: 10, sent }),
    unfinished(session, { path: '/grpc.health.v1.Health/Watch', size: 10, sent }),
    unfinished(session, {
      ...{ path: '/causeway.operator.v1.Reconciliation/Movements', token: TOKEN, size: 10, sent },
    }),
  ]
  for (const { answered, closed } of requests) {
    t.equal(await answered, status.DEADLINE_EXCEEDED)
    await closed
  }
})

t.test('unary requests above the size bound are refused, others are served', async (t) => {
  const port = await openPort(t)
  const client = intentsAt(t, port.address)
  const tenant = { partner_id: 'demo', environment: 'sandbox' }
  const codeOf = (bytes: number): Promise<number | undefined> =>
    new Promise((resolve) => {
      client.Get({ tenant, intent_id: 'x'.repeat(bytes) }, bearer(TOKEN), (fault) =>
        resolve(fault?.code),
      )
    })
  t.equal(await codeOf(MIB - 100), status.NOT_FOUND)
  t.equal(await codeOf(MIB + 1), status.RESOURCE_EXHAUSTED)
})

t.test("the gateways' stream accepts large batches, and only with the token", async (t) => {
  const port = await openPort(t)
  const { CommandStream } = contracts<CommandStreamProto>().causeway.internal.v1
  const client = new CommandStream(port.address, credentials.createInsecure())
  t.teardown(() => client.close())
  const scan = { intent_id: 'pi_1', qr_payload: 'x'.repeat(7 * MIB), session_jti: 'j' }
  const batch = { commands: [{ ticket: 1, tenant: 'demo_sandbox', budget_ms: 5_000, scan }] }

  const stream = client.Open(bearer(TOKEN))
  const [{ replies }] = await new Promise<[ReplyBatch]>((resolve, reject) => {
    stream.on('data', (reply: ReplyBatch) => resolve([reply]))
    stream.on('error', reject)
    stream.write(batch)
  })
  t.match(replies, [{ ticket: 1, code: 'payment_intent_not_found' }])
  stream.end()

  const unauthenticated = client.Open(bearer('it_theirs'))
  unauthenticated.on('error', () => undefined)
  unauthenticated.on('data', () => t.fail('no data is sent'))
  unauthenticated.write(batch)
  const end = await new Promise<{ code: number }>((resolve) =>
    unauthenticated.on('status', resolve),
  )
  t.equal(end.code, status.UNAUTHENTICATED)
})

t.test('idle unauthenticated connections do not block new ones', async (t) => {
  const port = await openPort(t)
  t.ok(await port.answers())
  const host = { host: '127.0.0.1', port: Number(new URL(port.url).port) }
  const idle = Array.from({ length: GRPC_CONNECTIONS_MAX + 20 }, () => connectTcp(host))
  t.teardown(() => idle.forEach((socket) => socket.destroy()))
  let closed = 0
  await new Promise<void>((resolve) => {
    for (const socket of idle) {
      socket.on('error', () => undefined)
      socket.resume()
      socket.on('close', () => {
        closed += 1
        if (closed === 20) resolve()
      })
    }
  })
  t.ok(await port.answers(), 'the authenticated connection is still open')
  const another = intentsAt(t, port.address, { 'grpc.use_local_subchannel_pool': 1 })
  const fault = await new Promise<{ code: number } | null>((resolve) => {
    another.Get({ tenant: null, intent_id: '' }, bearer(TOKEN), (error) => resolve(error))
  })
  t.equal(fault?.code, status.INVALID_ARGUMENT, 'a new connection is accepted')
})

t.test('metadata that is no text prints nothing', async (t) => {
  const port = await openPort(t)
  const session = openSession(t, port.url)
  const path = { ':method': 'POST', ':path': CREATE, 'content-type': 'application/grpc' }
  const stream = session.request({ ...path, te: 'trailers', 'x-request-id': '\u00ff' })
  stream.resume()
  const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
  t.equal(Number(headers['grpc-status']), status.UNAUTHENTICATED)
  t.ok(await port.answers())
  await port.rss() // What it printed before has arrived.
  t.equal(port.printed(), '')
})
