/** Two pools on the control stream give one combined answer. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { DeliveryRecord__Output as DeliveryRecord } from '../../protos/types/causeway/internal/v1/DeliveryRecord.js'
import { PAGE_BYTES } from '../../src/base/constants.js'
import { instant, plus, type Instant } from '../../src/base/clock.js'
import type { EndpointId } from '../../src/base/ids.js'
import { createCursors } from '../../src/processor/keys/cursors.js'
import { mergePages, type DeliveryPage } from '../../src/processor/queries/delivery_pages.js'
import {
  createQueryRunner,
  type Query,
  type QueryContext,
} from '../../src/processor/queries/query.js'
import { listDeliveries } from '../../src/processor/queries/delivery_list.js'
import { recoverEndpoint } from '../../src/processor/queries/endpoint_recover.js'
import { resendEvent } from '../../src/processor/queries/event_resend.js'
import {
  listDead,
  listPoison,
  redrive,
  webhookStatus,
} from '../../src/processor/queries/webhook_admin.js'
import { missingLines } from '../../src/operations/partners/webhooks.js'
import type { ListedEvent } from '../../src/store/lists.js'
import type { EventRow } from '../../actors/webhook/store/schema.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG } from '../support/logs.js'
import { codeOf, viewOf } from '../support/world.js'
import { anEndpoint, TENANT } from './builders.js'
import { aControlWorld, idsOf, outboxOf, type ControlWorld } from './control_world.js'

interface DeliveryView {
  readonly id: string
  readonly event_id: string
  readonly endpoint_id: string
  readonly status: string
  readonly next_attempt_at: string | null
  readonly attempts: readonly object[]
}
interface ListView {
  readonly data: readonly DeliveryView[]
  readonly next_cursor: string | null
}

const cursors = createCursors([{ kid: 'k1', bytes: Buffer.alloc(32, 7) }])
const outbox = new Map<string, ListedEvent>()
const lists = { event: (_tenant: string, id: string) => Promise.resolve(outbox.get(id)) }
const reading = {
  vault: { cursors },
  brand: 'Service',
  lists: { scheduled: () => lists },
} as unknown as QueryContext
const reader = createQueryRunner(reading, SILENT_LOG)
const query = async <View>(query: Query): Promise<View> => viewOf<View>(await reader.run(query))

const list = (world: ControlWorld, endpoint_id: EndpointId, page: object = {}): Promise<ListView> =>
  query(listDeliveries(world.ctx, TENANT, { endpoint_id, ...page }))

/** All pages, `limit` at a time. */
async function allOf(world: ControlWorld, id: EndpointId, limit: number): Promise<DeliveryView[]> {
  const all: DeliveryView[] = []
  for (let cursor: { cursor?: string } = {}; ;) {
    const { data, next_cursor } = await list(world, id, { limit, ...cursor })
    all.push(...data)
    if (next_cursor === null) return all
    cursor = { cursor: next_cursor }
  }
}

async function twoPools(t: Test) {
  const world = await aControlWorld(t)
  const endpoint = anEndpoint()
  world.setEndpoint(endpoint)
  const pools = [await world.attend(t), await world.attend(t)] as const
  const states = async (): Promise<Record<string, number>> => {
    const [one, other] = await Promise.all(pools.map((pool) => pool.states()))
    const names = [...new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])]
    return Object.fromEntries(names.map((n) => [n, (one?.[n] ?? 0) + (other?.[n] ?? 0)]))
  }
  const until = (state: string, count: number): Promise<unknown> =>
    eventually(`${count} ${state}`, async () => (await states())[state] === count)
  const resend = (event: EventRow, over: object = {}) =>
    query<{ deliveries: readonly DeliveryView[] }>(
      resendEvent(world.ctx, TENANT, { event_id: event.id, ...over }),
    )
  return { world, endpoint, pools, states, until, resend }
}

t.test('deliveries of both pools are one paged list, newest event first', async (t) => {
  const { world, endpoint, pools, until } = await twoPools(t)
  const other = anEndpoint()
  world.setEndpoint(other)
  const events = world.someEvents(11)
  for (const [i, event] of events.entries()) {
    await pools[i % 3 === 0 ? 0 : 1].give([event], [endpoint, other])
  }
  await until('delivered', 22)
  const newestFirst = events.map(({ id }) => id).reverse()
  for (const limit of [1, 3, 50]) {
    t.same(idsOf(await allOf(world, endpoint.id, limit)), newestFirst, `${limit} at a time`)
  }
  const [newest] = (await list(world, endpoint.id)).data
  t.match(newest, {
    event_type: 'payout.completed',
    endpoint_id: endpoint.id,
    status: 'delivered',
    next_attempt_at: null,
    ended_at: /Z$/,
    reason: null,
    attempts: [
      { number: 1, status: 204, reason: 'http_204', latency_ms: 7, reply: 'answered 204' },
    ],
  })
  const { next_cursor } = await list(world, endpoint.id, { limit: 1 })
  const foreign = { endpoint_id: other.id, cursor: next_cursor ?? '' }
  for (const request of [foreign, { endpoint_id: other.id, limit: 0 }]) {
    const refused = await reader.run(listDeliveries(world.ctx, TENANT, request))
    t.equal(codeOf(refused), 'invalid_request')
  }
})

t.test('a page of long replies ends early and has a cursor', async (t) => {
  const { world, endpoint, pools } = await twoPools(t)
  const events = world.someEvents(100)
  const [{ store }] = pools
  await pools[0].give(events, [{ ...endpoint, id: 'we_quiet' as EndpointId }])
  const rows = await pools[0].adminQueries.ofEndpoint('we_quiet', '~', false, 100)
  await store.commit({
    attempts: rows.map(({ id }) => ({
      deliveryId: id,
      ...{ number: 1, at: world.clock.now(), status: 500, reason: 'http_500', latencyMs: 1 },
      reply: 'ส'.repeat(4_096),
    })),
  })
  const first = await list(world, 'we_quiet' as EndpointId, { limit: 100 })
  t.ok(first.data.length < 50 && first.next_cursor !== null, String(first.data.length))
  t.equal((await allOf(world, 'we_quiet' as EndpointId, 100)).length, 100)
})

t.test('a page that is long only as JSON ends early too', async (t) => {
  const { world, endpoint, pools } = await twoPools(t)
  const id = 'we_control' as EndpointId
  for (const [i, { give, store, adminQueries }] of pools.entries()) {
    await give(world.someEvents(30), [{ ...endpoint, id }])
    const rows = await adminQueries.ofEndpoint(id, '~', false, 30)
    await store.commit({
      attempts: rows.map((row) => ({
        deliveryId: row.id,
        ...{ number: 1, at: world.clock.now(), status: 500, reason: `http_50${i}`, latencyMs: 1 },
        reply: '\u0001'.repeat(4_096),
      })),
    })
  }
  const first = await list(world, id, { limit: 100 })
  t.ok(JSON.stringify(first.data).length < PAGE_BYTES + 1_000)
  t.equal(new Set(idsOf(await allOf(world, id, 100))).size, 60)
})

t.test('merged pages skip no row, for any distribution over the pools', async (t) => {
  const delivery = fc.record({ event: fc.integer({ min: 0, max: 12 }), endpoint: fc.nat(2) })
  const rows = fc.uniqueArray(delivery, { selector: ({ event, endpoint }) => event * 3 + endpoint })
  fc.assert(
    fc.property(
      rows,
      fc.infiniteStream(fc.nat(2)),
      fc.integer({ min: 1, max: 5 }),
      (all, to, n) => {
        const records = all.map(({ event, endpoint }): DeliveryRecord => ({
          ...{ id: 'dlv_1', tenant: '', event_type: '', state: 'dead', reason: '', attempts: [] },
          ...{ due_at: '0', ended_at: '0', request_id: '' },
          event_id: `evt_${String(event).padStart(2, '0')}`,
          endpoint_id: `we_${endpoint}`,
        }))
        const key = (row: DeliveryRecord): string => `${row.event_id} ${row.endpoint_id}`
        const sorted = [...records].sort((a, b) => (key(a) > key(b) ? -1 : 1))
        const held: DeliveryRecord[][] = [[], [], []]
        for (const row of sorted) held[to.next().value as number]!.push(row)
        const seen: string[] = []
        let below = '~'
        for (;;) {
          const pages = held.map((mine): DeliveryPage => {
            const rest = mine.filter((row) => key(row) < below)
            const size = Math.min(n, 1 + (to.next().value as number)) // Some pages end early.
            return { deliveries: rest.slice(0, size), more: rest.length > size }
          })
          const { deliveries, more } = mergePages(pages, n)
          seen.push(...deliveries.map(key))
          if (!more) break
          below = seen.at(-1)!
        }
        t.same(seen, sorted.map(key))
      },
    ),
  )
})

t.test('the pool with the event resends it, once while it is pending', async (t) => {
  const { world, endpoint, pools, until, resend } = await twoPools(t)
  const [event] = world.someEvents(1) as [EventRow]
  outbox.set(event.id, outboxOf(event, 1))
  await pools[1].give([event], [endpoint])
  await until('delivered', 1)
  world.replies.set(endpoint.id, 'silence')
  const first = await resend(event)
  t.match(first.deliveries, [{ event_id: event.id, endpoint_id: endpoint.id, status: 'pending' }])
  await eventually('the event is sent again', () => pools[1].sent.length === 2)
  t.same((await resend(event)).deliveries, first.deliveries)
  t.same((await resend(event, { endpoint_id: endpoint.id })).deliveries, first.deliveries)
  t.equal(pools[1].sent.length, 2)
  t.equal(pools[0].sent.length, 0)
  t.equal((await pools[0].adminQueries.ofEvent(event.id)).length, 0)
  t.equal(pools[1].sent[0]?.body, pools[1].sent[1]?.body, 'the same bytes')
})

t.test('an event that no pool has is stored by one pool', async (t) => {
  const { world, endpoint, pools, until, resend } = await twoPools(t)
  const narrow = anEndpoint({ enabledEvents: ['payout.failed'] })
  const foreign = anEndpoint({ tenant: 'acme_sandbox' as typeof TENANT })
  for (const each of [narrow, foreign]) world.setEndpoint(each)
  const [settled, onItsWay, young] = world.someEvents(3) as [EventRow, EventRow, EventRow]
  outbox.set(settled.id, outboxOf(settled, 1))
  for (const event of [onItsWay, young]) outbox.set(event.id, outboxOf(event))

  const { deliveries } = await resend(settled, { endpoint_id: narrow.id })
  t.same(
    deliveries.map((each) => each.endpoint_id),
    [narrow.id],
    'the named endpoint, although it is not subscribed',
  )
  await until('delivered', 1)
  t.same((await resend(settled, { endpoint_id: foreign.id })).deliveries, [])

  const named = await resend(onItsWay, { endpoint_id: narrow.id })
  t.equal(named.deliveries.length, 1)
  await until('delivered', 3)
  const sent = pools.flatMap((pool) => pool.sent).filter(({ eventId }) => eventId === onItsWay.id)
  t.same(
    new Set(sent.map((webhookRequest) => webhookRequest.endpoint.id)),
    new Set([narrow.id, endpoint.id]),
    'the subscribed endpoints too, as the message will be a duplicate',
  )
  t.same(
    (await resend(young)).deliveries.map((each) => each.endpoint_id),
    [endpoint.id],
  )
  t.equal(
    codeOf(await reader.run(resendEvent(world.ctx, TENANT, { event_id: 'evt_0' }))),
    'event_not_found',
  )
})

t.test('both pools retry failed deliveries since an instant', async (t) => {
  const { world, endpoint, pools, until } = await twoPools(t)
  world.replies.set(endpoint.id, 'permanent')
  const before = world.someEvents(4)
  const since = plus(before.at(-1)!.createdAt, 1)
  const after = world.someEvents(6)
  await pools[0].give([...before.slice(0, 2), ...after.slice(0, 3)], [endpoint])
  await pools[1].give([...before.slice(2), ...after.slice(3)], [endpoint])
  await until('dead', 10)

  const recover = (from: Instant, endpoint_id: string = endpoint.id) =>
    query<{ redriven: number; has_more: boolean }>(
      recoverEndpoint(world.ctx, TENANT, { endpoint_id, since: String(from) }),
    )
  world.replies.set(endpoint.id, 'delivered')
  t.match(await recover(since), { redriven: 6, has_more: false })
  await until('delivered', 6)
  t.match(await recover(since), { redriven: 0 }, 'no failed delivery is left')
  t.match(await recover(instant(0), anEndpoint().id), { redriven: 0 })

  const dead = await query<ListView>(listDead(world.ctx, { limit: 3 }))
  t.same(
    idsOf(dead.data),
    before
      .map(({ id }) => id)
      .reverse()
      .slice(0, 3),
  )
  t.match(dead.data[0], { reason: 'http_404', tries: 1, tenant: TENANT, ended_at: /Z$/ })
  const rest = await query<ListView>(listDead(world.ctx, { limit: 3, cursor: dead.next_cursor! }))
  t.same(idsOf(rest.data), [before[0]!.id])
  t.equal(rest.next_cursor, null)
  const ofOne = await query<ListView>(listDead(world.ctx, { endpoint_id: endpoint.id }))
  t.equal(ofOne.data.length, 4)

  const again = (request: object) =>
    reader.run(redrive(world.ctx, { actor: null, since: '0', ...request }))
  t.match(viewOf(await again({ delivery_id: dead.data[0]!.id })), { redriven: 1, more: false })
  await until('delivered', 7)
  t.match(
    viewOf(await again({ delivery_id: dead.data[0]!.id })),
    { redriven: 1 },
    'delivered events too',
  )
  t.equal(codeOf(await again({ delivery_id: 'dlv_0' })), 'not_found')
  t.match(viewOf(await again({})), { redriven: 3 }, 'of every endpoint')
  await until('delivered', 10)
})

t.test('waiting deliveries are retried at once and the breaker closes', async (t) => {
  const { world, endpoint, pools, until } = await twoPools(t)
  world.replies.set(endpoint.id, 'retry')
  await pools[0].give(world.someEvents(15), [endpoint])
  await eventually('not redriven', () => pools[0].pool.state().openBreakers === 1)
  await until('waiting', 10)
  const status = await query<{ open: number; open_breakers: string[] }>(webhookStatus(world.ctx))
  t.match(status, { pools: 2, open: 15, dead: 0, poison: 0, open_breakers: [endpoint.id] })
  world.replies.set(endpoint.id, 'delivered')
  const { redriven } = await query<{ redriven: number }>(
    recoverEndpoint(world.ctx, TENANT, { endpoint_id: endpoint.id, since: '0' }),
  )
  t.equal(redriven, 10, 'the attempted ones')
  await until('delivered', 15)
  t.equal(pools[0].pool.state().openBreakers, 0)
  t.same(pools[0].pool.failing(), [])
})

t.test('a delivery in flight is not redriven', async (t) => {
  const { world, endpoint, pools, until } = await twoPools(t)
  world.replies.set(endpoint.id, 'retry')
  await pools[0].give(world.someEvents(1), [endpoint])
  await until('waiting', 1)
  world.replies.set(endpoint.id, 'silence')
  world.clock.advance(7_000)
  await eventually('its second attempt is in flight', () => pools[0].sent.length === 2)
  const since = { endpoint_id: endpoint.id, since: '0' }
  t.match(await query(recoverEndpoint(world.ctx, TENANT, since)), { redriven: 0 })
  const [{ id }] = (await list(world, endpoint.id)).data as [DeliveryView]
  const one = await query(redrive(world.ctx, { actor: null, since: '0', delivery_id: id }))
  t.match(one, { redriven: 0 })
  t.equal(pools[0].sent.length, 2)
})

t.test(
  'a resend to a deleted endpoint sends nothing, and one to a disabled endpoint waits',
  async (t) => {
    const { world, endpoint, pools, until, resend } = await twoPools(t)
    const [event] = world.someEvents(1) as [EventRow]
    outbox.set(event.id, outboxOf(event, 1))
    await pools[0].give([event], [endpoint])
    await until('delivered', 1)
    world.setEndpoint({ ...endpoint, status: 'disabled' })
    await resend(event)
    await until('pending', 1)
    world.setEndpoint({ ...endpoint, status: 'enabled' })
    await eventually('sent twice', () => pools[0].sent.length === 2)
    await until('delivered', 1)
    world.setEndpoint({ ...endpoint, status: 'deleted' })
    t.match((await resend(event)).deliveries, [{ status: 'delivered' }])
    t.equal(pools[0].sent.length, 2)
  },
)

t.test('a redrive is safe during attempts, loads and results', async (t) => {
  const { world, endpoint, pools, until } = await twoPools(t)
  world.replies.set(endpoint.id, 'retry')
  await pools[0].give(world.someEvents(200), [endpoint])
  const recover = () =>
    query<object>(recoverEndpoint(world.ctx, TENANT, { endpoint_id: endpoint.id, since: '0' }))
  for (let round = 0; round < 10; round++) {
    await Promise.all([recover(), recover()])
    world.clock.advance(5_000)
  }
  world.replies.set(endpoint.id, 'delivered')
  await eventually('all events are delivered', async () => {
    await recover()
    return (await pools[0].states())['delivered'] === 200
  })
  await until('delivered', 200)
})

t.test('an event resent while its message arrives is stored once', async (t) => {
  const { world, endpoint, pools, until, resend } = await twoPools(t)
  await pools[1].leave()
  await eventually('one delivery is open', () => world.ctx.connectedPools === 1)
  const events = world.someEvents(8)
  for (const event of events) outbox.set(event.id, outboxOf(event))
  const { eventConsumer, store } = pools[0]
  await Promise.all(
    events.flatMap((event) => [
      resend(event),
      eventConsumer.inOrder(async () => {
        const known = await store.dedupWindow([event.id])
        if (known.size === 0) await store.commit({ events: [event] })
      }),
    ]),
  )
  await until('delivered', 8)
  t.equal((await allOf(world, endpoint.id, 50)).length, 8)
})

t.test('poison messages of both pools are listed, last seen first', async (t) => {
  const { world, pools } = await twoPools(t)
  const poison = (digest: string, at: number) => ({
    ...{ digest, subject: 'causeway.events.x', headers: {}, payloadBase64: 'e30=' },
    ...{ reason: 'event id missing or malformed', at: instant(at) },
  })
  await pools[0].store.commit({ poison: [poison('a', 1), poison('b', 3)] })
  await pools[1].store.commit({ poison: [poison('c', 2)] })
  const { data } = await query<{ data: { digest: string }[] }>(listPoison(world.ctx, {}))
  t.same(
    data.map(({ digest }) => digest),
    ['b', 'c', 'a'],
  )
  t.match(data[0], { subject: 'causeway.events.x', times: 1, payload_base64: 'e30=' })
  t.match(await query(webhookStatus(world.ctx)), { poison: 3 })
})

t.test('a pool that is not connected is named to operators; partners get 503', async (t) => {
  const world = await aControlWorld(t)
  const endpoint = anEndpoint()
  world.setEndpoint(endpoint)
  const pools = [await world.attend(t, 1), await world.attend(t, 2)] as const
  await eventually('both have reported', () => world.ctx.missingPools.length === 0)
  const events = world.someEvents(2)
  world.replies.set(endpoint.id, 'permanent')
  for (const [i, event] of events.entries()) await pools[i]?.give([event], [endpoint])
  const dead = () => query<ListView>(listDead(world.ctx, {}))
  await eventually('both are dead', async () => (await dead()).data.length === 2)
  t.match(await dead(), { missing_pools: [] })
  const id = (await pools[0].adminQueries.ofEvent(events[0]!.id))[0]!.id

  await pools[0].leave()
  await eventually('the first has left', () => world.ctx.missingPools.length === 1)
  const partial = await dead()
  t.same(idsOf(partial.data), [events[1]?.id])
  t.match(partial, { missing_pools: [1] })
  t.same(missingLines({ missing_pools: [1] }), [
    'Webhook pools not connected: 1. What they have is missing here.',
  ])
  t.match(await query(webhookStatus(world.ctx)), { pools: 1, dead: 1, missing_pools: [1] })
  t.match(await query(listPoison(world.ctx, {})), { missing_pools: [1] })
  const request = { actor: null, since: '0' }
  t.match(await query(redrive(world.ctx, request)), { redriven: 1, missing_pools: [1] })
  const refused: Query[] = [
    redrive(world.ctx, { ...request, delivery_id: id }),
    listDeliveries(world.ctx, TENANT, { endpoint_id: endpoint.id }),
    recoverEndpoint(world.ctx, TENANT, { endpoint_id: endpoint.id, since: '0' }),
  ]
  for (const each of refused) t.equal(codeOf(await reader.run(each)), 'configuration_error')
})
