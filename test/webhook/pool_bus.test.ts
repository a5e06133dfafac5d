/** A pool process while the bus is killed and wiped. */
import t from 'tap'
import { EVENT_STREAM } from '../../src/base/subjects.js'
import { anEvent, createOutbox, relayOf, someEvents } from '../bus/bus_events.js'
import { eventually } from '../support/eventually.js'
import { aPoolWorld, distinct } from './pool_process.js'

t.test('the relay republishes events that were in a wiped stream', async (t) => {
  const world = await aPoolWorld(t)
  const outbox = createOutbox()
  const relay = relayOf(t, world.bus, outbox)
  world.endpoint('/hook')
  const events = someEvents(100)
  outbox.commit(events)
  relay.push(events)
  await eventually('published', () => !relay.backlog().catchingUp && world.bus.status() === 'up')
  await world.nats.kill()
  world.nats.wipe()
  await world.nats.start()
  await world.start()
  await eventually('all events are settled', () => world.settled(events))
  t.equal(distinct(world.got), 100)
})

t.test('the pool uses the stream of its installation, as its processor names it', async (t) => {
  const world = await aPoolWorld(t, {}, { installation: 'one' })
  await world.start()
  const { streams } = await world.jetstream()
  const { config } = await streams.info(EVENT_STREAM)
  t.equal(config.description, 'Events of the Causeway installation one')
})

t.test('the pool survives kill -9 and a wipe of the bus', async (t) => {
  const world = await aPoolWorld(t)
  world.endpoint('/hook')
  await world.start()
  await world.publish([anEvent(1)])
  await eventually('delivered', () => world.got.length === 1)
  await world.nats.kill()
  world.nats.wipe()
  await world.nats.start()
  const event = anEvent(2)
  await eventually('published', async () =>
    world.bus.publisher.capacity() > 0 ? world.bus.publisher.publish(event, event.id) : false,
  )
  await eventually('delivered', () => world.got.length === 2)
})
