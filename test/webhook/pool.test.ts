/** Deliveries by a real pool process. */
import t from 'tap'
import { anEvent, someEvents } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { aPoolWorld, distinct } from './pool_process.js'

t.test('an event reaches its endpoints, signed, and is settled', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/one?a=1')
  world.endpoint('/two')
  await world.start()
  const event = anEvent(1)
  await world.publish([event])
  await eventually('settled', () => world.settled([event]))
  t.same(world.got.map(({ path }) => path).sort(), ['/one?a=1', '/two'])
  t.ok(
    world.got.every(
      ({ body, signed, eventId }) => body === event.body && signed && eventId === event.id,
    ),
  )
  t.same([...world.processor.outcomes.values()], [1])
  t.equal(await world.stop(), 0)
})

t.test('without an endpoint an event is settled at once', async (t) => {
  const world = await aPoolWorld(t)
  await world.start()
  const event = anEvent(1)
  await world.publish([event])
  await eventually('settled', () => world.settled([event]))
})

t.test('a dead endpoint does not delay the others', async (t) => {
  const world = await aPoolWorld(t)
  const dead = world.endpoint('/dead')
  world.endpoint('/alive')
  world.answers.set('/dead', 'silence')
  await world.start()
  const events = someEvents(300)
  await world.publish(events)
  await eventually(
    'the healthy endpoint has all events',
    () => distinct(world.gotBy('/alive')) === 300,
  )
  t.equal(world.gotBy('/alive').length, 300, 'once each')
  t.ok(world.gotBy('/dead').length <= 4, 'few attempts at a time')
  const [open] = await world.rows<{ n: number }>(
    'SELECT count(*) AS n FROM deliveries WHERE endpoint_id = ? AND due_at IS NOT NULL',
    [dead.id],
  )
  t.equal(open?.n, 300, 'the deliveries to the dead endpoint stay open')
  t.notOk(world.settled([events[0]!]))
})

t.test('5xx is retried until 2xx, with a new nonce over the same bytes', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/moody')
  world.answers.set('/moody', 503)
  await world.start()
  const event = anEvent(1)
  await world.publish([event])
  await eventually('three attempts', () => world.got.length >= 3)
  world.answers.set('/moody', 200)
  await eventually('settled', () => world.settled([event]))
  t.equal(new Set(world.got.map(({ nonce }) => nonce)).size, world.got.length)
  t.equal(new Set(world.got.map(({ body }) => body)).size, 1)
  t.ok(world.got.every(({ signed }) => signed))
  const attempts = await world.rows<{ number: number; status: number; reason: string }>(
    'SELECT number, status, reason FROM attempts ORDER BY number',
  )
  t.equal(attempts.length, world.got.length)
  t.same(attempts[0], { number: 1, status: 503, reason: 'http_503' })
  t.equal(attempts.at(-1)?.status, 200)
})

t.test('4xx is dead at once, 5xx after the last attempt; both settle the event', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/no')
  world.endpoint('/down')
  world.answers.set('/no', 404)
  world.answers.set('/down', 500)
  await world.start({ WEBHOOK_MAX_ATTEMPTS: '3' })
  const event = anEvent(1)
  await world.publish([event])
  await eventually('settled', () => world.settled([event]))
  t.equal(world.gotBy('/no').length, 1)
  t.equal(world.gotBy('/down').length, 3)
  const rows = await world.rows<{ state: string; context: string }>(
    'SELECT state, context FROM deliveries',
  )
  t.same(
    rows.map(({ state }) => state),
    ['dead', 'dead'],
  )
  const reasons = rows.map(({ context }) => (JSON.parse(context) as { reason: string }).reason)
  t.same(reasons.sort(), ['http_404', 'http_500'])
})

t.test('the schedule ends also while the breaker is open', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/down')
  world.answers.set('/down', 500)
  await world.start({ WEBHOOK_BACKOFF_SCALE_PCT: '0' })
  const event = anEvent(1)
  await world.publish([event])
  await eventually('settled', () => world.settled([event]))
  t.equal(world.got.length, 12)
})
