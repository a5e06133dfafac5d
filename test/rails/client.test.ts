/** The client against a rail that is absent, restarts or sends malformed reports. */
import { join } from 'node:path'
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import type { OrderBatch__Output } from '../../protos/types/causeway/rail/v1/OrderBatch.js'
import type { RailHandlers } from '../../protos/types/causeway/rail/v1/Rail.js'
import type { Report } from '../../protos/types/causeway/rail/v1/Report.js'
import type { ReportBatch } from '../../protos/types/causeway/rail/v1/ReportBatch.js'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import { instant } from '../../src/base/clock.js'
import { GRPC_MESSAGE_MAX_BYTES, STREAM_BATCH_MAX } from '../../src/base/constants.js'
import { newId, type EffectId } from '../../src/base/ids.js'
import { contracts } from '../../src/grpc/contracts.js'
import { connectRail } from '../../src/rails/client.js'
import { UNDESCRIBED, type RailReport } from '../../src/rails/rail.js'
import { eventually } from '../support/eventually.js'
import { readableLog, SILENT_LOG as log } from '../support/logs.js'
import {
  aLinkedListener,
  aLinkedRail,
  aListener,
  anInstruction,
  aRail,
  random,
  shortFolder,
  TOKEN,
  until,
} from './harness.js'

type RailStream = ServerDuplexStream<OrderBatch__Output, ReportBatch>

const socketIn = (folder: string): string => `unix:${join(folder, 'rail.sock')}`

t.test('no link is opened before its reports have a handler', async (t) => {
  const puppet = await aPuppet(t)
  const rail = connectRail({ address: puppet.address, token: TOKEN, log })
  t.teardown(() => rail.close())
  await until('it is described', () => rail.describe() !== UNDESCRIBED)
  t.equal(rail.up(), false)
  const { id } = anInstruction()
  const received: RailReport[] = []
  rail.onReport((reports) => received.push(...reports))
  t.equal(rail.up(), true)
  await until('the link', () => puppet.streams.length > 0)
  puppet.report({ id, status: 'accepted' })
  await until('its report', () => received.length > 0)
  t.equal(puppet.streams.length, 1)
})

/** A rail that sends what the test writes. */
async function aPuppet(t: Test) {
  let describes = 0
  let newest = ''
  let isHanging = false
  const streams: RailStream[] = []
  const batches: OrderBatch__Output[] = []
  // As a rail of an earlier version: without Summarize.
  const handlers: Pick<RailHandlers, 'Describe' | 'Link'> = {
    Describe: (_call, callback) => {
      describes += 1
      const own = newest === '' ? {} : { newest_instruction: newest }
      if (!isHanging) callback(null, { name: 'puppet', finality_window_ms: 7_000, ...own })
    },
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
  const report = (...reports: Report[]): void => {
    streams.at(-1)?.write({ reports })
  }
  const hang = (hangs: boolean): void => void (isHanging = hangs)
  const setNewest = (id: string): void => void (newest = id)
  return { address, streams, batches, report, hang, setNewest, describes: () => describes }
}

/** The puppet, and a listener whose link is open at both ends. */
async function aLinkedPuppet(t: Test, given: Parameters<typeof aLinkedListener>[2] = {}) {
  const puppet = await aPuppet(t)
  const rail = await aLinkedListener(t, puppet.address, given)
  await until('the stream is open', () => puppet.streams.length === 1)
  return { puppet, rail }
}

const query = () => ({ kind: 'query', id: anInstruction().id, environment: 'sandbox' }) as const

t.test('before the answer to Describe no outcome is final and nothing is sent', async (t) => {
  const folder = shortFolder(t)
  const rail = aListener(t, socketIn(folder))
  t.equal(rail.up(), false)
  t.equal(rail.describe(), UNDESCRIBED)
  t.equal(rail.describe().finalityWindowMs, Number.MAX_SAFE_INTEGER)

  const lost = rail.pay()
  const { journal } = await aRail(t, folder)
  await until('the link is up', () => rail.up())
  await rail.waitFor(rail.pay().id, 'executed')
  t.strictSame(await journal.find([lost.id]), [], 'an early instruction is dropped')
})

t.test('the link opens once admitted and retries until then', async (t) => {
  const { address, streams } = await aPuppet(t)
  const seen: (string | null)[] = []
  const rail = aListener(t, address, TOKEN, {
    admit: ({ newestInstruction }) => {
      seen.push(newestInstruction)
      return Promise.resolve(seen.length === 3)
    },
  })
  await until('the link is up', () => rail.up() && streams.length > 0)
  t.same(seen, [null, null, null], 'a rail without newest_instruction has none')
  t.equal(streams.length, 1, 'no link before admission')
})

t.test('a rail whose journal is empty and was not is not used', async (t) => {
  const puppet = await aPuppet(t)
  const { id } = anInstruction()
  puppet.setNewest(id)
  const { log, lines } = readableLog('warn')
  const rail = aListener(t, puppet.address, TOKEN, { log })
  await until('the link is up', () => rail.up() && puppet.streams.length === 1)
  puppet.setNewest('')
  puppet.streams[0]?.end()
  await until('it is asked again and again', () => puppet.describes() >= 4)
  t.equal(rail.up(), false)
  t.equal(puppet.streams.length, 1, 'nothing is asked')
  t.equal(rail.fault(), `its journal is empty, and had instruction ${id}`)
  const told = lines.filter((line) => line.includes('the rail has lost its journal'))
  t.equal(told.length, 1)
  puppet.setNewest(id)
  await until('the journal is back', () => rail.up())
})

/** Ids of one millisecond are in no order. */
const instructedAt = (at: number) =>
  anInstruction({ id: newId<EffectId>('payout', instant(1_790_000_000_000 + at), random) })

t.test('a rail with an older journal is not used until an operator accepts it', async (t) => {
  const [older, newest, lost] = [instructedAt(1), instructedAt(2), instructedAt(3)]
  const { log, lines } = readableLog('warn')
  let isAccepted = false
  const { puppet, rail } = await aLinkedPuppet(t, { log, acceptsLoss: () => isAccepted })
  const there = { environment: 'sandbox', status: 'accepted' } as const
  puppet.report({ ...there, id: newest.id }, { ...there, id: older.id })
  puppet.report({ ...there, id: lost.id, status: 'not_found' })
  await until('the reports', () => rail.received.length === 3)
  puppet.streams[0]?.end()
  await until('it is asked about the newest', () => puppet.batches.length === 1)
  t.match(puppet.batches[0]?.orders, [{ query: { id: newest.id, environment: 'sandbox' } }])
  t.equal(rail.up(), false, 'not before the answer')
  puppet.report({ ...there, id: older.id })
  puppet.report({ id: newest.id, status: 'not_found' })
  await until('it is asked again', () => puppet.batches.length === 2)
  t.equal(rail.up(), false)
  t.equal(rail.fault(), `its journal is an older one: it had instruction ${newest.id}`)
  t.equal(rail.received.length, 3, 'what it reports is not applied')
  const told = lines.filter((line) => line.includes('the rail has lost its journal'))
  t.equal(told.length, 1)
  puppet.report({ ...there, id: newest.id })
  await until('the journal is back', () => rail.up())
  t.equal(rail.received.length, 4)

  puppet.streams.at(-1)?.end()
  await until('it is asked once more', () => puppet.batches.length === 3)
  puppet.report({ id: newest.id, status: 'not_found' })
  await until('a further link', () => puppet.batches.length === 4)
  isAccepted = true
  puppet.report({ id: newest.id, status: 'not_found' })
  await until('it is used as it is', () => rail.up())
  t.equal(puppet.batches.length, 4, 'nothing is asked')
  t.ok(lines.some((line) => line.includes('used without the journal that it has lost')))
})

t.test('the first link is up once the rail has what the books know', async (t) => {
  const puppet = await aPuppet(t)
  const { id } = anInstruction()
  puppet.setNewest(anInstruction().id)
  const rail = aListener(t, puppet.address, TOKEN, {
    admit: () => Promise.resolve(true),
    newestExecuted: () => Promise.resolve({ id, environment: 'production' }),
  })
  await until('it is asked', () => puppet.batches.length === 1)
  t.match(puppet.batches[0]?.orders, [{ query: { id, environment: 'production' } }])
  t.equal(rail.up(), false)
  puppet.report({ id, status: 'accepted' })
  await until('the link is up', () => rail.up())
})

t.test('a rail that never had an instruction is not asked about one', async (t) => {
  const puppet = await aPuppet(t)
  const rail = aListener(t, puppet.address, TOKEN, {
    admit: () => Promise.resolve(true),
    newestExecuted: () => Promise.resolve({ id: anInstruction().id, environment: 'sandbox' }),
  })
  await until('the link is up', () => rail.up())
})

t.test('a rail that never answers Describe is asked again, and warned of', async (t) => {
  const puppet = await aPuppet(t)
  puppet.hang(true)
  const { log, lines } = readableLog('warn')
  const rail = aListener(t, puppet.address, TOKEN, { log, describedWithinMs: 50 })
  t.equal(rail.fault(), 'it has not been reached yet')
  await until('it was asked five times', () => puppet.describes() >= 5)
  t.equal(rail.fault(), 'it has not answered Describe within 0.05 s')
  t.notOk(rail.up())
  const failures = lines.map((line) => (JSON.parse(line) as { failures: number }).failures)
  t.same(failures.slice(0, 3), [1, 2, 4], 'not every failure')
  t.match(lines[0], 'the rail cannot be reached; payments wait for it')
  puppet.hang(false)
  await until('the link is up', () => rail.up())
  t.equal(rail.fault(), null)
})

t.test('a rail that is not there is warned of when it stays away', async (t) => {
  const { log, lines } = readableLog('warn')
  const rail = aListener(t, socketIn(shortFolder(t)), TOKEN, { log })
  await until('a warning', () => lines.length > 0)
  t.match(JSON.parse(lines[0]!), { failures: 8, reason: /UNAVAILABLE/ })
  t.match(rail.fault(), /UNAVAILABLE/)
})

t.test('a link that reports nothing after an inquiry is opened again', async (t) => {
  const { log, lines } = readableLog('warn')
  const { puppet, rail } = await aLinkedPuppet(t, { log, reportedWithinMs: 2_000 })
  const answered = query()
  rail.send([answered])
  await until('the inquiry arrived', () => puppet.batches.length === 1)
  puppet.report({ id: answered.id, status: 'accepted' })
  await until('it is answered', () => rail.received.length === 1)
  const asked = performance.now()
  rail.send([query()])
  await until('another link', () => puppet.streams.length === 2)
  t.ok(performance.now() - asked >= 2_000, 'the first inquiry was answered')
  t.match(lines.join(''), 'it has answered no inquiry within 2 s')
})

t.test('the client drops a report of another shard, and does not acknowledge it', async (t) => {
  const { puppet, rail } = await aLinkedPuppet(t, { shard: 'books_2' })
  const [foreign, own] = [anInstruction(), anInstruction()]
  const reported = { status: 'accepted', report_id: '1' }
  puppet.report(
    { ...reported, id: foreign.id, shard: 'books_1' },
    { ...reported, id: own.id, shard: 'books_2', report_id: '2' },
  )
  await until('its own report arrives', () => rail.about(own.id).length === 1)
  t.same(rail.about(foreign.id), [])
  t.same(puppet.batches, [], 'nothing is acknowledged by the client itself')
})

t.test('the link reconnects to a restarted rail and reports each change', async (t) => {
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
  await rail.waitFor(rail.pay().id, 'executed')
})

t.test('instructions of one event-loop iteration share a message, in order', async (t) => {
  const { puppet, rail } = await aLinkedPuppet(t)
  t.match(rail.describe(), { name: 'puppet', finalityWindowMs: 7_000 })
  const queries = Array.from({ length: STREAM_BATCH_MAX + 44 }, query)
  for (const each of queries) rail.send([each])
  const arrived = () => puppet.batches.flatMap((batch) => batch.orders)
  await until('all instructions arrived', () => arrived().length === queries.length)
  t.strictSame(
    puppet.batches.map((batch) => batch.orders.length),
    [STREAM_BATCH_MAX, 44],
  )
  t.strictSame(
    arrived().map((order) => order.query?.id),
    queries.map(({ id }) => id),
  )
})

t.test('malformed reports are dropped and the others delivered', async (t) => {
  const { puppet, rail } = await aLinkedPuppet(t)
  const { id } = anInstruction()
  puppet.report({ id, status: 'not a status' }, { id: 'x', status: 'accepted' }, {})
  puppet.report({ id, status: 'executed', amount: '1.5' }, { id, status: 'accepted' })
  await rail.waitFor(id, 'accepted')
  t.strictSame(rail.received, [{ id, reportId: null, status: 'accepted' }])
  t.equal(rail.up(), true)
})

t.test('an oversized message closes the link, not the process', async (t) => {
  const { puppet, rail } = await aLinkedPuppet(t)
  puppet.report({ id: 'x'.repeat(GRPC_MESSAGE_MAX_BYTES), status: 'executed' })
  await until('the link was reopened', () => puppet.streams.length === 2)
  await until('the link is up', () => rail.up())
  const { id } = anInstruction()
  puppet.report({ id, status: 'not_found' })
  await rail.waitFor(id, 'not_found')
  t.equal(rail.received.length, 1)
})

t.test('the client reconnects when the rail ends the stream', async (t) => {
  const { puppet, rail } = await aLinkedPuppet(t)
  puppet.streams[0]?.end()
  await until('the link was reopened', () => puppet.streams.length === 2)
  await until('the link is up', () => rail.up())
})

t.test('after close nothing is sent, received or dialed', async (t) => {
  const { puppet, rail } = await aLinkedPuppet(t)
  const ended = new Promise((resolve) => puppet.streams[0]!.on('cancelled', resolve))
  rail.send([query()])
  await rail.close()
  await ended
  rail.send([query()])
  t.equal(rail.up(), false)
  t.strictSame(puppet.batches, [])
})

t.test('the movements of a rail are summarized, or why they are not known', async (t) => {
  const period = { from: instant(0), to: instant(Number.MAX_SAFE_INTEGER) }
  const { rail, close } = await aLinkedRail(t)
  const [one, other] = [rail.pay(), rail.pay({ account: '9990000001' })]
  rail.pay({ account: '9990000008' })
  await rail.waitFor(one.id, 'executed')
  await rail.waitFor(other.id, 'refused')
  const summary = await eventually('the rail has the third', async () => {
    const answer = await rail.summarize(period)
    return answer.kind === 'summary' && answer.summary.accepted?.sums.length === 1 && answer
  })
  t.match(summary, {
    kind: 'summary',
    summary: {
      sums: [{ currency: 'THB', movement: 'executed', count: 1, amount: 12_345n }],
      newest: { instruction: one.id, movement: 'executed' },
      accepted: { sums: [{ currency: 'THB', movement: 'accepted', count: 1, amount: 12_345n }] },
    },
  })
  await close()
  const unknown = (reason: string) => ({ kind: 'unknown', reason })
  t.same(await rail.summarize(period), unknown('the rail did not answer'))

  const older = aListener(t, (await aPuppet(t)).address)
  t.same(await older.summarize(period), unknown('the rail cannot summarize its movements'))
})
