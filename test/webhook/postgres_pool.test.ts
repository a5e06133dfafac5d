/** A webhook pool on PostgreSQL: the fence, take-over, and kills of the server under deliveries. */
import t, { type Test } from 'tap'
import { instant, plus, systemClock } from '../../src/base/clock.js'
import { Deposed } from '../../src/store/store.js'
import { anEvent } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { hurriedClock } from '../support/hurried_clock.js'
import { connectedTo, requirePostgres, startPostgres } from '../support/postgres_server.js'
import { aDelivery, anEndpoint, anEventRow, TENANT } from './builders.js'
import { aFastRelay } from './fast_relay.js'
import { aPoolWorld, type PoolWorld } from './pool_process.js'
import { inPostgres } from './test_stores.js'

requirePostgres(t)

const server = await startPostgres(t)
const EXIT_DEPOSED = 71
const EXIT_RECOVER = 70

const aPool = (t: Test, schema: string): Promise<PoolWorld> =>
  aPoolWorld(t, { STORE_URL: server.url, WEBHOOK_POOL_SCHEMA: schema })

/** The rows of the pool with this schema. */
const rowsIn = (t: Test, schema: string) => connectedTo(t, server.url, `${schema}_1`)

t.test('a former owner commits and removes nothing', async (t) => {
  const { hurried, ...time } = hurriedClock()
  const testStore = inPostgres(server)
  const faults: unknown[] = []
  const first = await testStore.open({ failed: (fault) => faults.push(fault) }, 'one')
  const [event, other] = [anEventRow(), anEventRow()]
  await first.store.commit({ events: [event], reported: [event.id] })
  const second = await hurried(() => testStore.open(undefined, 'two', time))
  let isCommitted = false
  void first.store.commit({ events: [other] }).then(() => (isCommitted = true))
  await eventually('the commit is refused', () => faults.length > 0)
  t.ok(faults[0] instanceof Deposed)
  const late = plus(systemClock.now(), 60_000)
  const oldest = { receivedAt: instant(0), position: 0 }
  await first.store.removeSettled({ delivered: late, dead: late }, oldest)
  t.notOk(isCommitted)
  t.same(await second.store.dedupWindow([event.id, other.id]), new Set([event.id]))
  await second.store.removeSettled({ delivered: late, dead: late }, oldest)
  t.equal(await second.store.lastReceived(), null, 'the owner removes the event')
  const delivery = aDelivery(other, anEndpoint())
  await second.store.commit({ events: [other], deliveries: [delivery] })
  t.equal((await second.store.lastReceived())?.id, other.id)
  t.equal(faults.length, 1)
  await Promise.all([first, second].map(({ store }) => store.close()))
})

const PATH = '/prompt'
const EVENTS = 800
const FIRST = 25

t.test('no delivery is lost while the server is killed', async (t) => {
  const world = await aPool(t, 'killed')
  world.endpoint(PATH, { tenant: TENANT })
  world.endpoint('/refusing', { tenant: TENANT })
  world.answers.set('/refusing', 404)
  await world.start()
  const { publish, published } = aFastRelay(t, world)
  for (let kills = 0; kills < 3; kills++) {
    const before = world.got.length
    publish(EVENTS / 4)
    await eventually('the first events arrive', () => world.got.length > before + FIRST)
    const exited = world.exit()
    await server.kill()
    t.equal(await exited, EXIT_RECOVER, 'the pool exits, as its memory may differ from the disk')
    await server.start()
    await world.start()
  }
  publish(EVENTS / 4)
  await eventually('all events are settled', () => world.settled(published), 60_000)
  const rows = await rowsIn(t, 'killed')
  const found = await rows.all<{ id: string; endpoint: string; state: string }>(
    'SELECT event_id AS id, endpoint_id AS endpoint, state FROM deliveries',
  )
  t.equal(found.length, EVENTS * 2, 'one delivery for each endpoint')
  const accepted = new Set(world.gotBy(PATH).map(({ eventId }) => eventId))
  const states = new Map(found.map(({ id, endpoint, state }) => [id + endpoint, state]))
  const wrong = published.filter(
    ({ id }) =>
      states.get(id + world.endpointAt(PATH)) !== 'delivered' ||
      states.get(id + world.endpointAt('/refusing')) !== 'dead' ||
      !accepted.has(id),
  )
  t.same(wrong, [])
  t.ok(
    world.got.every(({ signed }) => signed),
    'byte for byte as published',
  )
})

t.test('a candidate that loses the server exits as an owner does', async (t) => {
  const world = await aPool(t, 'waiting')
  const rows = await rowsIn(t, 'waiting')
  await world.start()
  await world.stop()
  // Not this process.
  await rows.run("UPDATE owner SET holder = 'another machine'")
  await world.launch()
  const exited = world.exit()
  await eventually('its session is ended', async () => {
    await rows.run('UPDATE owner SET beat = beat + 1')
    const ended = await rows.all(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name LIKE 'causeway commits %' AND query LIKE 'SELECT epoch%'`,
    )
    return ended.length > 0
  })
  t.equal(await exited, EXIT_RECOVER)
})

t.test('a former owner exits, and a candidate waits while the owner lives', async (t) => {
  const world = await aPool(t, 'deposed')
  world.endpoint(PATH, { tenant: TENANT })
  await world.start()
  const rows = await rowsIn(t, 'deposed')
  const exited = world.exit()
  await rows.run("UPDATE owner SET epoch = epoch + 1, holder = 'another machine'")
  t.equal(await exited, EXIT_DEPOSED)
  let hasStarted = false
  const starting = world.start().then(() => (hasStarted = true))
  const looks = new Set<number>()
  await eventually('the candidate has polled three times', async () => {
    await rows.run('UPDATE owner SET beat = beat + 1')
    const found = await rows.all<{ at: Date }>(
      `SELECT query_start AS at FROM pg_stat_activity
       WHERE application_name LIKE 'causeway commits %' AND query LIKE 'SELECT epoch%'`,
    )
    for (const { at } of found) looks.add(at.getTime())
    return looks.size >= 3
  })
  t.notOk(hasStarted, 'the other process runs')
  await rows.run("UPDATE owner SET holder = ''")
  await starting
  await world.publish([anEvent(1, { tenant: TENANT, createdAt: systemClock.now() })])
  await eventually('the candidate delivers', () => world.gotBy(PATH).length === 1)
})
