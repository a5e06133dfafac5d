/** A filter that changes while events are on their way. */
import t from 'tap'
import type { EventRow } from '../../actors/webhook/rows.js'
import { eventually } from '../support/eventually.js'
import { anEndpoint } from './builders.js'
import { aDeskWorld } from './desk_world.js'

void t.test('what was asked for a moment before it was known is delivered still', async (t) => {
  const world = await aDeskWorld(t)
  const endpoint = anEndpoint({ enabledEvents: ['payout.failed'] })
  world.tell(endpoint)
  const { intake, store, views, sent } = await world.attend(t)
  const [before, after] = world.someEvents(2) as [EventRow, EventRow]
  await store.commit({ events: [before, after] })
  const changed = {
    ...endpoint,
    enabledEvents: ['*'],
    enabledEventsSince: after.createdAt,
  }
  world.tell(changed)
  intake.meet(changed)
  await eventually('it is sent', () => sent.length === 1)
  t.equal(sent[0]?.eventId, after.id)
  t.same(await views.ofEvent(before.id), [], 'the other filter stood when it was made')

  const [later] = world.someEvents(1) as [EventRow]
  await store.commit({ events: [later] })
  world.clock.advance(60_001)
  intake.meet(changed)
  await intake.idle()
  t.equal(sent.length, 1, 'a filter that stands for long has missed nothing')
})
