/** The order and the rate of deliveries, with a manual clock and scripted receivers. */
import t from 'tap'
import { DAY, instant, MINUTE, plus, SECOND } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { newDelivery } from '../../actors/webhook/delivery/machine.js'
import { createPool, type PoolOptions } from '../../actors/webhook/pool.js'
import { eventually } from '../support/eventually.js'
import { readableLog } from '../support/logs.js'
import { aDelivery, anEndpoint, anEventRow } from './builders.js'
import { aPool, type Reply } from './scripted_pool.js'

const YEARS = 73 * 365 * DAY
const LIVE = 'live_sandbox' as TenantId

const iterations = async (count: number): Promise<void> => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('hundreds of dead endpoints do not delay a live one', async (t) => {
  const live = anEndpoint({ tenant: LIVE })
  const world = await aPool(t, ({ endpoint }) => (endpoint === live ? 'delivered' : 'silence'))
  const dead = Array.from({ length: 300 }, () => anEndpoint())
  for (const endpoint of [...dead, live]) world.pool.applyEndpoint(endpoint)
  await Promise.all(dead.map((endpoint) => world.give(endpoint, 3)))
  await world.give(live, 200)
  await world.untilAfter(
    'all events of the live endpoint',
    100,
    () => world.count(world.delivered, live) === 200,
  )
  t.ok(
    Math.max(...dead.map(({ id }) => world.most.get(id) ?? 0)) <= 1,
    'one attempt at a new endpoint',
  )
  t.ok((world.most.get(live.id) ?? 0) <= 4)
  t.ok(world.pool.state().waitingInMemory <= 300 * 3)
})

t.test('a tenant whose receivers answer just in time leaves slots to others', async (t) => {
  const live = anEndpoint({ tenant: LIVE })
  const world = await aPool(t, ({ endpoint }) => (endpoint === live ? 'delivered' : 'silence'))
  const greedy = Array.from({ length: 200 }, () => anEndpoint())
  for (const endpoint of [...greedy, live]) world.pool.applyEndpoint(endpoint)
  await Promise.all(greedy.map((endpoint) => world.give(endpoint, 1)))
  await eventually('its share is used', () => world.tries.length >= 64)
  await world.give(live, 200)
  // The clock stands: no attempt becomes a slow one.
  await world.untilDelivered(live, 200)
  t.equal(world.tries.length, 64 + 200)
  world.hangUp()
  await eventually(
    'its other endpoints have their turns',
    () => new Set(world.tries).size === greedy.length + 1,
  )
})

t.test('no attempt starts while its tenant is paused, and other tenants continue', async (t) => {
  const paused = new Set(['demo_sandbox'])
  const world = await aPool(t, 'delivered', null, (tenant) => paused.has(tenant))
  const [held, other] = [anEndpoint(), anEndpoint({ tenant: LIVE })]
  for (const endpoint of [held, other]) world.pool.applyEndpoint(endpoint)
  await world.give(held, 20)
  await world.give(other, 100)
  await world.untilDelivered(other, 100)
  t.equal(world.count(world.tries, held), 0)
  paused.clear()
  await world.untilDelivered(held, 20)
})

t.test('an endpoint gets at most its rate and loses no event', async (t) => {
  const world = await aPool(t, 'delivered', 20)
  const [one, other] = [anEndpoint(), anEndpoint()]
  for (const endpoint of [one, other]) world.pool.applyEndpoint(endpoint)
  await Promise.all([world.give(one, 60), world.give(other, 10)])
  await world.untilDelivered(one, 20)
  await world.untilDelivered(other, 10)
  t.equal(world.count(world.tries, one), 20)
  world.clock.advance(500)
  await world.untilDelivered(one, 30)
  t.equal(world.count(world.tries, one), 30)
  await world.untilAfter('all', 50, () => world.count(world.delivered, one) >= 60)
  t.equal(world.count(world.tries, one), 60)
})

t.test('dead, slow and flapping endpoints do not delay the others', async (t) => {
  let flaps = 0
  const manners = new Map<string, () => Reply>()
  const world = await aPool(t, ({ endpoint }) => manners.get(endpoint.id)?.() ?? 'delivered')
  const [dead, late, flapping, ...others] = Array.from({ length: 10 }, () => anEndpoint())
  manners.set(dead!.id, () => 'retry')
  manners.set(late!.id, () => 'late')
  manners.set(flapping!.id, () => (flaps++ % 6 < 3 ? 'retry' : 'delivered'))
  const all = [dead!, late!, flapping!, ...others]
  for (const endpoint of all) world.pool.applyEndpoint(endpoint)
  await Promise.all(all.map((endpoint) => world.give(endpoint, 100)))
  await eventually('the other endpoints have all events', () =>
    others.every((endpoint) => world.count(world.delivered, endpoint) === 100),
  )
  t.equal(world.count(world.tries, dead!), 10, 'the breaker is open')
  t.equal(world.count(world.tries, late!), 1)
  t.ok(world.count(world.delivered, flapping!) < 100)
})

t.test('hundreds of slow endpoints do not delay the fast ones', async (t) => {
  const live = anEndpoint({ tenant: LIVE })
  const late = Array.from({ length: 100 }, () => anEndpoint())
  const world = await aPool(t, ({ endpoint }) => (endpoint === live ? 'delivered' : 'late'))
  for (const endpoint of [...late, live]) world.pool.applyEndpoint(endpoint)
  await Promise.all(late.map((endpoint) => world.give(endpoint, 1)))
  await world.untilAfter(
    'each endpoint has answered once',
    100,
    () => world.delivered.length === 100,
  )
  await Promise.all(late.map((endpoint) => world.give(endpoint, 3)))
  await world.give(live, 200)
  await world.untilDelivered(live, 200)
  t.equal(world.delivered.length, 300, 'without the clock advancing')
})

t.test('a recovering endpoint gets one attempt, then two, never all at once', async (t) => {
  const world = await aPool(t, 'retry')
  await world.endpointWith(100)
  await eventually('open', () => world.pool.state().openBreakers === 1)
  world.answer('delivered')
  const before = world.atOnce.length
  world.clock.advance(MINUTE)
  await eventually('all events are delivered', () => world.delivered.length === 100)
  const back = world.atOnce.slice(before)
  t.equal(back[0], 1, 'the probe alone')
  t.ok(back[1]! <= 2 && back[2]! <= 2 && back[3]! <= 3, `then ${back.slice(1, 9).join()}`)
  t.equal(Math.max(...back), 4)
})

t.test('a backlog beyond memory is delivered from disk, each delivery once', async (t) => {
  const world = await aPool(t, 'delivered')
  const endpoint = anEndpoint()
  await world.give(endpoint, 1_000)
  t.equal(world.pool.state().waitingInMemory, 0, 'the endpoint is not announced yet')
  world.pool.applyEndpoint(endpoint)
  await eventually('all events are delivered', () => world.delivered.length >= 1_000)
  await iterations(20)
  t.equal(world.tries.length, 1_000)
  t.equal(world.most.get(endpoint.id), 4)
})

t.test('an open breaker allows one probe a minute', async (t) => {
  const world = await aPool(t, 'retry')
  await world.endpointWith(50)
  await eventually('ten attempts', () => world.tries.length === 10)
  await eventually('open', () => world.pool.state().openBreakers === 1)
  world.clock.advance(MINUTE - SECOND)
  await iterations(200)
  t.equal(world.tries.length, 10, 'due, and held by the breaker')
  world.clock.advance(2 * SECOND)
  await eventually('a probe', () => world.tries.length === 11)
  await iterations(200)
  t.equal(world.tries.length, 11)
  world.answer('delivered')
  world.clock.advance(MINUTE)
  await eventually(
    'the breaker is closed and all events are delivered',
    () => world.delivered.length === 50,
  )
})

t.test('a receiver started after its endpoint is reached within seconds', async (t) => {
  const world = await aPool(t, 'refused')
  await world.endpointWith(50)
  await eventually('open', () => world.pool.state().openBreakers === 1)
  const before = world.tries.length
  world.clock.advance(5 * SECOND)
  await eventually('a probe', () => world.tries.length === before + 1)
  await eventually('open again', () => world.pool.state().inFlight === 0)
  world.answer('delivered')
  world.clock.advance(5 * SECOND)
  await eventually('closed', () => world.pool.state().openBreakers === 0)
})

for (const change of ['sent again', 'reset', 'given another URL'] as const) {
  t.test(`an open breaker of an endpoint that is ${change}`, async (t) => {
    const world = await aPool(t, 'retry')
    const endpoint = await world.endpointWith(50)
    await eventually('open', () => world.pool.state().openBreakers === 1)
    await eventually('no attempt in flight', () => world.pool.state().inFlight === 0)
    const before = world.tries.length
    world.answer('delivered')
    const reset = { ...endpoint, breakerResetAt: world.clock.now() }
    if (change === 'sent again') {
      world.pool.applyEndpoint({ ...endpoint })
      await iterations(200)
      t.equal(world.pool.state().openBreakers, 1, 'no change')
      t.equal(world.tries.length, before)
      return
    }
    world.pool.applyEndpoint(
      change === 'reset' ? reset : { ...reset, url: 'http://127.0.0.1:1/new' },
    )
    t.equal(world.pool.state().openBreakers, 0)
    await eventually('untried deliveries are sent', () => world.delivered.length >= 40)
  })
}

t.test('an early probe uses up no attempt and delivers when it succeeds', async (t) => {
  const world = await aPool(t, 'retry')
  const endpoint = await world.endpointWith(1)
  // Ten attempts by the schedule open the breaker; the eleventh is due half a day later.
  await world.untilAfter('ten attempts', 15 * MINUTE, () => world.tries.length >= 10)
  await eventually('open', () => world.pool.state().openBreakers === 1)
  const context = async () => {
    const far = world.clock.now() + 10 * DAY
    const [row] = await world.store.due(endpoint.id, far as ReturnType<typeof world.clock.now>, 1)
    return row?.context
  }
  const before = await eventually('written', async () => {
    const now = await context()
    return now?.attempts === 10 && now
  })
  world.clock.advance(MINUTE)
  await eventually('a probe', () => world.tries.length === 11)
  const after = await eventually('written', async () => {
    const now = await context()
    return now?.tries === 11 && now
  })
  t.same(after, { ...before, tries: 11 })
  world.answer('delivered')
  world.clock.advance(MINUTE)
  await eventually('delivered by the next probe', () => world.delivered.length === 1)
  t.equal(world.tries.length, 12)
})

t.test('five days of failures disable the endpoint and keep its events', async (t) => {
  const world = await aPool(t, 'permanent')
  const endpoint = await world.endpointWith(1)
  await world.failedNow()
  t.equal(world.pool.failing().length, 1)
  t.same(await world.failingAgain(), world.pool.failing(), 'also after a restart')
  const failsAfter = async (ms: number): Promise<void> => {
    world.clock.advance(ms)
    await world.give(endpoint, 1)
    await world.failedNow()
  }
  await failsAfter(2 * DAY)
  await failsAfter(2 * DAY)
  t.same(world.disabled, [])
  await failsAfter(DAY)
  t.same(world.disabled, [`${endpoint.id} failing`])
  await world.give(endpoint, 3)
  await iterations(200)
  t.equal(world.tries.length, 4)
  world.pool.applyEndpoint({ ...endpoint, status: 'disabled' })
  world.pool.applyEndpoint(endpoint)
  await eventually('enabled again', () => world.tries.length === 7)
  t.equal(world.disabled.length, 1, 'as a new endpoint')
})

t.test(
  'five days without an attempt do not disable the endpoint, also over a restart',
  async (t) => {
    const world = await aPool(t, 'permanent')
    const endpoint = await world.endpointWith(1)
    await world.failedNow()
    world.clock.advance(6 * DAY)
    const restarted = createPool(world.options)
    t.teardown(() => restarted.stop())
    await restarted.start()
    restarted.applyEndpoint(endpoint)
    const event = anEventRow({ receivedAt: world.clock.now(), tenant: endpoint.tenant })
    const delivery = aDelivery(event, endpoint)
    restarted.deliver([delivery], world.store.commit({ events: [event], deliveries: [delivery] }))
    await world.failedNow()
    t.same(world.disabled, [])
    t.same(
      (await world.store.failing()).map(({ since }) => since),
      [world.clock.now()],
      'it begins again with this failure',
    )
  },
)

t.test(
  'a failure of an attempt that ends after the endpoint was disabled does not count',
  async (t) => {
    const world = await aPool(t, 'silence')
    const endpoint = await world.endpointWith(1)
    await eventually('in flight', () => world.tries.length === 1)
    world.pool.applyEndpoint({ ...endpoint, status: 'disabled' })
    world.hangUp()
    await eventually('it has failed', () => world.pool.state().inFlight === 0)
    world.clock.advance(DAY)
    world.answer('permanent')
    world.pool.applyEndpoint(endpoint)
    await eventually('tried again', () => world.tries.length === 2)
    const { since } = await world.failedNow()
    t.equal(since, world.clock.now(), 'it started as a new endpoint')
  },
)

t.test('a 410 of the former URL does not disable an endpoint with another', async (t) => {
  const world = await aPool(t, 'gone at last')
  const endpoint = await world.endpointWith(1)
  await eventually('in flight', () => world.tries.length === 1)
  const breakerResetAt = world.clock.now()
  world.pool.applyEndpoint({ ...endpoint, url: 'http://127.0.0.1:1/new', breakerResetAt })
  world.hangUp()
  await eventually('it has failed', () => world.pool.state().inFlight === 0)
  await iterations(200)
  t.same(world.disabled, [])
  t.same(world.pool.failing(), [])
  world.answer('delivered')
  await world.give(endpoint, 1)
  await eventually('delivered', () => world.delivered.length === 1)
})

t.test('the five days of failures begin again with another URL', async (t) => {
  const world = await aPool(t, 'permanent')
  const endpoint = await world.endpointWith(1)
  await world.failedNow()
  world.clock.advance(DAY)
  const breakerResetAt = world.clock.now()
  world.pool.applyEndpoint({ ...endpoint, url: 'http://127.0.0.1:1/new', breakerResetAt })
  t.same(world.pool.failing(), [])
  await eventually('on disk too', async () => (await world.store.failing()).length === 0)
  await world.give(endpoint, 1)
  t.equal((await world.failedNow()).since, world.clock.now())
})

t.test('a delivery dropped from memory before its commit is found on disk later', async (t) => {
  const world = await aPool(t, 'delivered')
  const endpoint = world.endpoint()
  const events = Array.from({ length: 300 }, () => anEventRow({ receivedAt: world.clock.now() }))
  const deliveries = events.map((event) => aDelivery(event, endpoint))
  await world.store.commit({ events, deliveries: deliveries.slice(0, 1) })
  let commit: () => void = () => undefined
  world.pool.deliver(deliveries, new Promise((resolve) => (commit = resolve)))
  world.pool.applyEndpoint({ ...endpoint, status: 'disabled' })
  await iterations(20)
  const before = world.tries.length
  t.equal(before, 1, 'a new endpoint gets one attempt')
  world.pool.applyEndpoint(endpoint)
  await iterations(20)
  t.equal(world.tries.length, before, 'no delivery is on disk yet')
  await world.store.commit({ deliveries: deliveries.slice(before) })
  commit()
  await eventually('all events are delivered', () => world.tries.length >= 300)
  await iterations(20)
  t.equal(world.tries.length, 300, 'once each')
  t.equal(world.pool.state().waitingInMemory, 0)
})

t.test('retries of a clock that was ahead do not wait until that time', async (t) => {
  const world = await aPool(t, 'retry')
  const endpoint = world.endpoint()
  world.clock.advance(YEARS)
  await world.give(endpoint, 3)
  const ever = instant(Number.MAX_SAFE_INTEGER)
  await eventually('each waits for its next attempt', async () => {
    const rows = await world.store.due(endpoint.id, ever, 4)
    return rows.length === 3 && rows.every(({ context }) => context.attempts === 1)
  })
  world.answer('delivered')
  world.clock.advance(-YEARS)
  await eventually('they are delivered', () => world.delivered.length === 3)
  t.equal(world.tries.length, 6, 'once each')
})

t.test('a pool that starts sends what a clock that was ahead has put off', async (t) => {
  const { clock, store, options, delivered, tries } = await aPool(t, 'delivered')
  const endpoint = anEndpoint()
  const events = Array.from({ length: 150 }, () => anEventRow({ receivedAt: clock.now() }))
  const deliveries = events.map((event) => ({
    ...aDelivery(event, endpoint),
    context: newDelivery(plus(clock.now(), YEARS)),
  }))
  await store.commit({ events, deliveries })
  const { lines, log } = readableLog('info')
  const pool = createPool({ ...options, log })
  await pool.start()
  t.teardown(() => pool.stop())
  t.match(lines, [/"deliveries":150,"message":"open deliveries are restored"/])
  pool.applyEndpoint(endpoint)
  await eventually('all are delivered', () => delivered.length === events.length)
  await iterations(20)
  t.equal(tries.length, events.length, 'once each')
})

/** A store that has read due deliveries and answers once the test says so. */
function aSlowStore(store: PoolOptions['store']) {
  let reads = 0
  let answer: () => void = () => undefined
  const answered = new Promise<void>((resolve) => (answer = resolve))
  const due: typeof store.due = async (...given) => {
    const rows = await store.due(...given)
    reads += 1
    await answered
    return rows
  }
  const untilRead = (): Promise<boolean> => eventually('a read', () => reads === 1)
  return { slowStore: { ...store, due }, untilRead, answer: () => answer() }
}

t.test('a stop waits for a read of the store in progress', async (t) => {
  const { store, options } = await aPool(t, 'delivered')
  const { slowStore, untilRead, answer } = aSlowStore(store)
  const [endpoint, event] = [anEndpoint(), anEventRow({ receivedAt: options.clock.now() })]
  await store.commit({ events: [event], deliveries: [aDelivery(event, endpoint)] })
  const pool = createPool({ ...options, store: slowStore })
  await pool.start()
  pool.applyEndpoint(endpoint)
  await untilRead()
  let isStopped = false
  const stopped = pool.stop().then(() => (isStopped = true))
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(isStopped)
  answer()
  await stopped
})

t.test('a delivery that is stored while a deleted endpoint is read ends too', async (t) => {
  const { store, options, clock } = await aPool(t, 'delivered')
  const { slowStore, untilRead, answer } = aSlowStore(store)
  const pool = createPool({ ...options, store: slowStore })
  await pool.start()
  const endpoint = anEndpoint()
  pool.applyEndpoint(endpoint)
  pool.applyEndpoint({ ...endpoint, status: 'deleted' })
  await untilRead()
  const event = anEventRow({ receivedAt: clock.now() })
  const delivery = aDelivery(event, endpoint)
  const stored = store.commit({ events: [event], deliveries: [delivery] })
  pool.deliver([delivery], stored)
  await stored
  answer()
  const ever = instant(Number.MAX_SAFE_INTEGER)
  const hasEnded = async () => (await store.due(endpoint.id, ever, 1)).length === 0
  await eventually('it has ended', hasEnded)
  await pool.stop()
})
