/** A subscription that changes while events are in flight. */
import t from 'tap'
import type { EventRow } from '../../actors/webhook/store/schema.js'
import { eventually } from '../support/eventually.js'
import { anEndpoint } from './builders.js'
import { aControlWorld } from './control_world.js'

t.test(
  'an event published shortly before its subscription arrives at the pool is delivered',
  async (t) => {
    const world = await aControlWorld(t)
    const endpoint = anEndpoint({ enabledEvents: ['payout.failed'] })
    world.setEndpoint(endpoint)
    const { eventConsumer, store, adminQueries, sent } = await world.attend(t)
    const [before, after] = world.someEvents(2) as [EventRow, EventRow]
    await store.commit({ events: [before, after] })
    const changed = {
      ...endpoint,
      enabledEvents: ['*'],
      enabledEventsSince: after.createdAt,
    }
    world.setEndpoint(changed)
    eventConsumer.applyEndpoint(changed)
    await eventually('the event is sent', () => sent.length === 1)
    t.equal(sent[0]?.eventId, after.id)
    t.same(await adminQueries.ofEvent(before.id), [], 'the other filter applied at its creation')

    const [later] = world.someEvents(1) as [EventRow]
    await store.commit({ events: [later] })
    world.clock.advance(60_001)
    eventConsumer.applyEndpoint(changed)
    await eventConsumer.idle()
    t.equal(sent.length, 1, 'an event from before an old subscription is not delivered')
  },
)
