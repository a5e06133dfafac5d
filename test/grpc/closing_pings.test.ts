/** Calls that are open while a server stops outlive the keep-alive pings of both sides. */
import {
  credentials,
  makeGenericClientConstructor,
  Server,
  status,
  type ClientDuplexStream,
  type ServerDuplexStream,
  type StatusObject,
} from '@grpc/grpc-js'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { answerClosingPings } from '../../src/grpc/closing_pings.js'
import { eventually } from '../support/eventually.js'
import { listenGrpc } from '../support/grpc_listen.js'

const PING_MS = 20
const OPTIONS = {
  'grpc.keepalive_time_ms': PING_MS,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.keepalive_permit_without_calls': 1,
}
const asIs = (bytes: Buffer): Buffer => bytes
const SERVICE = {
  Open: {
    ...{ path: '/test.Echo/Open', requestStream: true, responseStream: true },
    ...{ requestSerialize: asIs, requestDeserialize: asIs },
    ...{ responseSerialize: asIs, responseDeserialize: asIs },
  },
}

type Opened = () => ClientDuplexStream<Buffer, Buffer>

/** A call that has begun on a server that then stops. */
async function callWhileStopping(t: Test) {
  const server = new Server(OPTIONS)
  const open: ServerDuplexStream<Buffer, Buffer>[] = []
  server.addService(SERVICE, {
    Open: (stream: ServerDuplexStream<Buffer, Buffer>) => {
      open.push(stream)
      stream.on('data', () => undefined)
      stream.on('end', () => stream.end())
    },
  })
  const address = await listenGrpc(server)
  const Client = makeGenericClientConstructor(SERVICE, 'Echo')
  const client = new Client(address, credentials.createInsecure(), OPTIONS)
  t.teardown(() => client.close())
  t.teardown(() => server.forceShutdown())
  const call = (client['Open'] as Opened).bind(client)()
  call.on('error', () => undefined)
  call.write(Buffer.from('command'))
  await eventually('the call has begun', () => open.length === 1)
  const stopped = new Promise<void>((resolve) => server.tryShutdown(() => resolve()))
  return { call, stopped, answer: () => open[0]!.write(Buffer.from('answer')) }
}

t.test('an answer that takes longer than some pings arrives', async (t) => {
  answerClosingPings()
  const { call, stopped, answer } = await callWhileStopping(t)
  const answerAt = performance.now() + 10 * PING_MS
  await eventually('some pings have passed', () => performance.now() > answerAt)
  answer()
  const [given] = (await once(call, 'data')) as [Buffer]
  t.equal(given.toString(), 'answer')
  call.end()
  await stopped
})

t.test('a call on a connection that does not close in time ends', async (t) => {
  answerClosingPings(5 * PING_MS)
  const { call } = await callWhileStopping(t)
  const { code } = await new Promise<StatusObject>((resolve) => call.on('status', resolve))
  t.equal(code, status.UNAVAILABLE)
})
