/** The numbers of dead deliveries that a pool reports, on both stores. */
import t from 'tap'
import { createDeadDeliveryReporter } from '../../actors/webhook/intake/dead_delivery_reporter.js'
import type { DeadDeliveries } from '../../protos/types/causeway/internal/v1/DeadDeliveries.js'
import { instant, systemClock } from '../../src/base/clock.js'
import type { EndpointId } from '../../src/base/ids.js'
import type { EventRow } from '../../actors/webhook/store/schema.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { failed } from '../support/webhook_store.js'
import { aDelivery, anEndpoint, anEventRow } from './builders.js'
import { aProcessor, UNREACHABLE } from './outcomes_stub.js'
import { testStores } from './test_stores.js'

/** A delivery that died at its first attempt, with that attempt. */
function died(event: EventRow, endpoint: { id: EndpointId }, at: number) {
  const delivery = aDelivery(event, endpoint)
  const context = { ...delivery.context, dueAt: null, endedAt: instant(at), reason: 'http_400' }
  const attempt = { number: 1, at: instant(at), status: 400, reason: 'http_400' }
  return {
    deliveries: [{ ...delivery, state: 'dead' as const, context }],
    attempts: [{ ...attempt, deliveryId: delivery.id, latencyMs: 5, reply: '' }],
  }
}

for (const [name, newTestStore] of Object.entries(await testStores())) {
  t.test(`in ${name}, a pool reports the dead deliveries of each endpoint`, async (t) => {
    const { store, adminQueries } = await newTestStore(t).open()
    const [one, two] = [aProcessor<DeadDeliveries>(), aProcessor<DeadDeliveries>()]
    const [first, second, deleted] = [anEndpoint(), anEndpoint(), anEndpoint()]
    const clientOf = new Map([
      [first.id, one.client],
      [second.id, two.client],
    ])
    const connected = [one.client, two.client]
    const reporter = createDeadDeliveryReporter({
      ...{ pool: 2, token: '', adminQueries, clock: systemClock, elapsed: () => 0, failed, log },
      clients: () => connected,
      clientOfEndpoint: (id) => clientOf.get(id),
    })
    t.teardown(async () => {
      await reporter.stop()
      await adminQueries.close()
      await store.close()
    })
    const paid = [anEventRow(), anEventRow()]
    const about = anEventRow({ type: 'webhook_endpoint.disabled' })
    await store.commit({ events: [...paid, about] })
    await store.commit(died(paid[0]!, first, 1_000))
    await store.commit(died(paid[1]!, first, 3_000))
    await store.commit(died(about, first, 2_000))
    await store.commit(died(about, second, 4_000))
    await store.commit(died(paid[0]!, deleted, 5_000))
    reporter.schedule()
    await eventually('both have a report', () => one.taken.length + two.taken.length === 2)
    const ids = paid.map(({ id }) => id).sort()
    const alerting = { count: 2, newest_at: 3_000, newest_event_id: ids[1] }
    t.same(one.taken, [
      { pool: 2, endpoints: [{ endpoint_id: first.id, count: 3, newest_at: 3_000, alerting }] },
    ])
    t.same(
      two.taken,
      [{ pool: 2, endpoints: [{ endpoint_id: second.id, count: 1, newest_at: 4_000 }] }],
      'events about endpoints alert nobody',
    )

    two.fails(UNREACHABLE)
    const redriven = (await adminQueries.ofEvent(about.id)).map((row) =>
      aDelivery(about, { id: row.endpointId }),
    )
    await store.commit({ deliveries: redriven })
    reporter.schedule()
    await eventually('one has a second report', () => one.taken.length >= 2)
    t.match(one.taken[1], { endpoints: [{ count: 2 }] }, 'a redrive lowers the number')
    two.fails(null)
    await eventually('the other has it, once it answers', () => two.taken.length === 2)
    t.same(two.taken[1], { pool: 2, endpoints: [] }, 'none left')
  })
}
