/** Two pools, each with its own database, on one durable consumer. */
import t, { type Test } from 'tap'
import { HOUR } from '../../src/base/clock.js'
import { EVENT_STREAM, WEBHOOK_CONSUMER } from '../../src/base/subjects.js'
import { someEvents } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { aFastRelay } from './fast_relay.js'
import { aPoolWorld, distinct } from './pool_process.js'

const EVENTS = 'SELECT id FROM events'
const OPEN = 'SELECT id FROM events WHERE open > 0'

t.test('two pools share the events and deliver each once to each endpoint', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/one')
  world.endpoint('/two')
  await Promise.all([world.start({}, 1), world.start({}, 2)])
  const events = someEvents(600)
  for (let from = 0; from < 600; from += 50) await world.publish(events.slice(from, from + 50))
  await eventually('all events are settled', () => world.settled(events), 30_000)
  for (const path of ['/one', '/two']) {
    t.equal(world.gotBy(path).length, 600, 'once each')
    t.equal(distinct(world.gotBy(path)), 600)
  }
  const [first, second] = [await world.rows(EVENTS, [], 1), await world.rows(EVENTS, [], 2)]
  t.equal(first.length + second.length, 600, 'each event is in one of the databases')
  t.ok(first.length > 0 && second.length > 0, 'both databases have events')
  t.equal(await world.stop(1), 0)
  t.equal(await world.stop(2), 0)
})

t.test('the other pool delivers the open events of a killed one', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/hook')
  world.answers.set('/hook', 503)
  await Promise.all([world.start({}, 1), world.start({}, 2)])
  const { publish, published: events } = aFastRelay(t, world)
  publish(200)
  const lost = await eventually('both pools hold events', async () => {
    const [first, second] = [await world.rows(OPEN, [], 1), await world.rows(OPEN, [], 2)]
    return first.length > 0 && first.length + second.length >= 200 && first.length
  })
  t.ok(lost > 0)
  await world.kill(1)
  world.answers.delete('/hook')
  await eventually('all events are settled', () => world.settled(events), 60_000)
  t.equal(distinct(world.got.filter(({ status }) => status === 200)), 200)
})

/** 100 events for two endpoints, one of which fails. */
async function eventsInTwoPools(t: Test) {
  // However long a start takes, no pool takes what another one has.
  const world = await aPoolWorld(t, {}, { awaitPoolMs: HOUR })
  world.endpoint('/healthy')
  world.endpoint('/failing')
  world.answers.set('/failing', 503)
  await Promise.all([world.start({}, 1), world.start({}, 2)])
  await world.processor.poolsAre(2)
  const { publish, published: events } = aFastRelay(t, world)
  publish(100)
  return { world, events }
}

t.test('an endpoint that fails causes no second delivery to another one', async (t) => {
  const { world } = await eventsInTwoPools(t)
  await eventually('the healthy endpoint has all', () => {
    return distinct(world.gotBy('/healthy')) === 100
  })
  const rows = async (sql: string) => [await world.rows(sql, [], 1), await world.rows(sql, [], 2)]
  const rounds = async (): Promise<number> => {
    const manager = await world.jetstream()
    return (await manager.streams.info(EVENT_STREAM)).state.messages
  }
  const before = await rounds()
  await eventually('every open event is published again', async () => {
    return (await rounds()) >= before + 200
  })
  await eventually('nothing waits in the stream', async () => {
    const manager = await world.jetstream()
    const info = await manager.consumers.info(EVENT_STREAM, WEBHOOK_CONSUMER)
    return info.num_pending + info.num_ack_pending === 0
  })
  const [first = [], second = []] = await rows(EVENTS)
  t.equal(first.length + second.length, 100, 'each event is in one of the databases')
  t.equal(world.gotBy('/healthy').length, 100, 'once each')
})

t.test('a pool that was killed keeps its events', async (t) => {
  const { world, events } = await eventsInTwoPools(t)
  await eventually('both have stored theirs', async () => {
    const both = [await world.rows(EVENTS, [], 1), await world.rows(EVENTS, [], 2)]
    return both.every((rows) => rows.length > 0) && both.flat().length === 100
  })
  await eventually('the healthy endpoint has all', () => {
    return distinct(world.gotBy('/healthy')) === 100
  })
  await world.kill(1)
  await world.start({}, 1)
  world.answers.delete('/failing')
  await eventually('all events are settled', () => world.settled(events), 60_000)
  const [first, second] = [await world.rows(EVENTS, [], 1), await world.rows(EVENTS, [], 2)]
  t.equal(first.length + second.length, 100, 'each event is in one of the databases')
})
