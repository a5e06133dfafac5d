/** The consumer of the bus: deliveries, acknowledgments, duplicates, poison messages. */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { headers as natsHeaders, connect } from 'nats'
import { HOUR, MINUTE, plus, systemClock } from '../../src/base/clock.js'
import type { EndpointId, EventId, TenantId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import { EVENT_HEADERS } from '../../src/base/subjects.js'
import { connectBus } from '../../src/bus/nats.js'
import { openDatabase } from '../../src/store/sqlite/database.js'
import { createEventConsumer } from '../../actors/webhook/intake/event_consumer.js'
import type { Endpoint } from '../../actors/webhook/endpoint/endpoint.js'
import {
  openWebhookStore,
  type Delivery,
  type WebhookStore,
} from '../../actors/webhook/store/store.js'
import { anEvent, someEvents } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { startNats } from '../support/nats_server.js'
import { anEndpoint, anEventRow, NO_CLAIMS } from './builders.js'
import { failed, NO_REPORTS } from '../support/webhook_store.js'

const clock = systemClock
/** Where a test waits for it; in the others nothing that is slow is delivered again. */
const REDELIVERED_AFTER_MS = 1_000

/** A consumer on a real bus and store; the test controls directory and pool. */
async function anEventConsumer(
  t: Test,
  endpoints: Endpoint[],
  { claims = NO_CLAIMS, repeatedMax = 4_096, ackWaitMs = MINUTE } = {},
) {
  const asked: string[] = []
  const server = await startNats(t)
  const file = join(t.testdirName, 'webhooks.db')
  const store = await openWebhookStore(file, NO_REPORTS)
  const bus = connectBus({ url: server.url, consumes: true, ackWaitMs, clock, log })
  const delivered: Delivery[] = []
  let whenSynced = true
  let holding = false
  let away: string | undefined
  let back: () => void = () => undefined
  let stepped: () => void = () => undefined
  let held: (() => void)[] | undefined
  let [scans, taken] = [0, 0]
  const eventConsumer = createEventConsumer({
    consumer: bus.consumer,
    endpoints: {
      ofTenant: (tenant) => endpoints.filter((endpoint) => endpoint.tenant === tenant),
      isSynced: (tenant) => ((taken += 1), whenSynced && tenant !== away),
      whenSynced: () => new Promise((resolve) => (back = () => resolve(true))),
      isAnySynced: () => whenSynced,
      whenAnySynced: async () => {
        holding = true
        await new Promise<void>((resolve) => (stepped = resolve))
        holding = false
        return true
      },
      isAllSynced: () => whenSynced && away === undefined,
    },
    store: {
      ...store,
      commit: async (changes) => {
        await store.commit(changes)
        if (held !== undefined) await new Promise<void>((resolve) => held?.push(resolve))
      },
      eventsWithout: (...of) => ((scans += 1), store.eventsWithout(...of)),
    },
    deliver: (deliveries) => void delivered.push(...deliveries),
    settled: () => undefined,
    claims: {
      ask: (events, take) => (asked.push(...events.map(({ id }) => id)), claims.ask(events, take)),
      isYielded: (id) => claims.isYielded(id),
    },
    ...{ failed, repeatedMax },
    clock,
    random: systemRandom(),
    log,
  })
  const reading = eventConsumer.run()
  t.teardown(async () => {
    stepped()
    await bus.close()
    await reading
    await eventConsumer.idle()
    await store.close()
  })
  await eventually('bus up', () => bus.status() === 'up')
  const servers = `127.0.0.1:${server.port}`
  const link = await connect({ servers, user: 'test', pass: 'test-password' })
  t.teardown(() => link.close())
  const reader = await openDatabase(file, { readOnly: true })
  t.teardown(() => reader.close())
  const acknowledgements = async () => {
    const manager = await link.jetstreamManager()
    return manager.consumers.info('CAUSEWAY_EVENTS', 'webhook_pool')
  }
  return {
    ...{ bus, store, eventConsumer, delivered, link, acknowledgements },
    deliveredIds: () => delivered.map(({ eventId }) => eventId),
    /** Whether all messages are acknowledged but this many. */
    isRead: async (pending = 0): Promise<boolean> => {
      const info = await acknowledgements()
      return info.num_ack_pending === pending && info.num_pending === 0
    },
    /** Events that other pools were asked for. */
    asked,
    publish: async (
      event: Parameters<typeof bus.publisher.publish>[0],
      messageId = event.id,
      isRepeated = false,
    ) => {
      await eventually('it is stored', () => bus.publisher.publish(event, messageId, isRepeated))
    },
    rows: <Row>(sql: string) => reader.all<Row>(sql),
    hold: () => void (whenSynced = false),
    isHolding: () => holding,
    /** The tenant whose processor is unreachable. Undefined means none. */
    setAway: (tenant: string | undefined) => {
      away = tenant
      back()
    },
    release: () => {
      whenSynced = true
      stepped()
    },
    /** Commits reach the disk, but their promises stay pending. */
    holdCommits: () => void (held = []),
    releaseCommits: () => {
      for (const release of held ?? []) release()
      held = undefined
    },
    /** Reads of the events that a late endpoint missed. */
    scans: () => scans,
    taken: () => taken,
  }
}

const unreported = async (store: Pick<WebhookStore, 'unreported'>): Promise<EventId[]> =>
  (await store.unreported(10)).map(({ id }) => id)

t.test('an event becomes one delivery for each subscribed endpoint', async (t) => {
  const [one, other] = [anEndpoint(), anEndpoint({ enabledEvents: ['payout.completed'] })]
  const failures = anEndpoint({ enabledEvents: ['payout.failed'] })
  const world = await anEventConsumer(t, [one, other, failures])
  const event = anEvent(1)
  await world.publish(event)
  await eventually('delivered', () => world.delivered.length === 2)
  t.same(
    world.delivered.map(({ endpointId }) => endpointId),
    [one.id, other.id],
  )
  t.ok(world.delivered.every(({ body, eventId }) => body === event.body && eventId === event.id))
  await eventually('on disk', async () => {
    const due = await world.store.due(one.id, clock.now(), 10)
    return due.length > 0 && t.same(due, [world.delivered[0]])
  })
})

t.test('a message is acknowledged only after its deliveries are on disk', async (t) => {
  const endpoint = anEndpoint()
  const world = await anEventConsumer(t, [endpoint], { ackWaitMs: REDELIVERED_AFTER_MS })
  world.holdCommits()
  const event = anEvent(1)
  await world.publish(event)
  await eventually('submitted to the pool before it is on disk', () => world.delivered.length === 1)
  await eventually(
    'unacknowledged, so it is redelivered',
    async () => (await world.acknowledgements()).num_redelivered === 1,
  )
  t.equal((await world.acknowledgements()).num_ack_pending, 1)
  world.releaseCommits()
  await eventually('acknowledged', () => world.isRead())
  t.equal(world.delivered.length, 1, 'once')
  t.equal((await world.store.due(endpoint.id, clock.now(), 10)).length, 1)
})

t.test('a repeated event creates no second delivery', async (t) => {
  const endpoint = anEndpoint()
  const world = await anEventConsumer(t, [endpoint])
  const events = someEvents(50)
  for (const event of events) await world.publish(event)
  for (const round of [1, 2]) {
    for (const event of events) await world.publish(event, `${event.id}:sweep${round}`)
  }
  await eventually('all events are read', () => {
    const { events: fresh, duplicates } = world.eventConsumer.counts
    return fresh + duplicates === 150
  })
  t.same(world.eventConsumer.counts, { events: 50, duplicates: 100, poison: 0 })
  t.equal(world.delivered.length, 50)
  const [row] = await world.rows<{ n: number }>('SELECT count(*) AS n FROM deliveries')
  t.equal(row?.n, 50)
})

t.test('a settled event that arrives again is reported again', async (t) => {
  const world = await anEventConsumer(t, [])
  const event = anEvent(1)
  await world.publish(event)
  await eventually('on disk', () => world.eventConsumer.counts.events === 1)
  await world.store.commit({ reported: [event.id as EventId] })
  t.same(await unreported(world.store), [])
  await world.publish(event, `${event.id}:sweep1`)
  await eventually('the event is read again', () => world.eventConsumer.counts.duplicates === 1)
  t.same(await unreported(world.store), [event.id])
})

t.test('a poison message is stored and the others are processed', async (t) => {
  const world = await anEventConsumer(t, [anEndpoint()])
  const { link } = world
  const event = anEvent(1)
  const send = async (
    payload: string | Uint8Array,
    { tenant = 'demo_sandbox', sequences = '1', requests = '' } = {},
  ) => {
    const fields = natsHeaders()
    fields.append(EVENT_HEADERS.sequences, sequences)
    if (requests !== '') fields.append(EVENT_HEADERS.requests, requests)
    await link.jetstream().publish(`causeway.events.${tenant}`, payload, { headers: fields })
  }
  await link.jetstream().publish('causeway.events.bare', 'no headers at all')
  await send(event.body, { tenant: 'demo' })
  await send(event.body, { tenant: 'demo_sandbox.payout' })
  await send(event.body, { sequences: '-1' })
  await send(event.body, { sequences: '1 2' })
  await send(event.body, { requests: '- -' })
  await send(event.body, { requests: 'req_"' })
  await send('{"id":')
  await send('[]')
  await send(new Uint8Array([0x7b, 0xff, 0x7d]))
  await send(event.body.replaceAll(event.id, 'evt_short'))
  await send(event.body.replaceAll('payout.completed', 'payout'))
  await send(event.body.replace(/"created_at":"[^"]*"/, '"created_at":"yesterday"'))
  await world.publish(anEvent(2))
  await eventually('the valid message', () => world.delivered.length === 1)
  await eventually('on disk', () => world.eventConsumer.counts.events === 1)
  t.same(world.eventConsumer.counts, { events: 1, duplicates: 0, poison: 13 })
  const rows = await world.rows<{ reason: string; times: number; payload_base64: string }>(
    'SELECT reason, times, payload_base64 FROM poison',
  )
  // Six have the same payload and are one row.
  t.equal(
    rows.reduce((sum, { times }) => sum + times, 0),
    13,
  )
  t.ok(
    rows.some(({ payload_base64 }) => payload_base64 === Buffer.from('{"id":').toString('base64')),
  )
  await eventually('all acknowledged', () => world.isRead())
})

t.test('an unreachable processor delays only the events of its own tenants', async (t) => {
  const tenant = 'other_sandbox' as TenantId
  const [own, others] = [anEndpoint(), anEndpoint({ tenant })]
  const world = await anEventConsumer(t, [own, others])
  world.setAway(tenant)
  const late = anEvent(1, { tenant })
  await world.publish(late)
  const event = anEvent(2)
  await world.publish(event)
  await eventually('the event of the other tenant is delivered', () => world.delivered.length === 1)
  t.equal(world.delivered[0]?.eventId, event.id)
  world.setAway(undefined)
  await eventually('the delayed event is delivered', () => world.delivered.length === 2)
  t.equal(world.delivered[1]?.eventId, late.id)
})

t.test('nothing is routed while the directory is not in step', async (t) => {
  const endpoints: Endpoint[] = []
  const world = await anEventConsumer(t, endpoints)
  world.hold()
  await world.publish(anEvent(1))
  await world.publish(anEvent(2))
  await eventually('a batch waits', () => world.isHolding())
  endpoints.push(anEndpoint())
  t.equal(world.eventConsumer.counts.events, 0)
  world.release()
  await eventually('delivered', () => world.delivered.length === 2)
})

t.test('an endpoint that is announced shortly after an event gets it', async (t) => {
  const endpoints: Endpoint[] = []
  const world = await anEventConsumer(t, endpoints)
  const now = clock.now()
  const before = anEvent(1, { createdAt: plus(now, -500) })
  const after = anEvent(2, { createdAt: now })
  const optIn = anEvent(3, { createdAt: now, type: 'payment_intent.authorized' })
  for (const event of [before, after, optIn]) await world.publish(event)
  await eventually('routed to no endpoint', () => world.eventConsumer.counts.events === 3)
  t.equal(world.delivered.length, 0)

  const endpoint = anEndpoint({ createdAt: plus(now, -100) })
  endpoints.push(endpoint)
  world.eventConsumer.applyEndpoint(endpoint)
  world.eventConsumer.applyEndpoint(endpoint)
  await world.eventConsumer.idle()
  t.same(world.deliveredIds(), [after.id])
  t.same(await unreported(world.store), [before.id, optIn.id], 'open again until it is delivered')

  const old = anEndpoint({ id: 'we_old' as EndpointId, createdAt: plus(now, -3_600_000) })
  world.eventConsumer.applyEndpoint(old)
  await world.eventConsumer.idle()
  t.equal(world.delivered.length, 1, 'an old endpoint is skipped')
})

t.test('a new endpoint gets no event of a clock that was far ahead', async (t) => {
  const world = await anEventConsumer(t, [])
  const now = clock.now()
  const missed = [0, MINUTE / 2].map((ms) => anEventRow({ receivedAt: plus(now, ms) }))
  await world.store.commit({ events: [...missed, anEventRow({ receivedAt: plus(now, HOUR) })] })
  world.eventConsumer.applyEndpoint(anEndpoint({ createdAt: plus(now, -100) }))
  await world.eventConsumer.idle()
  t.same(world.deliveredIds().toSorted(), missed.map(({ id }) => id).toSorted())
})

t.test('changes of an endpoint that wait are routed together, each by its filter', async (t) => {
  const endpoints: Endpoint[] = []
  const world = await anEventConsumer(t, endpoints)
  const now = clock.now()
  const [begun, changed] = [plus(now, -500), plus(now, -100)]
  const early = anEvent(1, { createdAt: plus(now, -300), type: 'payment_intent.authorized' })
  const late = anEvent(2, { createdAt: now, type: 'payout.failed' })
  const deselected = anEvent(3, { createdAt: now, type: 'payment_intent.authorized' })
  for (const event of [early, late]) await world.publish(event)
  await eventually('routed to no endpoint', () => world.eventConsumer.counts.events === 2)
  world.holdCommits()
  await world.publish(deselected)
  await eventually(
    'a commit is held',
    async () => (await world.rows('SELECT id FROM events')).length === 3,
  )
  const enabledEvents = ['payment_intent.authorized']
  const first = anEndpoint({ createdAt: begun, enabledEventsSince: begun, enabledEvents })
  const newest = { ...first, enabledEventsSince: changed, enabledEvents: ['payout.failed'] }
  world.eventConsumer.applyEndpoint(first)
  for (let time = 0; time < 1_000; time += 1) world.eventConsumer.applyEndpoint(newest)
  world.releaseCommits()
  await world.eventConsumer.idle()
  t.ok(world.scans() <= 2, `${world.scans()} reads for 1,001 changes`)
  t.same(world.deliveredIds().sort(), [early.id, late.id].sort())

  world.eventConsumer.applyEndpoint({ ...newest, status: 'deleted' })
  await world.eventConsumer.idle()
  t.ok(world.scans() <= 2, 'a deleted endpoint gets nothing')
})

t.test('a batch is stored between two works of another kind', async (t) => {
  const world = await anEventConsumer(t, [anEndpoint()])
  const releases: (() => void)[] = []
  const works = [1, 2, 3, 4].map(() =>
    world.eventConsumer.inOrder(() => new Promise<void>((resolve) => releases.push(resolve))),
  )
  await eventually('the first runs', () => releases.length === 1)
  await world.publish(anEvent(1))
  await eventually('the message is taken', () => world.taken() > 0)
  releases[0]?.()
  await eventually('the second runs', () => releases.length === 2)
  t.equal(world.delivered.length, 1, 'the batch came first')
  for (let time = 1; time < works.length; time += 1) {
    await eventually('the next runs', () => releases.length > time)
    releases[time]?.()
  }
  await Promise.all(works)
})

t.test('a bounded number of repeated messages is in work', async (t) => {
  let answer: () => void = () => undefined
  const answered = new Promise<void>((resolve) => (answer = resolve))
  let [inWork, most] = [0, 0]
  const claims: typeof NO_CLAIMS = {
    ask: async (events, take) => {
      inWork += events.length
      most = Math.max(most, inWork)
      await answered
      inWork -= events.length
      await take(new Set())
    },
    isYielded: () => false,
  }
  const given = { claims, repeatedMax: 16, ackWaitMs: REDELIVERED_AFTER_MS }
  const world = await anEventConsumer(t, [anEndpoint()], given)
  const events = someEvents(5)
  for (const event of events) await world.publish(event, event.id, true)
  await eventually('they are delivered again and again', () => most >= 16, undefined, 60)
  const asked = world.asked.length
  const { delivered } = await world.acknowledgements()
  await eventually('and again', async () => {
    const now = await world.acknowledgements()
    return now.delivered.consumer_seq >= delivered.consumer_seq + 2 * events.length
  })
  t.ok(most < 16 + events.length, `${most} messages in work: below the bound plus one batch`)
  t.equal(world.asked.length, asked, 'the rest stays in the stream')
  answer()
  await eventually('all are acknowledged', () => world.isRead())
  t.same(world.deliveredIds().sort(), events.map(({ id }) => id).sort(), 'each once')
})

t.test('events of a repeated message are taken when no other pool has them', async (t) => {
  const [first, swept, held, unknown, yielded, left] = someEvents(6)
  const claims: typeof NO_CLAIMS = {
    ask: async (events, take) => {
      const ids = events.map(({ id }) => id)
      if (ids.some((id) => id === unknown?.id)) return
      const elsewhere = new Set(ids.filter((id) => id === held?.id))
      const taken = take(elsewhere)
      for (const id of ids) if (id === left?.id) elsewhere.add(id)
      await taken
    },
    isYielded: (id) => id === yielded?.id,
  }
  const given = { claims, ackWaitMs: REDELIVERED_AFTER_MS }
  const world = await anEventConsumer(t, [anEndpoint()], given)
  for (const event of [first, yielded]) await world.publish(event!)
  for (const event of [swept, held, left]) await world.publish(event!, `${event!.id}:sweep1`, true)
  await eventually('all five are acknowledged', () => world.isRead())
  t.same(
    world.deliveredIds().sort(),
    [first?.id, swept?.id].sort(),
    'neither the held one nor those left to another pool, the last of them before it is stored',
  )
  const asked = new Set([swept?.id, held?.id, left?.id])
  t.same(new Set(world.asked), asked, 'not for messages that are not repeated')

  await world.publish(unknown!, unknown!.id, true)
  await eventually('asked again when it is redelivered', () => {
    return world.asked.filter((id) => id === unknown?.id).length > 1
  })
  t.ok(await world.isRead(1), 'it stays in the stream')
  t.equal(world.delivered.length, 2)
})
