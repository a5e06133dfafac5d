/**
 * Thousands of events while the pool is killed three times, and the bus once with a wiped store:
 * the outcome of each published event is checked.
 */
import t, { type Test } from 'tap'
import type { TenantId } from '../../src/base/ids.js'
import type { StoredEvent } from '../../src/store/store.js'
import { eventually } from '../support/eventually.js'
import { aFastRelay } from './fast_relay.js'
import { aPoolWorld, type PoolWorld } from './pool_process.js'

const TENANTS = ['one_sandbox', 'two_sandbox', 'three_production'] as TenantId[]
const PATHS = ['/prompt', '/moody'] as const
const REFUSING = '/two_sandbox/moody'
const EVENTS = 3_000
const FIRST = 100

t.test('every event is delivered or dead-lettered and no other is delivered', async (t) => {
  const world = await aPoolWorld(t)
  for (const tenant of TENANTS) {
    for (const path of PATHS) world.endpoint(`/${tenant}${path}`, { tenant })
  }
  world.answers.set(REFUSING, 404)
  await world.start()
  const { publish, published } = aFastRelay(t, world, TENANTS)
  const moody = `/three_production${PATHS[1]}`
  const moods = setInterval(() => {
    world.answers.set(moody, world.answers.get(moody) === 503 ? 200 : 503)
  }, 400)
  t.teardown(() => clearInterval(moods))

  for (const victim of ['pool', 'bus', 'pool', 'pool']) {
    const before = world.got.length
    publish(EVENTS / 5)
    await eventually('the first events arrive', () => world.got.length > before + FIRST)
    if (victim === 'pool') {
      await world.kill()
      await world.start()
    } else {
      await world.nats.kill()
      world.nats.wipe()
      publish(EVENTS / 5)
      await world.nats.start()
    }
  }
  // A receiver that failed each time would wait longer than this test.
  clearInterval(moods)
  world.answers.set(moody, 200)
  await eventually('all events are settled', () => world.settled(published), 60_000)
  await verify(t, world, published)
})

interface DeliveryRow {
  readonly event_id: string
  readonly endpoint_id: string
  readonly state: string
}

async function verify(t: Test, world: PoolWorld, published: readonly StoredEvent[]): Promise<void> {
  t.equal(published.length, EVENTS)
  const byId = new Map(published.map((event) => [event.id, event]))
  const invented = world.got.filter(({ eventId, path, body, signed }) => {
    const event = byId.get(eventId)
    return !signed || event?.body !== body || !path.startsWith(`/${event.tenant}/`)
  })
  t.same(invented, [], 'a delivered body is that of a published event of this partner')

  const accepted = new Set(
    world.got.filter(({ status }) => status === 200).map(({ eventId, path }) => eventId + path),
  )
  const rows = await world.rows<DeliveryRow>('SELECT event_id, endpoint_id, state FROM deliveries')
  const states = new Map(rows.map((row) => [row.event_id + row.endpoint_id, row.state]))
  t.equal(rows.length, EVENTS * PATHS.length, 'one delivery for each endpoint of its partner')
  const wrong = published.flatMap(({ id, tenant }) =>
    PATHS.map((path) => `/${tenant}${path}`).filter((path) => {
      const state = states.get(id + world.endpointAt(path))
      return path === REFUSING
        ? state !== 'dead'
        : state !== 'delivered' || !accepted.has(id + path)
    }),
  )
  t.same(wrong, [])
}
