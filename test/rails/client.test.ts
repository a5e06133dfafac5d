/** The client against a rail that is absent, comes and goes, or talks nonsense. */
import { join } from 'node:path'
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { OrderBatch__Output } from '../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { RailHandlers } from '../../protos/types/causeway/rail/v1/Rail.js'
import type { Report } from '../../protos/types/causeway/rail/v1/Report.js'
import type { ReportBatch } from '../../protos/types/causeway/rail/v1/ReportBatch.js'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import { GRPC_MESSAGE_MAX_BYTES, STREAM_BATCH_MAX } from '../../src/base/constants.js'
import { contracts } from '../../src/base/protos.js'
import { UNDESCRIBED, type RailInstruction } from '../../src/rails/rail.js'
import {
  aLinkedListener,
  aListener,
  anInstruction,
  aRail,
  shortFolder,
  TOKEN,
  until,
} from './harness.js'

type Stream = ServerDuplexStream<OrderBatch__Output, ReportBatch>

const socketIn = (folder: string): string => `unix:${join(folder, 'rail.sock')}`

/** A rail whose every word is the test's. */
async function aPuppet(t: Test) {
  const streams: Stream[] = []
  const batches: OrderBatch__Output[] = []
  const handlers: RailHandlers = {
    Describe: (_call, callback) => callback(null, { name: 'puppet', finality_window_ms: 7_000 }),
    Link: (stream) => {
      streams.push(stream)
      stream.on('data', (batch: OrderBatch__Output) => batches.push(batch))
      stream.on('error', () => undefined)
    },
  }
  const server = new Server()
  server.addService(contracts<ProtoGrpcType>().causeway.rail.v1.Rail.service, handlers)
  const address = socketIn(shortFolder(t))
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(address, ServerCredentials.createInsecure(), (error) => {
      if (error === null) resolve()
      else reject(error)
    })
  })
  t.teardown(() => server.forceShutdown())
  const say = (...reports: Report[]): void => {
    streams.at(-1)?.write({ reports })
  }
  return { address, streams, batches, say }
}

const query = (): RailInstruction => ({
  kind: 'query',
  id: anInstruction().id,
  environment: 'sandbox',
})

void t.test('before the rail has spoken, nothing is final and nothing is sent', async (t) => {
  const folder = shortFolder(t)
  const rail = aListener(t, socketIn(folder))
  t.equal(rail.up(), false)
  t.equal(rail.describe(), UNDESCRIBED)
  t.equal(rail.describe().finalityWindowMs, Number.MAX_SAFE_INTEGER)

  const lost = anInstruction()
  rail.send([{ kind: 'instruct', instruction: lost }])
  const { journal } = await aRail(t, folder)
  await until('the link is up', () => rail.up())
  const kept = anInstruction()
  rail.send([{ kind: 'instruct', instruction: kept }])
  await rail.hear(kept.id, 'executed')
  t.strictSame(await journal.find([lost.id]), [], 'what was sent too early is not kept')
})

void t.test('the link opens when it is admitted, and asks again until then', async (t) => {
  const { address, streams } = await aPuppet(t)
  const asked: (string | null)[] = []
  const rail = aListener(t, address, TOKEN, ({ newestInstruction }) => {
    asked.push(newestInstruction)
    return Promise.resolve(asked.length === 3)
  })
  await until('the link is up', () => rail.up())
  t.same(asked, [null, null, null], 'a rail that does not tell its newest instruction has none')
  t.equal(streams.length, 1, 'no link before')
})

void t.test('the link comes back when the rail does, and says so', async (t) => {
  const folder = shortFolder(t)
  const first = await aRail(t, folder)
  const rail = aListener(t, first.address)
  const changes: boolean[] = []
  rail.onLink((up) => changes.push(up))
  await until('the link is up', () => rail.up())
  await first.close()
  await until('the link is down', () => !rail.up())
  await aRail(t, folder)
  await until('the link is up again', () => rail.up())
  t.strictSame(changes, [true, false, true])
  const instruction = anInstruction()
  rail.send([{ kind: 'instruct', instruction }])
  await rail.hear(instruction.id, 'executed')
})

void t.test('orders of one turn leave together and in order', async (t) => {
  const puppet = await aPuppet(t)
  const rail = await aLinkedListener(t, puppet.address)
  t.match(rail.describe(), { name: 'puppet', finalityWindowMs: 7_000 })
  const railInstructions = Array.from({ length: STREAM_BATCH_MAX + 44 }, query)
  for (const railInstruction of railInstructions) rail.send([railInstruction])
  const arrived = () => puppet.batches.flatMap((batch) => batch.orders)
  await until('all arrived', () => arrived().length === railInstructions.length)
  t.strictSame(
    puppet.batches.map((batch) => batch.orders.length),
    [STREAM_BATCH_MAX, 44],
  )
  t.strictSame(
    arrived().map((railInstruction) => railInstruction.query?.id),
    railInstructions.map((railInstruction) =>
      railInstruction.kind === 'query' ? railInstruction.id : undefined,
    ),
  )
})

void t.test('nonsense is dropped, and what stands beside it is heard', async (t) => {
  const puppet = await aPuppet(t)
  const rail = await aLinkedListener(t, puppet.address)
  await until('the stream is open', () => puppet.streams.length === 1)
  const { id } = anInstruction()
  puppet.say({ id, status: 'paid, honestly' }, { id: 'x', status: 'accepted' }, {})
  puppet.say({ id, status: 'executed', amount: '1.5' }, { id, status: 'accepted' })
  await rail.hear(id, 'accepted')
  t.strictSame(rail.heard, [{ id, reportId: null, status: 'accepted' }])
  t.equal(rail.up(), true)
})

void t.test('a message beyond the cap costs the link, not the process', async (t) => {
  const puppet = await aPuppet(t)
  const rail = await aLinkedListener(t, puppet.address)
  await until('the stream is open', () => puppet.streams.length === 1)
  puppet.say({ id: 'x'.repeat(GRPC_MESSAGE_MAX_BYTES), status: 'executed' })
  await until('the link was opened anew', () => puppet.streams.length === 2)
  await until('it is up', () => rail.up())
  const { id } = anInstruction()
  puppet.say({ id, status: 'not_found' })
  await rail.hear(id, 'not_found')
  t.equal(rail.heard.length, 1)
})

void t.test('a rail that ends the stream is dialled again', async (t) => {
  const puppet = await aPuppet(t)
  const rail = await aLinkedListener(t, puppet.address)
  await until('the stream is open', () => puppet.streams.length === 1)
  puppet.streams[0]?.end()
  await until('the link was opened anew', () => puppet.streams.length === 2)
  await until('it is up', () => rail.up())
})

void t.test('after close nothing is sent, heard or dialled', async (t) => {
  const puppet = await aPuppet(t)
  const rail = await aLinkedListener(t, puppet.address)
  await until('the stream is open', () => puppet.streams.length === 1)
  const [stream] = puppet.streams
  if (stream === undefined) throw new Error('there is a stream')
  const ended = new Promise((resolve) => stream.on('cancelled', resolve))
  rail.send([query()])
  await rail.close()
  await ended
  rail.send([query()])
  t.equal(rail.up(), false)
  t.strictSame(puppet.batches, [])
})
