/** A pool process that is stopped, killed and restarted. */
import t from 'tap'
import { someEvents } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { aPoolWorld, distinct } from './pool_process.js'

t.test('a restarted pool resumes its deliveries', async (t) => {
  const world = await aPoolWorld(t)
  const late = world.endpoint('/late')
  world.endpoint('/now')
  world.answers.set('/late', 503)
  await world.start()
  const events = someEvents(40)
  await world.publish(events)
  await eventually('one endpoint has all events', () => distinct(world.gotBy('/now')) === 40)
  await eventually('its results are on disk', async () => {
    const [row] = await world.rows<{ n: number }>(
      "SELECT count(*) AS n FROM deliveries WHERE state = 'delivered'",
    )
    return row?.n === 40
  })
  await world.kill()
  const before = world.gotBy('/now').length
  world.answers.delete('/late')
  await world.start()
  await eventually('all events are settled', () => world.settled(events))
  t.equal(distinct(world.gotBy('/late')), 40)
  t.equal(world.gotBy('/now').length, before, 'delivered events are not sent again')
  const [row] = await world.rows<{ n: number }>(
    "SELECT count(*) AS n FROM deliveries WHERE endpoint_id = ? AND state = 'delivered'",
    [late.id],
  )
  t.equal(row?.n, 40)
})

t.test('kill -9 during deliveries loses no event', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/hook')
  await world.start()
  const events = someEvents(600)
  for (let from = 0; from < 600; from += 200) {
    await world.publish(events.slice(from, from + 200))
    const some = world.got.length
    await eventually('the first events arrive', () => world.got.length > some)
    await world.kill()
    await world.start()
  }
  await eventually('all events are settled', () => world.settled(events), 60_000)
  t.equal(distinct(world.got), 600)
  t.ok(world.got.every(({ signed }) => signed))
})

t.test('a clean stop commits every attempt', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/hook')
  await world.start()
  const events = someEvents(200)
  await world.publish(events)
  await eventually('the first events arrive', () => world.got.length > 10)
  t.equal(await world.stop(), 0)
  const [row] = await world.rows<{ n: number }>(
    "SELECT count(*) AS n FROM deliveries WHERE state = 'delivered'",
  )
  t.equal(row?.n, world.got.length, 'every attempt is stored')
  await world.start()
  await eventually('all events are settled', () => world.settled(events), 45_000)
  t.equal(world.got.length, 200, 'once each')
})

t.test('outcomes survive an unreachable processor and a restart', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/hook')
  await world.start()
  world.processor.refuse(true)
  const events = someEvents(20)
  await world.publish(events)
  await eventually('delivered', () => distinct(world.got) === 20)
  t.equal(world.processor.outcomes.size, 0)
  t.equal(await world.stop(), 0)
  world.processor.refuse(false)
  await world.start()
  await eventually('settled', () => world.settled(events))
})
