/** Deliveries: what `find` shows of them, dead ones in the account, and their announcement. */
import t from 'tap'
import { accepted, refused } from '../../src/base/errors.js'
import { find } from '../../src/processor/queries/find.js'
import { HOUR, instant, toRfc3339 } from '../../src/base/clock.js'
import type { EndpointId, EventId } from '../../src/base/ids.js'
import { getAccount } from '../../src/processor/commands/partners/account_get.js'
import { recordDeadDeliveries } from '../../src/processor/commands/webhook_endpoints/dead_deliveries_record.js'
import {
  LEFT_WITHIN_MS,
  poolReport,
} from '../../src/processor/commands/webhook_endpoints/pool_report.js'
import { createWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_create.js'
import { deleteWebhookEndpoint } from '../../src/processor/commands/webhook_endpoints/webhook_endpoint_delete.js'
import { createWorld, viewOf, type World, DEMO } from '../support/world.js'
import { eventually } from '../support/eventually.js'
import { pay, read } from './scenarios.js'

const ENDPOINTS = ['we_1', 'we_2']
const REFERENCE = 'invoice 2291'

interface Found {
  readonly data: readonly {
    readonly events: readonly { readonly deliveries: readonly { readonly id: string }[] }[]
  }[]
  readonly deliveries_unknown: boolean
}

/** A pool that answers with at most `rowsMax` deliveries, and once with none after `answers`. */
function aPool(rowsMax: number, answers = Number.POSITIVE_INFINITY) {
  let requests = 0
  const requestAll = async (_subject: string, { event_ids }: { event_ids?: string[] }) => {
    if (event_ids === undefined) return accepted([])
    requests += 1
    if (requests > answers) return refused('timeout')
    const rows = event_ids.flatMap((event_id) =>
      ENDPOINTS.map((endpoint_id) => ({
        ...{ id: `${event_id} ${endpoint_id}`, event_id, endpoint_id, state: 'delivered' },
        ...{ reason: '', attempts: [] },
      })),
    )
    return accepted([{ deliveries: rows.slice(0, rowsMax), more: rows.length > rowsMax }])
  }
  return { requestAll, missingPools: [], requests: () => requests }
}

async function foundIn(world: World, pool: ReturnType<typeof aPool>) {
  const query = find(pool as never, world.memory(), REFERENCE)
  const { data, deliveries_unknown } = viewOf<Found>(await read(world, query))
  const perEvent = data.flatMap(({ events }) => events.map(({ deliveries }) => deliveries.length))
  return { perEvent, isUnknown: deliveries_unknown }
}

t.test('deliveries that one answer cannot hold are asked for again', async (t) => {
  const world = await createWorld(t)
  for (let n = 0; n < 3; n++) await pay(world, { reference: REFERENCE })
  const whole = { perEvent: Array<number>(6).fill(2), isUnknown: false }
  const roomy = aPool(12)
  t.same(await foundIn(world, roomy), whole)
  t.equal(roomy.requests(), 1)
  t.same(await foundIn(world, aPool(5)), whole)
  t.same(await foundIn(world, aPool(2)), whole)

  const cut = await foundIn(world, aPool(1))
  t.same(cut, { perEvent: Array<number>(6).fill(1), isUnknown: true }, 'some are not shown')
  const silent = await foundIn(world, aPool(2, 3))
  t.equal(silent.isUnknown, true, 'nor those of a pool that stopped to answer')
})

const EVENT = 'evt_1' as EventId

const created = async (world: World): Promise<EndpointId> =>
  viewOf<{ id: EndpointId }>(
    await world.run(
      createWebhookEndpoint(DEMO, {
        url: 'https://partner.example/hooks',
        enabled_events: [],
      }),
    ),
  ).id

/** A report of one endpoint: `alerting` of them are of payments. */
const report = (id: EndpointId, count: number, at: number, alerting = count) =>
  new Map([
    [
      id,
      {
        ...{ count, newestAt: instant(at) },
        alerting:
          alerting === 0 ? null : { count: alerting, newestAt: instant(at), newestEventId: EVENT },
      },
    ],
  ])

const shown = async (world: World): Promise<unknown> =>
  viewOf<{ webhook_endpoints: unknown }>(await world.run(getAccount(DEMO))).webhook_endpoints

t.test('reports of pools are refused for a while after a partner has left', async (t) => {
  const world = await createWorld(t)
  const id = await created(world)
  const recorded = () => world.run(poolReport(recordDeadDeliveries(1, report(id, 2, 5))))
  world.memory().lastDepartureAt = world.clock.now()
  t.match(await recorded(), { ok: false, code: 'configuration_error' })
  t.match(await shown(world), [{ id, dead_deliveries: null }])
  world.clock.pass(LEFT_WITHIN_MS)
  t.match(await recorded(), { ok: true })
  t.match(await shown(world), [{ id, dead_deliveries: 2 }])
})

t.test('a report with an impossible moment is announced, and the processor goes on', async (t) => {
  const stops: string[] = []
  const world = await createWorld(t, { onStop: (reason) => stops.push(reason) })
  const id = await created(world)
  const recorded = world.run(recordDeadDeliveries(1, report(id, 2, 1e18)))
  await eventually(
    'it is recorded, or the processor stops',
    () => stops.length > 0 || world.events.length > 0,
  )
  t.same(stops, [])
  t.ok((await recorded).ok)
  t.match(await shown(world), [{ id, dead_deliveries: 2 }])
})

t.test('the account adds up the reports of the pools', async (t) => {
  const world = await createWorld(t)
  const [one, two] = [await created(world), await created(world)]
  const unknown = { dead_deliveries: null, newest_dead_at: null }
  t.same(await shown(world), [
    { id: one, ...unknown },
    { id: two, ...unknown },
  ])
  const now = world.clock.now()
  await world.run(recordDeadDeliveries(1, report(one, 2, now - 9)))
  await world.run(recordDeadDeliveries(2, report(one, 3, now - 4, 0)))
  const none = { id: two, dead_deliveries: 0, newest_dead_at: null }
  t.same(await shown(world), [
    { id: one, dead_deliveries: 5, newest_dead_at: toRfc3339(instant(now - 4)) },
    none,
  ])
  await world.run(recordDeadDeliveries(1, new Map()))
  t.match(await shown(world), [{ id: one, dead_deliveries: 3 }, none], 'after a redrive')
  await world.run(deleteWebhookEndpoint(DEMO, one))
  t.same(await shown(world), [none])
})

for (const rebuilt of [false, true]) {
  const how = rebuilt ? 'after a restart' : 'in memory'

  t.test(`an endpoint has one announcement an hour, ${how}`, async (t) => {
    const world = await createWorld(t, { rebuilt })
    const id = await created(world)
    const record = (count: number, at: number, alerting?: number) =>
      world.run(recordDeadDeliveries(1, report(id, count, at, alerting)))
    await record(1, world.clock.now(), 0)
    t.same(world.events, [], 'not for events about endpoints')
    const died = world.clock.now()
    world.clock.pass(100)
    await record(3, died, 2)
    const [event] = world.events
    t.match(event, { tenant: DEMO, type: 'webhook_endpoint.deliveries_dead' })
    t.match(JSON.parse(event?.body ?? '{}'), {
      data: {
        webhook_endpoint: {
          ...{ id, status: 'enabled', dead_deliveries: 2 },
          ...{ newest_dead_at: toRfc3339(died), newest_dead_event_id: EVENT },
        },
      },
    })
    world.clock.pass(HOUR - 1)
    const later = world.clock.now()
    await record(4, later)
    t.equal(world.events.length, 1, 'within the hour')
    world.clock.pass(1)
    await record(4, later)
    t.equal(world.events.length, 2, 'announced with the next report')
    world.clock.pass(2 * HOUR)
    await record(4, later)
    t.equal(world.events.length, 2, 'nothing has died since')
    await record(5, world.clock.now() + 1_000)
    t.equal(world.events.length, 3)
    world.clock.pass(HOUR + 2_000)
    await record(5, world.clock.now() - HOUR - 1_000)
    t.equal(world.events.length, 3, 'the clock of the pool is ahead')
    await world.run(deleteWebhookEndpoint(DEMO, id))
    await record(6, world.clock.now())
    t.equal(world.events.length, 3, 'a deleted endpoint')
  })
}
