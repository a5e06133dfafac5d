/** The sandbox rail with its journal and the real client, over a socket, in one process. */
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import { Client, credentials, type ServiceError } from '@grpc/grpc-js'
import { service } from 'grpc-health-check'
import { pino } from 'pino'
import t from 'tap'
import type { ProtoGrpcType } from '../../protos/types/rail.js'
import { instant, MINUTE, systemClock } from '../../src/base/clock.js'
import { bearer } from '../../src/grpc/bearer.js'
import { contracts } from '../../src/grpc/contracts.js'
import type { Entry } from '../../src/rails/adapter/entry.js'
import type { Journal } from '../../src/rails/sandbox/journal.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import {
  aLinkedListener,
  aLinkedRail,
  aListener,
  anInstruction,
  aRail,
  clockAhead,
  shortFolder,
  TOKEN,
  until,
} from './harness.js'

const LONG = 60_000

/** The one entry of this id. */
async function entryOf(journal: Journal, id: string): Promise<Entry> {
  const [entry] = await journal.find([id])
  if (entry === undefined) throw new Error(`${id} is not in the journal`)
  return entry
}

async function untilJournalled(journal: Journal, id: string): Promise<void> {
  await until(`${id} is in the journal`, async () => (await journal.find([id])).length === 1)
}

t.test('Describe returns name and environments of the rail', async (t) => {
  const { rail } = await aLinkedRail(t)
  t.match(rail.describe(), { name: 'sandbox', finalityWindowMs: 0, newestInstruction: null })
})

t.test('Describe names the newest instruction, also after a restart', async (t) => {
  const folder = shortFolder(t)
  let ticks: number = systemClock.now()
  const first = await aRail(t, folder, { clock: { now: () => instant(ticks++) } })
  const rail = await aLinkedListener(t, first.address)
  const [one, two] = [anInstruction(), anInstruction()]
  for (const instruction of [two, one]) {
    rail.instruct(instruction)
    await rail.waitFor(instruction.id, 'executed')
  }
  t.equal(first.journal.newest(), one.id)
  await first.close()
  const again = await aRail(t, folder)
  t.equal(again.journal.newest(), one.id)
  const later = await aLinkedListener(t, again.address)
  t.equal(later.describe().newestInstruction, one.id)
  later.instruct(two)
  await later.waitFor(two.id, 'executed')
  t.equal(again.journal.newest(), one.id, 'a repeated instruction is not newer')
})

t.test('the rail pays exactly the instructed amount', async (t) => {
  const { rail, journal } = await aLinkedRail(t, { delayMs: 20 })
  const instruction = rail.pay({ amount: 2n ** 63n - 1n, currency: 'VND', account: 'ก 42' })
  const report = await rail.waitFor(instruction.id, 'executed')
  t.match(report, { amount: 2n ** 63n - 1n, currency: 'VND', destinationAccount: 'ก 42' })
  t.not(report.reportId, null)
  const entry = await entryOf(journal, instruction.id)
  t.equal(entry.amount, 2n ** 63n - 1n)
  t.equal(entry.executions, 1)
  t.equal(entry.transactionId, report.transactionId)
})

t.test('a report names the bank of the payee, as the journal has it', async (t) => {
  const folder = shortFolder(t)
  const first = await aRail(t, folder)
  const [named, proxy, earlier] = [anInstruction(), anInstruction(), anInstruction()]
  const ofProxy = { ...proxy, destination: { ...proxy.destination, bankCode: '' } }
  const link = await aLinkedListener(t, first.address)
  link.instruct(named, ofProxy, earlier)
  t.equal((await link.waitFor(named.id, 'executed')).destinationBank, '004')
  t.equal((await link.waitFor(proxy.id, 'executed')).destinationBank, undefined)
  await link.waitFor(earlier.id, 'executed')
  await link.close()
  await first.close()
  const journal = await openDatabase(join(folder, 'rail.db'))
  await journal.run('UPDATE instructions SET bank_code = NULL WHERE id = ?', [earlier.id])
  await journal.close()

  const again = await aRail(t, folder)
  const later = await aLinkedListener(t, again.address)
  for (const { id } of [named, earlier]) later.send([{ kind: 'query', id, environment: 'sandbox' }])
  t.equal((await later.waitFor(named.id, 'executed')).destinationBank, '004')
  t.equal((await later.waitFor(earlier.id, 'executed')).destinationBank, undefined)
})

t.test('a refused instruction was never executed', async (t) => {
  const { rail, journal } = await aLinkedRail(t)
  const closed = rail.pay({ account: '9990000001' })
  const late = rail.pay({ notAfter: instant(systemClock.now() - 1) })
  t.match(await rail.waitFor(closed.id, 'refused'), { refusal: 'account_closed' })
  t.match(await rail.waitFor(late.id, 'refused'), { refusal: 'expired' })
  rail.instruct(closed, { ...late, notAfter: instant(systemClock.now() + MINUTE) })
  await until('each is answered again', () =>
    [closed, late].every(({ id }) => rail.about(id).length === 2),
  )
  t.match(rail.about(closed.id)[1], { status: 'refused', refusal: 'account_closed' })
  t.match(rail.about(late.id)[1], { status: 'refused', refusal: 'expired' })
  for (const { id } of [closed, late]) t.equal((await entryOf(journal, id)).executions, 0)
})

t.test('a repeated id is executed once', async (t) => {
  const { rail, journal } = await aLinkedRail(t)
  const instruction = anInstruction()
  rail.instruct(instruction, instruction)
  const first = await rail.waitFor(instruction.id, 'executed')
  rail.instruct(instruction)
  await until('each was answered', () => rail.about(instruction.id).length === 3)
  for (const report of rail.about(instruction.id)) {
    t.match(report, { status: 'executed', transactionId: first.transactionId })
  }
  t.equal((await entryOf(journal, instruction.id)).executions, 1)
})

t.test('a repeated id with different content is recorded and not executed', async (t) => {
  const { rail, folder, journal } = await aLinkedRail(t)
  const instruction = rail.pay({ amount: 100n })
  await rail.waitFor(instruction.id, 'executed')
  rail.instruct({ ...instruction, amount: 999n })
  await until('the repetition was answered', () => rail.about(instruction.id).length === 2)
  t.match(rail.about(instruction.id)[1], { status: 'executed', amount: 100n, reportId: null })
  const entry = await entryOf(journal, instruction.id)
  t.match(entry, { amount: 100n, executions: 1 })

  const evidence = await openDatabase(join(folder, 'rail.db'), { readOnly: true })
  t.teardown(() => evidence.close())
  const rows = await evidence.all<{ instruction: string; content: string }>(
    'SELECT instruction, content FROM discrepancies',
  )
  t.equal(rows.length, 1)
  t.equal(rows[0]?.instruction, instruction.id)
  t.not(rows[0]?.content, entry.content)
})

t.test('a silent outcome is revealed by a query', async (t) => {
  const { rail } = await aLinkedRail(t)
  const executed = rail.pay({ account: '9990000006' })
  const refused = rail.pay({ account: '9990000007' })
  const stuck = rail.pay({ account: '9990000008' })
  const qr = rail.pay({ purpose: 'qr_payment', hint: '+unknown' })
  const loud = rail.pay()
  await rail.waitFor(loud.id, 'executed')
  const silent = [executed, refused, stuck, qr]
  for (const { id } of silent) t.strictSame(rail.about(id), [], 'no report')

  rail.send(silent.map(({ id }) => ({ kind: 'query', id, environment: 'sandbox' })))
  t.match(await rail.waitFor(executed.id, 'executed'), { reportId: null })
  t.match(await rail.waitFor(refused.id, 'refused'), { reportId: null, refusal: 'rejected' })
  t.match(await rail.waitFor(stuck.id, 'accepted'), { reportId: null })
  t.match(await rail.waitFor(qr.id, 'executed'), { reportId: null })
})

t.test('an unknown id is answered with not_found', async (t) => {
  const { rail } = await aLinkedRail(t)
  const ids = [anInstruction().id, anInstruction().id, anInstruction().id] as const
  rail.send([
    { kind: 'query', id: ids[0], environment: 'sandbox' },
    { kind: 'recall', id: ids[1], reason: 'refund', environment: 'sandbox' },
    { kind: 'simulate', id: ids[2], outcome: 'completed' },
  ])
  for (const id of ids) t.match(await rail.waitFor(id, 'not_found'), { reportId: null })
})

t.test('account 0005 is executed, then returned', async (t) => {
  const { rail, journal } = await aLinkedRail(t)
  const { id } = rail.pay({ account: '9990000005' })
  const returned = await rail.waitFor(id, 'returned')
  t.strictSame(rail.statusesOf(id), ['executed', 'returned'])
  t.match(await entryOf(journal, id), { executions: 1, transactionId: returned.transactionId })
})

t.test('a recall returns the money or is refused', async (t) => {
  const { rail } = await aLinkedRail(t)
  const paid = rail.pay()
  const refused = rail.pay({ account: '9990000001' })
  await rail.waitFor(paid.id, 'executed')
  await rail.waitFor(refused.id, 'refused')
  rail.send([
    { kind: 'recall', id: paid.id, reason: 'refund', environment: 'sandbox' },
    { kind: 'recall', id: refused.id, reason: 'refund', environment: 'sandbox' },
  ])
  t.match(await rail.waitFor(paid.id, 'returned'), { amount: paid.amount })
  await rail.waitFor(refused.id, 'recall_refused')
  const before = rail.about(paid.id).length
  rail.send([{ kind: 'recall', id: paid.id, reason: 'refund', environment: 'sandbox' }])
  await until('the second recall is answered', () => rail.about(paid.id).length > before)
  t.match(rail.about(paid.id).at(-1), { status: 'returned', reportId: null })
})

t.test('simulate forces outcomes', async (t) => {
  const { rail } = await aLinkedRail(t, { delayMs: LONG })
  const done = rail.pay()
  const failed = rail.pay()
  const back = rail.pay()
  rail.send([
    { kind: 'simulate', id: done.id, outcome: 'completed' },
    { kind: 'simulate', id: failed.id, outcome: 'failed' },
    { kind: 'simulate', id: back.id, outcome: 'reversed' },
  ])
  await rail.waitFor(done.id, 'executed')
  await rail.waitFor(failed.id, 'refused')
  await rail.waitFor(back.id, 'returned')
  rail.send([{ kind: 'simulate', id: failed.id, outcome: 'completed' }])
  await until('the rejected recall is answered', () => rail.about(failed.id).length === 2)
  t.match(rail.about(failed.id)[1], { status: 'refused', reportId: null })
})

t.test('an instruction pending at a stop is executed after the start', async (t) => {
  const folder = shortFolder(t)
  const first = await aRail(t, folder, { delayMs: LONG })
  const rail = await aLinkedListener(t, first.address)
  const paid = rail.pay()
  const refused = rail.pay({ account: '9990000001' })
  await untilJournalled(first.journal, refused.id)
  await first.close()
  t.strictSame(rail.received, [], 'not due yet')

  const second = await aRail(t, folder, { delayMs: LONG, clock: clockAhead(LONG) })
  await rail.waitFor(paid.id, 'executed')
  await rail.waitFor(refused.id, 'refused')
  t.equal((await entryOf(second.journal, paid.id)).executions, 1)
})

t.test('a report is repeated until it is acknowledged', async (t) => {
  const folder = shortFolder(t)
  const first = await aRail(t, folder)
  const listener = await aLinkedListener(t, first.address)
  const instructions = Array.from({ length: 3_000 }, () => anInstruction())
  listener.instruct(...instructions)
  await until('all reports arrived', () => listener.received.length === instructions.length)
  await listener.close()
  await first.close()

  const second = await aRail(t, folder)
  const rail = await aLinkedListener(t, second.address)
  await until('all reports are repeated', () => rail.received.length >= instructions.length)
  const reportIds = (of: typeof rail): string[] =>
    of.received.map(({ reportId }) => reportId ?? '').sort()
  t.strictSame(reportIds(rail), reportIds(listener), 'under the same report ids')

  rail.send(reportIds(rail).map((reportId) => ({ kind: 'acknowledge', reportId })))
  await until('no report is outstanding', async () => {
    return (await second.journal.unacknowledged('', 10)).length === 0
  })
  rail.send([{ kind: 'acknowledge', reportId: 'rep_unknown' }])
  const id = instructions[0]?.id
  if (id === undefined) throw new Error('instructions are executed')
  rail.send([{ kind: 'query', id, environment: 'sandbox' }])
  await until('the rail continues', () => rail.about(id).length === 2)
  t.match(rail.about(id)[1], { status: 'executed', reportId: null })
})

t.test('an old acknowledgement does not stop newer reports', async (t) => {
  const { rail, journal } = await aLinkedRail(t)
  const instruction = rail.pay()
  const executed = await rail.waitFor(instruction.id, 'executed')
  rail.send([{ kind: 'simulate', id: instruction.id, outcome: 'reversed' }])
  const returned = await rail.waitFor(instruction.id, 'returned')
  rail.send([
    { kind: 'acknowledge', reportId: executed.reportId ?? '' },
    { kind: 'query', id: instruction.id, environment: 'sandbox' },
  ])
  await until('the query is answered', () => rail.about(instruction.id).length === 3)
  t.equal((await entryOf(journal, instruction.id)).reportId, returned.reportId)
})

t.test('the environment is stored with the instruction', async (t) => {
  const folder = shortFolder(t)
  const first = await aRail(t, folder, { delayMs: LONG })
  const account = '9990000005'
  const production = anInstruction({ account, environment: 'production' })
  const sandbox = anInstruction({ account })
  const old = anInstruction({ account })
  const rail = await aLinkedListener(t, first.address)
  rail.instruct(production, sandbox, old)
  await untilJournalled(first.journal, old.id)
  await rail.close() // reports go to the newest link, which it could be again
  await first.close()
  const books = await openDatabase(join(folder, 'rail.db'))
  await books.run('UPDATE instructions SET environment = NULL WHERE id = ?', [old.id])
  await books.close()

  // It stands still: what is executed then is not returned meanwhile.
  const later = instant(systemClock.now() + 2 * LONG)
  const second = await aRail(t, folder, { clock: { now: () => later } })
  const listener = await aLinkedListener(t, second.address)
  await listener.waitFor(old.id, 'executed')
  await listener.waitFor(sandbox.id, 'executed')
  t.match(await listener.waitFor(production.id, 'executed'), { environment: 'production' })
  t.equal((await entryOf(second.journal, production.id)).due, null, 'no return is scheduled')
  for (const { id } of [sandbox, old]) {
    t.match((await entryOf(second.journal, id)).due, { step: 'return' })
  }
  listener.instruct({ ...production, environment: 'sandbox' })
  await until('the answer', () => listener.about(production.id).length === 2)
  t.same(await discrepanciesIn(folder), [], 'the content is the same')
})

async function discrepanciesIn(folder: string): Promise<unknown[]> {
  const books = await openDatabase(join(folder, 'rail.db'))
  try {
    return await books.all('SELECT * FROM discrepancies', [])
  } finally {
    await books.close()
  }
}

t.test('calls without the token are refused', async (t) => {
  const { address } = await aRail(t, shortFolder(t))
  const { Rail } = contracts<ProtoGrpcType>().causeway.rail.v1
  const stub = new Rail(address, credentials.createInsecure())
  t.teardown(() => stub.close())
  const unauthorized = aListener(t, address, 'wrong')
  const UNAUTHENTICATED = 16
  for (const metadata of [bearer('wrong'), bearer('')]) {
    const unary = await new Promise<ServiceError | null>((resolve) => {
      stub.Describe({}, metadata, resolve)
    })
    t.equal(unary?.code, UNAUTHENTICATED)
    const stream = stub.Link(metadata)
    stream.resume()
    const fault = await new Promise<ServiceError>((resolve) => stream.on('error', resolve))
    t.equal(fault.code, UNAUTHENTICATED)
  }
  await aLinkedListener(t, address)
  t.equal(unauthorized.up(), false)
})

t.test('a call without the token ends before its message is read', async (t) => {
  const { address } = await aRail(t, shortFolder(t), { address: '127.0.0.1:0' })
  const session = connect(`http://${address}`)
  t.teardown(() => session.destroy())
  for (const method of ['Describe', 'Link']) {
    const head = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }
    const path = { ':path': `/causeway.rail.v1.Rail/${method}` }
    const stream = session.request({ ...head, ...path }, { endStream: false })
    const closed = new Promise((resolve) => stream.on('close', resolve))
    stream.write(Buffer.from([0, 0, 0x70, 0, 0])) // 7 MiB are announced
    const headers = await new Promise<IncomingHttpHeaders>((resolve) => {
      stream.on('response', resolve)
    })
    t.equal(headers['grpc-status'], '16')
    await closed
  }
})

t.test('the health check needs no token', async (t) => {
  const { address } = await aRail(t, shortFolder(t))
  const stub = new Client(address, credentials.createInsecure())
  t.teardown(() => stub.close())
  const check = service['Check']
  if (check === undefined) throw new Error('the health check answers')
  const answer = await new Promise((resolve, reject) => {
    stub.makeUnaryRequest(
      check.path,
      check.requestSerialize,
      check.responseDeserialize,
      { service: 'causeway.rail.v1.Rail' },
      (fault, reply: unknown) => (fault === null ? resolve(reply) : reject(fault)),
    )
  })
  t.match(answer, { status: 'SERVING' })
})

t.test('a link whose peer does not read is ended', async (t) => {
  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  const { address } = await aRail(t, shortFolder(t), { log })
  const { Rail } = contracts<ProtoGrpcType>().causeway.rail.v1
  const stub = new Rail(address, credentials.createInsecure())
  t.teardown(() => stub.close())
  const stream = stub.Link(bearer(TOKEN))
  const ended = new Promise<ServiceError>((resolve) => stream.on('error', resolve))
  const railInstructions = Array.from({ length: 2_500 }, () => ({
    query: { id: anInstruction().id },
  }))
  for (let message = 0; message < 100; message++) stream.write({ orders: railInstructions })
  await until('the rail has ended the link', () =>
    lines.some((line) => line.includes('too slowly')),
  )
  // The status follows the messages already in flight.
  stream.resume()
  const RESOURCE_EXHAUSTED = 8
  t.equal((await ended).code, RESOURCE_EXHAUSTED)
})

t.test('the rail also listens on a free port', async (t) => {
  const { address } = await aRail(t, shortFolder(t), { address: '127.0.0.1:0' })
  t.match(address, /^127\.0\.0\.1:[1-9]\d*$/)
  const rail = await aLinkedListener(t, address)
  await rail.waitFor(rail.pay().id, 'executed')
})
