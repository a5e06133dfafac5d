import { join } from 'node:path'
import t, { type Test } from 'tap'
import { instant, plus } from '../../src/base/clock.js'
import type { EndpointId, EventId } from '../../src/base/ids.js'
import { openDatabase } from '../../src/store/database.js'
import {
  openWebhookStore,
  type Delivery,
  type WebhookStore,
} from '../../actors/webhook/store/store.js'
import { aDelivery, anEndpoint, anEventRow, TENANT } from './builders.js'
import { tempFolder } from '../support/temp_folder.js'

const NOW = instant(1_790_000_000_000)

const stop = (fault: unknown): void => {
  throw fault
}

async function aStore(t: Test, folder = tempFolder(t)): Promise<WebhookStore> {
  const store = await openWebhookStore(join(folder, 'webhooks.db'), stop)
  t.teardown(() => store.close())
  return store
}

const ended = (delivery: Delivery, state: 'delivered' | 'dead'): Delivery => ({
  ...delivery,
  state,
  context: { ...delivery.context, tries: 1, dueAt: null, endedAt: NOW },
})

void t.test('a reopened store has every committed row', async (t) => {
  const folder = tempFolder(t)
  const event = anEventRow({ receivedAt: NOW })
  const endpoint = anEndpoint()
  const delivery = aDelivery(event, endpoint)
  const first = await openWebhookStore(join(folder, 'webhooks.db'), stop)
  await first.commit({ events: [event], deliveries: [delivery] })
  await first.commit({ failing: [{ endpointId: endpoint.id, since: NOW }] })
  await first.close()

  const store = await aStore(t, folder)
  t.same(await store.due(endpoint.id, NOW, 10), [delivery])
  t.same(await store.backlog(), [{ endpointId: endpoint.id, dueAt: NOW }])
  t.same(await store.dedupWindow([event.id, 'evt_x' as EventId]), new Set([event.id]))
  t.same(await store.failingSince(), new Map([[endpoint.id, NOW]]))
  await store.commit({ recovered: [endpoint.id] })
  t.equal((await store.failingSince()).size, 0)
})

void t.test('an event is settled with its last delivery, and reported once', async (t) => {
  const store = await aStore(t)
  const event = anEventRow()
  const [one, other] = [aDelivery(event, anEndpoint()), aDelivery(event, anEndpoint())]
  await store.commit({ events: [event], deliveries: [one, other] })
  t.same(await store.unreported(10), [])
  await store.commit({ deliveries: [ended(one, 'delivered')] })
  t.same(await store.unreported(10), [])
  await store.commit({ deliveries: [ended(other, 'dead')] })
  t.same(await store.unreported(10), [event.id])
  await store.commit({ reported: [event.id] })
  t.same(await store.unreported(10), [])
  await store.commit({ seenAgain: [event.id] })
  t.same(await store.unreported(10), [event.id], 'who sends it again does not know')
})

void t.test('an event without an endpoint is settled at once', async (t) => {
  const store = await aStore(t)
  const event = anEventRow()
  await store.commit({ events: [event] })
  t.same(await store.unreported(10), [event.id])
})

void t.test('due deliveries are returned in order up to the limit', async (t) => {
  const store = await aStore(t)
  const endpoint = anEndpoint()
  const events = [30, 10, 20, 40].map((ms) => anEventRow({ receivedAt: plus(NOW, ms) }))
  const deliveries = events.map((event) => aDelivery(event, endpoint))
  const foreign = aDelivery(events[0]!, anEndpoint())
  await store.commit({ events, deliveries: [...deliveries, foreign] })
  const dueTimes = async (until: number, limit: number) =>
    (await store.due(endpoint.id, plus(NOW, until), limit)).map(
      ({ context }) => (context.dueAt ?? 0) - NOW,
    )
  t.same(await dueTimes(30, 10), [10, 20, 30])
  t.same(await dueTimes(30, 2), [10, 20])
  t.same(await dueTimes(9, 2), [])
  t.equal(await store.nextDue(endpoint.id, plus(NOW, 30)), NOW + 40)
  t.equal(await store.nextDue(endpoint.id, plus(NOW, 40)), null)
})

void t.test(
  'changes of one iteration, and those behind a running commit, are batched in order',
  async (t) => {
    const store = await aStore(t)
    const event = anEventRow()
    const delivery = aDelivery(event, anEndpoint())
    await Promise.all([
      store.commit({ events: [event], deliveries: [delivery] }),
      store.commit({ deliveries: [ended(delivery, 'dead')] }),
    ])
    t.same(await store.due(delivery.endpointId, plus(NOW, 1e12), 10), [])
  },
)

void t.test('a delivery that ends before its first commit is written once', async (t) => {
  const folder = tempFolder(t)
  const store = await aStore(t, folder)
  const event = anEventRow()
  const [one, other] = [aDelivery(event, anEndpoint()), aDelivery(event, anEndpoint())]
  await Promise.all([
    store.commit({ events: [event], deliveries: [one, other] }),
    store.commit({ deliveries: [ended(one, 'delivered')] }),
  ])
  t.same(await store.unreported(10), [], 'one is open')
  t.same(await store.due(other.endpointId, plus(NOW, 1e12), 10), [other])
  await store.commit({ deliveries: [ended(other, 'dead')] })
  t.same(await store.unreported(10), [event.id])

  const quick = anEventRow()
  const delivery = aDelivery(quick, anEndpoint())
  await Promise.all([
    store.commit({ events: [quick], deliveries: [delivery] }),
    store.commit({ deliveries: [ended(delivery, 'delivered')] }),
  ])
  t.same(await store.unreported(10), [event.id, quick.id])
  const reader = await openDatabase(join(folder, 'webhooks.db'), { readOnly: true })
  const states = await reader.all('SELECT state FROM deliveries WHERE event_id = ?', [quick.id])
  t.same(states, [{ state: 'delivered' }])
  await reader.close()
})

void t.test('an event is known as soon as its commit is requested', async (t) => {
  const store = await aStore(t)
  const [event, later] = [anEventRow(), anEventRow()]
  const stored = store.commit({ events: [event] })
  t.same(await store.dedupWindow([event.id, later.id]), new Set([event.id]))
  await stored
  t.same(await store.dedupWindow([later.id, event.id]), new Set([event.id]))
})

void t.test('a failed commit resolves nothing and reports the failure', async (t) => {
  const faults: unknown[] = []
  const store = await openWebhookStore(join(tempFolder(t), 'webhooks.db'), (fault) =>
    faults.push(fault),
  )
  const delivery = aDelivery(anEventRow(), anEndpoint())
  let resolved = false
  // Its event does not exist: the foreign key rejects the commit.
  void store.commit({ deliveries: [delivery] }).then(() => (resolved = true))
  await store.close()
  t.equal(faults.length, 1)
  t.equal(resolved, false)
})

void t.test('eventsWithout returns the events that a late endpoint missed', async (t) => {
  const store = await aStore(t)
  const [before, missed, sent] = [-1, 0, 5].map((ms) =>
    anEventRow({ createdAt: plus(NOW, ms), receivedAt: plus(NOW, 10) }),
  )
  const foreign = anEventRow({ tenant: 'other_sandbox' as typeof TENANT, receivedAt: NOW })
  const endpoint = anEndpoint()
  await store.commit({
    events: [before!, missed!, sent!, foreign],
    deliveries: [aDelivery(sent!, endpoint)],
  })
  const since = { received: plus(NOW, 10), created: NOW }
  const found = await store.eventsWithout(endpoint.id, TENANT, since)
  t.same(
    found.map(({ id }) => id),
    [missed!.id],
  )
})

void t.test('only settled, reported and old events are removed', async (t) => {
  const folder = tempFolder(t)
  const store = await aStore(t, folder)
  const old = { receivedAt: NOW }
  const [done, dead, open, unreported] = [1, 2, 3, 4].map(() => anEventRow(old))
  const young = anEventRow({ receivedAt: plus(NOW, 1_000) })
  const endpoint = anEndpoint()
  const doneDelivery = ended(aDelivery(done!, endpoint), 'delivered')
  await store.commit({
    events: [done!, dead!, open!, unreported!, young],
    deliveries: [
      doneDelivery,
      ended(aDelivery(dead!, endpoint), 'dead'),
      aDelivery(open!, endpoint),
    ],
    attempts: [
      {
        deliveryId: doneDelivery.id,
        number: 1,
        at: NOW,
        status: 200,
        reason: 'http_200',
        latencyMs: 3,
        reply: '',
      },
    ],
    reported: [done!.id, dead!.id, open!.id, young.id],
  })
  const reader = await openDatabase(join(folder, 'webhooks.db'), { readOnly: true })
  const left = async () => {
    const rows = await reader.all<{ id: EventId }>('SELECT id FROM events ORDER BY id')
    return rows.map(({ id }) => id)
  }
  const oldest = { receivedAt: instant(0), position: 0 }
  const first = await store.removeSettled({ delivered: plus(NOW, 500), dead: NOW }, oldest)
  t.equal(first.isEnd, true)
  t.same(await left(), [dead!.id, open!.id, unreported!.id, young.id].sort())
  const before = { delivered: plus(NOW, 500), dead: plus(NOW, 500) }
  t.same(await store.removeSettled(before, first.upTo), { isEnd: true, upTo: first.upTo })
  t.ok((await left()).includes(dead!.id), 'events before the position are not scanned')
  t.equal((await store.removeSettled(before, oldest)).isEnd, true)
  t.same(await left(), [open!.id, unreported!.id, young.id].sort())
  t.same(await reader.all('SELECT * FROM attempts'), [], 'with its deliveries and attempts')
  t.equal((await reader.all('SELECT * FROM deliveries')).length, 1)
  await reader.close()
})

void t.test('the schema rejects impossible rows', async (t) => {
  const folder = tempFolder(t)
  const store = await aStore(t, folder)
  const event = anEventRow()
  const delivery = aDelivery(event, anEndpoint())
  await store.commit({ events: [event], deliveries: [delivery] })
  const writer = await openDatabase(join(folder, 'webhooks.db'))
  t.teardown(() => writer.close())
  const endpointId = 'we_2' as EndpointId
  const insert = `INSERT INTO deliveries (id, event_id, endpoint_id, state, due_at, context)
    VALUES (?, ?, ?, ?, ?, '{}')`
  await t.rejects(writer.run(insert, ['dlv_2', event.id, delivery.endpointId, 'pending', 1]))
  await t.rejects(writer.run(insert, ['dlv_2', event.id, endpointId, 'delivering', 1]))
  await t.rejects(writer.run(insert, ['dlv_2', event.id, endpointId, 'pending', null]))
  await t.rejects(writer.run(insert, ['dlv_2', event.id, endpointId, 'dead', 1]))
  await t.rejects(writer.run(insert, ['dlv_2', 'evt_none', endpointId, 'pending', 1]))
  await writer.run(insert, ['dlv_2', event.id, endpointId, 'pending', 1])
})
