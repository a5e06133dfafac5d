/** A pool process while endpoints are disabled and deleted. */
import t from 'tap'
import { anEvent, someEvents, TENANT } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { aPoolWorld, distinct } from './pool_process.js'

t.test('a disabled endpoint gets its events once it is enabled', async (t) => {
  const world = await aPoolWorld(t)
  const endpoint = world.endpoint('/hook', { status: 'disabled' })
  const other = world.endpoint('/other')
  await world.start()
  const events = someEvents(100)
  await world.publish(events)
  await eventually(
    'the other endpoint has all events',
    () => distinct(world.gotBy('/other')) === 100,
  )
  t.equal(world.gotBy('/hook').length, 0)
  world.processor.setEndpoint({ ...endpoint, status: 'enabled' })
  await eventually('all events are settled', () => world.settled(events))
  t.equal(distinct(world.gotBy('/hook')), 100)
  t.ok(other.id)
})

t.test('open deliveries of a deleted endpoint end as dead', async (t) => {
  const world = await aPoolWorld(t)
  const endpoint = world.endpoint('/hook')
  world.answers.set('/hook', 503)
  await world.start({ WEBHOOK_BACKOFF_SCALE_PCT: '100' })
  const events = someEvents(300)
  await world.publish(events)
  await eventually('one attempt is made, and all deliveries are stored', async () => {
    const [row] = await world.rows<{ n: number }>('SELECT count(*) AS n FROM deliveries')
    return row?.n === 300 && world.got.length > 0
  })
  world.processor.setEndpoint({ ...endpoint, status: 'deleted' })
  await eventually('all events are settled', () => world.settled(events))
  const states = await world.rows<{ state: string; n: number }>(
    'SELECT state, count(*) AS n FROM deliveries GROUP BY state',
  )
  t.same(states, [{ state: 'dead', n: 300 }])
})

for (const away of ['cut off', 'stopped'] as const) {
  t.test(`a pool that was ${away} applies deletions later`, async (t) => {
    const world = await aPoolWorld(t)
    const { id } = world.endpoint('/hook', { status: 'disabled' })
    world.endpoint('/other')
    await world.start()
    const events = someEvents(20)
    await world.publish(events)
    await eventually(
      'the other endpoint has all events',
      () => distinct(world.gotBy('/other')) === 20,
    )
    if (away === 'stopped') await world.stop()
    else world.processor.cut()
    world.processor.setEndpoint({ id, tenant: TENANT, status: 'deleted' })
    if (away === 'stopped') await world.start()
    await eventually('all events are settled', () => world.settled(events))
    const states = await world.rows<{ state: string; n: number }>(
      'SELECT state, count(*) AS n FROM deliveries WHERE endpoint_id = ? GROUP BY state',
      [id],
    )
    t.same(states, [{ state: 'dead', n: 20 }])
    t.equal(world.gotBy('/hook').length, 0)
  })
}

t.test('after 410 the pool requests to disable the endpoint until confirmed', async (t) => {
  const world = await aPoolWorld(t)
  const endpoint = world.endpoint('/gone')
  world.answers.set('/gone', 410)
  await world.start()
  world.processor.refuse(true)
  const event = anEvent(1)
  await world.publish([event])
  await eventually('tried', () => world.got.length === 1)
  world.processor.refuse(false)
  await eventually('disabled', () => world.processor.disabled.length > 0)
  t.same(world.processor.disabled, [{ endpointId: endpoint.id, reason: 'gone' }])
  await eventually('settled', () => world.settled([event]))
  await world.publish([anEvent(2)])
  await eventually('held', async () => {
    const [row] = await world.rows<{ n: number }>(
      "SELECT count(*) AS n FROM deliveries WHERE state = 'pending'",
    )
    return row?.n === 1
  })
  t.equal(world.got.length, 1)
})
