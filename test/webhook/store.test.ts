/** The store of a webhook pool, the same on SQLite and on PostgreSQL. */
import t, { type Test } from 'tap'
import { instant, plus } from '../../src/base/clock.js'
import type { EndpointId, EventId } from '../../src/base/ids.js'
import type { Delivery, WebhookStore } from '../../actors/webhook/store/store.js'
import type { EventRow } from '../../actors/webhook/store/schema.js'
import { aDelivery, anEndpoint, anEventRow, TENANT } from './builders.js'
import { testStores, type TestStore } from './test_stores.js'

const unreported = async (store: WebhookStore): Promise<EventId[]> =>
  (await store.unreported(10)).map(({ id }) => id)

const NOW = instant(1_790_000_000_000)

const ended = (delivery: Delivery, state: 'delivered' | 'dead'): Delivery => ({
  ...delivery,
  state,
  context: { ...delivery.context, tries: 1, dueAt: null, endedAt: NOW },
})

for (const [name, testStore] of Object.entries(await testStores())) {
  t.test(name, (t) => contract(t, testStore))
}

async function contract(t: Test, newTestStore: (t: Test) => TestStore): Promise<void> {
  const aStore = async (t: Test, testStore = newTestStore(t)): Promise<WebhookStore> => {
    const { store, adminQueries } = await testStore.open()
    t.teardown(async () => {
      await adminQueries.close()
      await store.close()
    })
    return store
  }

  await t.test('a reopened store has every committed row', async (t) => {
    const testStore = newTestStore(t)
    const event = anEventRow({ receivedAt: NOW })
    const endpoint = anEndpoint()
    const delivery = aDelivery(event, endpoint)
    const { store: first, adminQueries } = await testStore.open()
    await first.commit({ events: [event], deliveries: [delivery] })
    const row = { endpointId: endpoint.id, since: NOW, failedAt: plus(NOW, 1) }
    await first.commit({ failing: [row] })
    await adminQueries.close()
    await first.close()

    const store = await aStore(t, testStore)
    t.same(await store.due(endpoint.id, NOW, 10), [delivery])
    t.same(await store.backlog(), [{ endpointId: endpoint.id, dueAt: NOW, deliveries: 1 }])
    t.same(await store.dedupWindow([event.id, 'evt_x' as EventId]), new Set([event.id]))
    t.same(await store.failing(), [row])
    await store.commit({ noLongerFailing: [endpoint.id] })
    t.same(await store.failing(), [])
  })

  await t.test(
    'the last of several changes of one commit says whether an endpoint fails',
    async (t) => {
      const store = await aStore(t)
      const { id: endpointId } = anEndpoint()
      const row = { endpointId, since: NOW, failedAt: NOW }
      const fails = { failing: [row] }
      const again = { failing: [{ ...row, since: plus(NOW, 1) }] }
      const answers = { noLongerFailing: [endpointId] }
      await store.commit(fails)
      await Promise.all([store.commit(answers), store.commit(again)])
      t.same(await store.failing(), again.failing)
      const later = { failing: [{ endpointId, since: plus(NOW, 2), failedAt: plus(NOW, 3) }] }
      await store.commit(later)
      t.same(await store.failing(), later.failing, 'the row is replaced')
      await Promise.all([answers, fails, answers].map((changes) => store.commit(changes)))
      t.same(await store.failing(), [])
    },
  )

  await t.test('an event is settled with its last delivery, and reported once', async (t) => {
    const store = await aStore(t)
    const event = anEventRow()
    const [one, other] = [aDelivery(event, anEndpoint()), aDelivery(event, anEndpoint())]
    await store.commit({ events: [event], deliveries: [one, other] })
    t.same(await unreported(store), [])
    await store.commit({ deliveries: [ended(one, 'delivered')] })
    t.same(await unreported(store), [])
    await store.commit({ deliveries: [ended(other, 'dead')] })
    t.same(await unreported(store), [event.id])
    await store.commit({ reported: [event.id] })
    t.same(await unreported(store), [])
    await store.commit({ seenAgain: [event.id] })
    t.same(await unreported(store), [event.id], 'a repeated event is reported again')
  })

  await t.test('an event without an endpoint is settled at once', async (t) => {
    const store = await aStore(t)
    const event = anEventRow()
    await store.commit({ events: [event] })
    t.same(await unreported(store), [event.id])
  })

  await t.test('due deliveries are returned in order up to the limit', async (t) => {
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
    const inMemory = new Set([deliveries[1]!.id, deliveries[3]!.id])
    const rest = await store.due(endpoint.id, plus(NOW, 40), 2, inMemory)
    t.same(rest, [deliveries[2], deliveries[0]], 'without those that are in memory')
    t.equal(await store.nextDue(endpoint.id, plus(NOW, 30)), NOW + 40)
    t.equal(await store.nextDue(endpoint.id, plus(NOW, 40)), null)
  })

  await t.test(
    'changes of one iteration, and those during a running commit, are batched in order',
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

  await t.test('a delivery that ends before its first commit is written once', async (t) => {
    const testStore = newTestStore(t)
    const store = await aStore(t, testStore)
    const event = anEventRow()
    const [one, other] = [aDelivery(event, anEndpoint()), aDelivery(event, anEndpoint())]
    await Promise.all([
      store.commit({ events: [event], deliveries: [one, other] }),
      store.commit({ deliveries: [ended(one, 'delivered')] }),
    ])
    t.same(await unreported(store), [], 'one commit is open')
    t.same(await store.due(other.endpointId, plus(NOW, 1e12), 10), [other])
    await store.commit({ deliveries: [ended(other, 'dead')] })
    t.same(await unreported(store), [event.id])

    const quick = anEventRow()
    const delivery = aDelivery(quick, anEndpoint())
    await Promise.all([
      store.commit({ events: [quick], deliveries: [delivery] }),
      store.commit({ deliveries: [ended(delivery, 'delivered')] }),
    ])
    t.same(await unreported(store), [event.id, quick.id])
    const reader = await testStore.connect()
    const states = await reader.all('SELECT state FROM deliveries WHERE event_id = ?', [quick.id])
    t.same(states, [{ state: 'delivered' }])
    await reader.close()
  })

  await t.test('an event counts as stored as soon as its commit is requested', async (t) => {
    const store = await aStore(t)
    const [event, later] = [anEventRow(), anEventRow()]
    const stored = store.commit({ events: [event] })
    t.same(await store.dedupWindow([event.id, later.id]), new Set([event.id]))
    await stored
    t.same(await store.dedupWindow([later.id, event.id]), new Set([event.id]))
  })

  await t.test('a failed commit resolves nothing and reports the failure', async (t) => {
    const faults: unknown[] = []
    const { store, adminQueries } = await newTestStore(t).open({
      failed: (fault) => faults.push(fault),
    })
    const delivery = aDelivery(anEventRow(), anEndpoint())
    let resolved = false
    // Its event does not exist: the foreign key rejects the commit.
    void store.commit({ deliveries: [delivery] }).then(() => (resolved = true))
    await adminQueries.close()
    await store.close()
    t.equal(faults.length, 1)
    t.equal(resolved, false)
  })

  await t.test('eventsWithout returns the events that a late endpoint missed', async (t) => {
    const store = await aStore(t)
    const [before, missed, sent] = [-1, 0, 5].map((ms) =>
      anEventRow({ createdAt: plus(NOW, ms), receivedAt: plus(NOW, 10) }),
    )
    const foreign = anEventRow({ tenant: 'other_sandbox' as typeof TENANT, receivedAt: NOW })
    const ofClockAhead = anEventRow({ createdAt: plus(NOW, 12), receivedAt: plus(NOW, 12) })
    const endpoint = anEndpoint()
    await store.commit({
      events: [before!, missed!, sent!, foreign, ofClockAhead],
      deliveries: [aDelivery(sent!, endpoint)],
    })
    const [receivedSince, receivedBy] = [plus(NOW, 10), plus(NOW, 11)]
    const within = { receivedSince, receivedBy, createdSince: NOW }
    const found = await store.eventsWithout(endpoint.id, TENANT, within)
    t.same(
      found.map(({ id }) => id),
      [missed!.id],
    )
  })

  await t.test('only settled, reported and old events are removed', async (t) => {
    const testStore = newTestStore(t)
    const store = await aStore(t, testStore)
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
    const reader = await testStore.connect()
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

  await t.test('the schema rejects impossible rows', async (t) => {
    const testStore = newTestStore(t)
    const store = await aStore(t, testStore)
    const event = anEventRow()
    const delivery = aDelivery(event, anEndpoint())
    await store.commit({ events: [event], deliveries: [delivery] })
    const writer = await testStore.connect()
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

  await t.test('texts that a database cannot hold get a replacement character', async (t) => {
    const { store, adminQueries } = await newTestStore(t).open()
    const event = anEventRow()
    const delivery = aDelivery(event, anEndpoint())
    const attempt = {
      ...{ deliveryId: delivery.id, number: 1, at: NOW, status: 500, reason: 'http_500' },
      ...{ latencyMs: 3, reply: 'a\0b' },
    }
    const poison = {
      ...{ digest: 'd', subject: 'subject\0', headers: { name: 'v\0\ud800' }, payloadBase64: '' },
      reason: 'not an event',
    }
    await Promise.all([
      store.commit({ events: [event], deliveries: [delivery], attempts: [attempt] }),
      store.commit({ poison: [{ ...poison, at: NOW }] }),
      store.commit({ poison: [{ ...poison, at: plus(NOW, 5) }] }),
    ])
    await store.commit({ poison: [{ ...poison, at: plus(NOW, 9) }] })
    t.match(await adminQueries.attempts(delivery.id), [{ number: 1, reply: /^a[\0\ufffd]b$/ }])
    t.match(await adminQueries.poison(9), [
      { digest: 'd', times: 3, firstSeen: NOW, lastSeen: NOW + 9, subject: /^subject/ },
    ])
    await adminQueries.close()
    await store.close()
  })

  await t.test('deliveries are listed and counted', async (t) => {
    const { store, adminQueries: admin } = await newTestStore(t).open()
    const endpoint = anEndpoint()
    const [first, second, third] = [0, 1, 2].map((ms) =>
      anEventRow({ receivedAt: plus(NOW, ms) }),
    ) as [EventRow, EventRow, EventRow]
    const [open, dead, delivered] = [
      aDelivery(first, endpoint),
      ended(aDelivery(second, endpoint), 'dead'),
      ended(aDelivery(third, endpoint), 'delivered'),
    ] as const
    await store.commit({ events: [first, second, third], deliveries: [open, dead, delivered] })
    const last = { eventId: '~', endpointId: '~' }
    const idsOf = (found: readonly { readonly id: string }[]): string[] => found.map(({ id }) => id)
    t.same(idsOf(await admin.ofEndpoint(endpoint.id, '~', false, 2)), [delivered.id, dead.id])
    t.same(idsOf(await admin.ofEndpoint(endpoint.id, '~', true, 9)), [dead.id])
    t.same(idsOf(await admin.dead(last, 9)), [dead.id])
    t.same(idsOf(await admin.dead({ eventId: second.id, endpointId: '' }, 9)), [])
    t.same(idsOf(await admin.failed(endpoint.id, '', 9)), [dead.id])
    t.same(await admin.failedEndpoints(), [endpoint.id])
    t.same(idsOf(await admin.ofEvent(first.id)), [open.id])
    t.match(await admin.delivery(open.id), {
      ...{ eventId: first.id, endpointId: endpoint.id, eventType: first.type, tenant: TENANT },
      context: open.context,
    })
    t.same(await admin.counts(), [{ endpointId: endpoint.id, open: 1, dead: 1 }])
    t.equal(await admin.oldestOpen(), NOW)
    t.equal(await admin.hasEvent(first.id), true)
    t.equal(await admin.hasEvent('evt_none'), false)
    t.equal(await admin.poisonCount(), 0)
    t.same(await store.lastReceived(), { id: third.id, tenant: TENANT })
    t.equal(await store.lastReceived((tenant) => tenant !== TENANT), null)
    await admin.close()
    await store.close()
  })
}
