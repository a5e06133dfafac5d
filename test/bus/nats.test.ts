/** The bus on a real nats-server: no event is lost by kills, freezes and a wiped stream. */
import { connect } from 'nats'
import t, { type Test } from 'tap'
import { instant, MINUTE, systemClock, type Clock } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { EVENT_STREAM, EVENT_SUBJECTS } from '../../src/base/subjects.js'
import type { Consumer, BusMessage } from '../../src/bus/consumer.js'
import { fromMessage } from '../../src/bus/event_message.js'
import { connectBus, streamProbe, type Bus } from '../../src/bus/nats.js'
import type { StoredEvent } from '../../src/store/store.js'
import { eventually } from '../support/eventually.js'
import { readableLog, SILENT_LOG as log } from '../support/logs.js'
import { createNatsServer, type NatsServer, startNats } from '../support/nats_server.js'
import { tempFolder } from '../support/temp_folder.js'
import { anEvent, createOutbox, oneLine, relayOf, someEvents } from './bus_events.js'

interface Times {
  readonly ackWaitMs?: number
  readonly clock?: Clock
}

/** By it no answer of the stream is late. */
const STANDING: Clock = { now: () => instant(0) }
/** For a test that waits for it: in the others nothing that is slow is delivered again. */
const REDELIVERS: Times = { ackWaitMs: 1_000 }

function aBus(t: Test, server: NatsServer, consumes: boolean, times?: Times): Bus {
  const bus = open(server, consumes, times)
  t.teardown(() => bus.close())
  return bus
}

const open = (
  server: NatsServer,
  consumes: boolean,
  { ackWaitMs = MINUTE, clock = STANDING }: Times = {},
): Bus => connectBus({ url: server.url, consumes, ackWaitMs, clock, log })

const isUp = (bus: Bus) => eventually('bus up', () => bus.status() === 'up')

/** A running server with a bus that is up. */
async function aRunningBus(t: Test, consumes = true, times?: Times) {
  const server = await startNats(t)
  const bus = aBus(t, server, consumes, times)
  await isUp(bus)
  return { server, bus }
}

t.test('the log says once why the bus is not ready', async (t) => {
  const withoutJetStream = await createNatsServer(tempFolder(t), [], false)
  t.teardown(() => withoutJetStream.kill())
  await withoutJetStream.start()
  const withSmallPayload = await startNats(t, 'max_payload: 1000')
  const faults = [
    [withoutJetStream.url, 'JetStream is off there, or has no leader'],
    [withSmallPayload.url, 'max_payload of the server is 1000 bytes, it needs 262144'],
    [withoutJetStream.url.replace(/:[^:@]*@/, ':wrong@'), 'Authorization Violation'],
  ] as const
  for (const [url, reason] of faults) {
    const { lines, log } = readableLog('debug')
    const bus = connectBus({ url, consumes: true, clock: systemClock, log })
    const told = (level: string) => lines.filter((line) => line.includes(`"level":"${level}"`))
    await eventually('it is told', () => told('warn').length > 0, undefined, 20)
    const tries = told('debug').length
    await eventually('it is tried again', () => told('debug').length > tries)
    await bus.close()
    t.match(told('warn'), [new RegExp(`"reason":".*${reason}.*"message":"bus not ready"`)])
  }
})

t.test('a stream of other subjects is not used, and the log says why', async (t) => {
  const server = await startNats(t)
  const link = await connect({ port: server.port, user: 'test', pass: 'test-password' })
  t.teardown(() => link.close())
  const manager = await link.jetstreamManager()
  const name = EVENT_STREAM
  await manager.streams.add({ name, subjects: ['payments.>', 'causeway.events'] })
  const { lines, log } = readableLog('info')
  const bus = connectBus({ url: server.url, consumes: false, clock: systemClock, log })
  t.teardown(() => bus.close())
  const [event] = someEvents(1)
  bus.publisher.onUp(() => void bus.publisher.publish(event!, event!.id))
  await eventually('it is told', () => lines.length > 0, undefined, 20)
  const reason = 'Error: the stream CAUSEWAY_EVENTS does not take causeway.events.>'
  t.match(lines, [new RegExp(`"reason":"${reason}","message":"bus not ready"`)])

  for (const subject of ['causeway.*.*', EVENT_SUBJECTS]) {
    await manager.streams.update(name, { subjects: ['payments.>', subject] })
    await isUp(bus)
    t.equal(await bus.publisher.publish(event!, `${event!.id} ${subject}`), true, subject)
  }
  t.equal(lines.filter((line) => line.includes('bus up')).length, 1)
})

t.test('a stream is bounded as far as the server has the storage', async (t) => {
  const bounds = [
    ['3GB', 2 * 1024 ** 3],
    ['1GB', 256 * 1024 ** 2],
    ['100MB', -1],
  ] as const
  for (const [storage, most] of bounds) {
    const server = await startNats(t, `jetstream { max_file_store: ${storage} }`)
    const link = await connect({ port: server.port, user: 'test', pass: 'test-password' })
    t.teardown(() => link.close())
    const { streams } = await link.jetstreamManager()
    const boundOf = async () => {
      const { config } = await streams.info(EVENT_STREAM)
      return { [storage]: config.max_bytes, discard: config.discard }
    }
    await isUp(aBus(t, server, false))
    t.same(await boundOf(), { [storage]: most, discard: 'old' })

    await streams.update(EVENT_STREAM, { max_bytes: -1 })
    await isUp(aBus(t, server, false))
    t.same(await boundOf(), { [storage]: most, discard: 'old' }, 'of an earlier version')
    await streams.update(EVENT_STREAM, { max_bytes: 1_000_000 })
    await isUp(aBus(t, server, false))
    t.same(await boundOf(), { [storage]: 1_000_000, discard: 'old' }, "an operator's own")
  }
})

t.test('a stream that acknowledges nothing is not used, and the log says why', async (t) => {
  const server = await startNats(t)
  const link = await connect({ port: server.port, user: 'test', pass: 'test-password' })
  t.teardown(() => link.close())
  const manager = await link.jetstreamManager()
  await manager.streams.add({ name: EVENT_STREAM, subjects: [EVENT_SUBJECTS], no_ack: true })
  const { lines, log } = readableLog('info')
  const bus = connectBus({ url: server.url, consumes: false, clock: systemClock, log })
  t.teardown(() => bus.close())
  await eventually('it is told', () => lines.length > 0, undefined, 20)
  const reason = /"reason":"Error: the stream CAUSEWAY_EVENTS acknowledges nothing \(no_ack\)"/
  t.match(lines, [reason])

  await manager.streams.update(EVENT_STREAM, { no_ack: false })
  await isUp(bus)
})

/** Reads and acknowledges until every wanted event was seen. @returns how often each was, by id */
async function readAll(
  consumer: Consumer,
  wanted: readonly StoredEvent[],
): Promise<Map<string, number>> {
  const seen = new Map<string, number>()
  const missing = new Set<string>(wanted.map(({ id }) => id))
  while (missing.size > 0) {
    const messages = await consumer.next()
    if (messages.length === 0) throw new Error(`closed, ${missing.size} events missing`)
    for (const message of messages) {
      for (const { id } of eventsOf(message)) {
        seen.set(id, (seen.get(id) ?? 0) + 1)
        missing.delete(id)
      }
      message.ack()
    }
  }
  return seen
}

function eventsOf(message: BusMessage) {
  const read = fromMessage(message)
  if (!read.ok) throw new Error(read.reason)
  return read.events
}

t.test('the bus is up after admission, with the newest event of the stream', async (t) => {
  const server = await startNats(t)
  const newestSeen: (string | null)[] = []
  const admitted = { after: 0 }
  const connectAgain = async (): Promise<Bus> => {
    newestSeen.length = 0
    const bus = connectBus({
      url: server.url,
      consumes: false,
      admit: (newest) => Promise.resolve(newestSeen.push(newest?.id ?? null) > admitted.after),
      clock: systemClock,
      log,
    })
    t.teardown(() => bus.close())
    await isUp(bus)
    return bus
  }
  const bus = await connectAgain()
  t.same(newestSeen, [null], 'an empty stream')
  const events = someEvents(3)
  await Promise.all(events.map((event) => bus.publisher.publish(event, event.id)))
  admitted.after = 1
  const next = await connectAgain()
  t.same(
    newestSeen,
    [events[2]!.id, events[2]!.id],
    'admission is requested again, with the last event of the stream',
  )
  await next.publisher.publish(events[0]!, `${events[0]!.id}:sweep1`)
  await connectAgain()
  t.same(newestSeen.at(-1), events[0]!.id, 'also with another message id')
})

t.test('a bus whose server ends during the admission is not up', async (t) => {
  const { server, bus: other } = await aRunningBus(t, false)
  let admissions = 0
  let answer: () => void = () => undefined
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const admit = async (): Promise<boolean> => {
    admissions += 1
    await answered
    return true
  }
  const bus = connectBus({ url: server.url, consumes: false, admit, clock: systemClock, log })
  t.teardown(() => bus.close())
  await eventually('the admission is requested', () => admissions === 1)
  await server.kill()
  await eventually('the loss is seen', () => other.status() === 'down')
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
  answer()
  for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(bus.status(), 'down')
  await server.start()
  await isUp(bus)
  t.ok(admissions > 1, 'the server can have lost its stream')
})

t.test('an event arrives byte for byte as published', async (t) => {
  const { bus } = await aRunningBus(t)
  const event = anEvent(1, { requestId: 'req_01KAH3N6T0ABCDEFGHJKMNPQRS' })
  t.equal(await bus.publisher.publish(event, event.id), true)
  const [message] = await bus.consumer.next()
  const { position: _position, ...expected } = event
  t.same(eventsOf(message!), [expected])
  t.equal(Buffer.from(message!.payload).toString(), event.body)
  t.equal(message!.subject, 'causeway.events.demo_sandbox')
})

t.test('events of one event-loop iteration and tenant share a message', async (t) => {
  const { bus } = await aRunningBus(t)
  const other = { tenant: 'acme_sandbox' as TenantId }
  const requestId = 'req_01KAH3N6T0ABCDEFGHJKMNPQRS'
  const third = anEvent(3, { requestId })
  const events = [anEvent(1), anEvent(2, other), third, anEvent(4, other), anEvent(7)]
  const republished = anEvent(5)
  const last = anEvent(8)
  const large = { ...last, body: oneLine({ ...last, note: 'ก'.repeat(70_000) }) }
  const published = events.map((event) => bus.publisher.publish(event, event.id))
  published.push(bus.publisher.publish(republished, `${republished.id}:sweep1`))
  published.push(bus.publisher.publish(large, large.id))
  t.same(await Promise.all(published), Array(7).fill(true))
  const messages: number[][] = []
  while (messages.flat().length < 7) {
    for (const message of await bus.consumer.next()) {
      const read = eventsOf(message)
      const first = [...events, republished, large].find(({ id }) => id === read[0]?.id)
      t.ok(read.every(({ tenant }) => tenant === first?.tenant))
      for (const one of read) t.equal(one.requestId, one.id === third.id ? requestId : null)
      messages.push(read.map(({ sequence }) => sequence))
    }
  }
  t.same(messages.sort(), [[1, 3, 7], [2, 4], [5], [8]])
})

t.test('pipelined messages are all acknowledged and duplicates dropped', async (t) => {
  const { bus } = await aRunningBus(t)
  const events = someEvents(1_500)
  const first = events.map((event) => bus.publisher.publish(event, event.id))
  t.equal(bus.publisher.capacity(), 2_048 - 1_500)
  t.ok((await Promise.all(first)).every((stored) => stored))
  t.equal(bus.publisher.capacity(), 2_048)
  const again = events.slice(0, 16).map((event) => bus.publisher.publish(event, event.id))
  t.same(await Promise.all(again), Array(16).fill(true), 'a duplicate counts as stored')
  const seen = await readAll(bus.consumer, events)
  t.same([...seen.values()], Array(1_500).fill(1))
})

t.test('only a message with the same events is a duplicate', async (t) => {
  const { bus } = await aRunningBus(t)
  const [first, settled, last] = someEvents(3)
  const together = (...events: (typeof first)[]) =>
    Promise.all(events.map((event) => bus.publisher.publish(event!, event!.id)))
  t.same(await together(first, settled), [true, true])
  t.same(await together(first, last), [true, true], 'as after a second read of the outbox')
  const seen = await readAll(bus.consumer, [first!, settled!, last!])
  t.equal(seen.get(last!.id), 1)
})

t.test('no message is sent beyond the window of outstanding ones', async (t) => {
  const { bus } = await aRunningBus(t, false)
  const outcomes = await Promise.all(
    someEvents(2_050).map((event) => bus.publisher.publish(event, event.id)),
  )
  t.equal(outcomes.filter((stored) => stored).length, 2_048)
})

t.test('a message that the stream refuses is not stored', async (t) => {
  const server = await startNats(t)
  const link = await connect({ port: server.port, user: 'test', pass: 'test-password' })
  const { streams } = await link.jetstreamManager()
  await streams.add({ name: EVENT_STREAM, subjects: [EVENT_SUBJECTS], max_msg_size: 2_000 })
  await link.close()
  const bus = aBus(t, server, false)
  await isUp(bus)
  const [small, other] = someEvents(2)
  const large = { ...other!, body: oneLine({ ...other!, note: 'x'.repeat(2_000) }) }
  t.equal(await bus.publisher.publish(large, large.id), false)
  t.equal(await bus.publisher.publish(small!, small!.id), true)
})

t.test('an unacknowledged message is redelivered', async (t) => {
  const server = await startNats(t)
  const reader = open(server, true, REDELIVERS)
  await isUp(reader)
  const events = someEvents(3)
  for (const event of events) await reader.publisher.publish(event, event.id)
  const taken = new Set<string | undefined>()
  while (taken.size < 3) {
    for (const message of await reader.consumer.next()) {
      const id = eventsOf(message)[0]?.id
      if (!taken.has(id)) t.notOk(message.isRepeated())
      taken.add(id)
      if (id === events[0]!.id) message.ack()
    }
  }
  await reader.close()
  t.same(await reader.consumer.next(), [], 'a closed bus returns no message')
  const other = aBus(t, server, true, REDELIVERS)
  const seen = new Set<string>()
  while (seen.size < 2) {
    for (const message of await other.consumer.next()) {
      t.ok(message.isRepeated())
      message.ack()
      for (const { id } of eventsOf(message)) seen.add(id)
    }
  }
  t.same([...seen].sort(), [events[1]!.id, events[2]!.id].sort())
})

t.test('a message of a lost stream acknowledges none of the next one', async (t) => {
  const { server, bus } = await aRunningBus(t, true, REDELIVERS)
  const [lost, next] = someEvents(2)
  await bus.publisher.publish(lost!, lost!.id)
  const [former] = await bus.consumer.next()
  await server.kill()
  server.wipe()
  await eventually('bus down', () => bus.status() === 'down')
  await server.start()
  await isUp(bus)
  await bus.publisher.publish(next!, next!.id)
  const [first] = await bus.consumer.next()
  t.equal(eventsOf(first!)[0]?.id, next!.id)
  former!.ack()
  const again: BusMessage[] = []
  void bus.consumer.next().then((messages) => again.push(...messages))
  await eventually('the next one is delivered again', () => again.length > 0)
  t.equal(eventsOf(again[0]!)[0]?.id, next!.id)
  again[0]!.ack()
})

t.test('without a server a publish fails and does not hang', async (t) => {
  const server = await createNatsServer(tempFolder(t))
  t.teardown(() => server.kill())
  const bus = aBus(t, server, true)
  t.equal(bus.publisher.capacity(), 0)
  const [event] = someEvents(1)
  t.equal(await bus.publisher.publish(event!, event!.id), false)
  await server.start()
  await isUp(bus)
  t.equal(await bus.publisher.publish(event!, event!.id), true)
})

t.test('with a frozen server the outcome is unknown after two seconds', async (t) => {
  const { server, bus } = await aRunningBus(t, false, { clock: systemClock })
  await server.freeze()
  const [event] = someEvents(1)
  t.equal(await bus.publisher.publish(event!, event!.id), false)
  server.thaw()
  await eventually('it is stored', () => bus.publisher.publish(event!, event!.id))
})

t.test('the relay delivers everything through kill -9 of the server', async (t) => {
  const server = await startNats(t)
  const outbox = createOutbox()
  const bus = aBus(t, server, true, REDELIVERS)
  const relay = relayOf(t, bus, outbox)
  await eventually('caught up', () => !relay.backlog().catchingUp)
  const events = someEvents(3_000)
  const reading = readAll(bus.consumer, events)
  for (let from = 0; from < events.length; from += 100) {
    const group = events.slice(from, from + 100)
    outbox.commit(group)
    relay.push(group)
    if (from === 1_000) await server.kill()
    if (from === 2_000) await server.start()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const seen = await reading
  t.equal(seen.size, 3_000)
})

t.test('the relay republishes every open event after the stream was wiped', async (t) => {
  const { server, bus: producer } = await aRunningBus(t, false)
  const outbox = createOutbox()
  const relay = relayOf(t, producer, outbox)
  const events = someEvents(700)
  outbox.commit(events)
  relay.push(events)
  await eventually(
    'all published',
    () => !relay.backlog().catchingUp && producer.publisher.capacity() === 2_048,
  )
  const settled = events.slice(0, 200)
  for (const event of settled) outbox.settle(event.id)

  await server.kill()
  server.wipe()
  await server.start()

  const reader = aBus(t, server, true)
  const open = events.slice(200)
  const seen = await readAll(reader.consumer, open)
  t.equal(seen.size, open.length, 'open events only')
})

t.test('the outbox is not read while the bus is up', async (t) => {
  const { bus } = await aRunningBus(t)
  const outbox = createOutbox()
  const relay = relayOf(t, bus, outbox)
  await eventually('caught up', () => !relay.backlog().catchingUp)
  const reads = outbox.reads()
  const events = someEvents(5_000)
  for (let from = 0; from < events.length; from += 500) relay.push(events.slice(from, from + 500))
  const seen = await readAll(bus.consumer, events)
  t.equal(seen.size, 5_000)
  t.equal(outbox.reads(), reads)
})

t.test('the liveness probe fails for a frozen server', async (t) => {
  const server = await startNats(t)
  const answers = streamProbe(server.url, 500)
  await eventually('an answer while there is no stream yet', answers)
  const bus = aBus(t, server, true)
  await isUp(bus)
  await eventually('an answer', answers)
  await server.freeze()
  t.notOk(await answers())
  t.notOk(await answers(), 'the probe fails on a new connection too')
  server.thaw()
  await eventually('an answer again', answers)
  await server.kill()
  t.notOk(await answers())
  await server.start()
  await eventually('the probe succeeds on a new connection', answers)
})

t.test('the liveness probe reuses one connection', async (t) => {
  const server = await startNats(t)
  const answers = streamProbe(server.url, MINUTE)
  await answers()
  const before = openSockets()
  for (let times = 0; times < 5; times++) t.ok(await answers())
  t.equal(openSockets(), before)
})

t.test('a tls:// address sends nothing to a server without TLS', async (t) => {
  const server = await startNats(t)
  const address = server.url.replace('nats://', 'tls://')
  t.notOk(await streamProbe(address, 2_000)())
  t.ok(await streamProbe(server.url, MINUTE)())
})

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length
