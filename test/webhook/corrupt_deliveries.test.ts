/** Damaged rows of a pool are set apart, on both stores: all others go on, and a redrive heals. */
import t, { type Test } from 'tap'
import { instant } from '../../src/base/clock.js'
import type { EndpointId } from '../../src/base/ids.js'
import { systemRandom } from '../../src/base/random.js'
import type { Database } from '../../src/store/database.js'
import { createRedriver, type Redriver } from '../../actors/webhook/control/redrive.js'
import type { Endpoint } from '../../actors/webhook/endpoint/endpoint.js'
import { createPool } from '../../actors/webhook/pool.js'
import type { WebhookRequest } from '../../actors/webhook/sending/sender.js'
import type { EventRow } from '../../actors/webhook/store/schema.js'
import type { PostgresPool } from '../../actors/webhook/store/postgres/store.js'
import type { Delivery } from '../../actors/webhook/store/store.js'
import { eventually } from '../support/eventually.js'
import { SILENT_LOG as log } from '../support/logs.js'
import { aDelivery, anEndpoint, anEventRow, heldClock } from './builders.js'
import { testStores, type TestStore } from './test_stores.js'

interface Damage {
  /** Statements with the delivery's id as `:id` and its event's as `:event`. */
  readonly sql: readonly string[]
  readonly why: string
  /** The event is missing: only a resend heals it. */
  readonly byResend?: true
}

const damage = (why: string, ...sql: readonly string[]): Damage => ({ why, sql })
const context = (change: string): string =>
  `UPDATE deliveries SET context = replace(context, ${change}) WHERE id = ':id'`

const DAMAGES: Readonly<Record<string, Damage>> = {
  'a context cut short': damage(
    'its context is not JSON',
    "UPDATE deliveries SET context = substr(context, 1, 20) WHERE id = ':id'",
  ),
  'a context that is a list': damage(
    'a member of its context is missing or malformed',
    "UPDATE deliveries SET context = '[]' WHERE id = ':id'",
  ),
  'a number that is none': damage(
    'a member of its context is missing or malformed',
    context(`'"tries":0', '"tries":"x"'`),
  ),
  'a broken number': damage(
    'a member of its context is missing or malformed',
    context(`'"attempts":0', '"attempts":0.5'`),
  ),
  'another due time': damage(
    'its context, its state and its due time differ',
    "UPDATE deliveries SET due_at = due_at - 1 WHERE id = ':id'",
  ),
  'an unknown state': damage(
    'its state is unknown',
    "UPDATE deliveries SET state = 'lost' WHERE id = ':id'",
  ),
  'fewer tries than attempts': damage(
    'it has more attempts than tries',
    `INSERT INTO attempts (delivery_id, number, at, status, reason, latency_ms, reply)
       VALUES (':id', 1, 0, 503, 'http_503', 1, '')`,
  ),
  'a body of nothing': damage(
    'the stored body is not that of the event',
    "UPDATE events SET body = substr(body, 1, 9) WHERE id = ':event'",
  ),
  'an event of another partner': damage(
    'its event is of another partner than its endpoint',
    "UPDATE events SET tenant = 'other_sandbox' WHERE id = ':event'",
  ),
  'a missing event': {
    ...damage('its event is missing', "DELETE FROM events WHERE id = ':event'"),
    byResend: true,
  },
}
/** Damage of the event, which a redrive of the delivery does not heal. */
const STAYS = ['a body of nothing', 'an event of another partner']

/** More than a queue holds in memory. */
const MANY = 150
const random = systemRandom()

for (const [name, testStore] of Object.entries(await testStores())) {
  for (const [kind, each] of Object.entries(DAMAGES)) {
    t.test(`${kind} in ${name}`, (t) => setApart(t, testStore(t), kind, each))
  }
  t.test(`more corrupt rows than a queue holds, in ${name}`, (t) => many(t, testStore(t)))
  t.test(`an event that comes again after its row was lost, in ${name}`, (t) =>
    comesAgain(t, testStore(t)),
  )
}

async function setApart(t: Test, testStore: TestStore, kind: string, { why, ...given }: Damage) {
  const [endpoint, other] = [anEndpoint(), anEndpoint()]
  const { events, damaged } = await damagedStore(t, testStore, [endpoint, other], given.sql)
  const before = await rowOf(testStore, damaged.id)
  const world = await aPool(t, testStore, [endpoint, other])
  const reached = (id: EndpointId, count: number) => (): boolean =>
    world.delivered(id).length === count
  await eventually('the other endpoint', reached(other.id, MANY - (isOfEvent(kind) ? 1 : 0)))
  await eventually('all others of the same endpoint', reached(endpoint.id, MANY - 1))
  t.equal(world.delivered(endpoint.id).includes(damaged.eventId), false)
  t.same(
    world.reports.filter(({ id }) => id === damaged.id),
    [{ id: damaged.id, why }],
    'reported once',
  )
  t.equal(world.store.corruptRows(), isOfEvent(kind) ? 2 : 1)
  t.same(await rowOf(testStore, damaged.id), before, 'the row is left as it is')
  t.same(world.faults, [])

  const event = events[0]!
  if (given.byResend) {
    const request = { event, settled: false, endpointId: undefined, take: true }
    await world.redriver.resend(request)
  } else await world.redriver.one(damaged.id)
  if (STAYS.includes(kind)) {
    t.equal(world.store.corruptRows(), 2, 'a redrive does not mend the event')
    t.equal(world.delivered(endpoint.id).length, MANY - 1)
  } else {
    await eventually('a redrive heals it', reached(endpoint.id, MANY))
    await eventually('not counted any more', () => world.store.corruptRows() === 0)
    await eventually(
      'the same row is delivered',
      async () => (await rowOf(testStore, damaged.id))?.state === 'delivered',
    )
  }
  t.same(world.faults, [])
}

const isOfEvent = (kind: string): boolean => STAYS.includes(kind) || kind === 'a missing event'

async function many(t: Test, testStore: TestStore): Promise<void> {
  const [endpoint, other] = [anEndpoint(), anEndpoint()]
  await damagedStore(t, testStore, [endpoint, other], [])
  const rows = await testStore.connect()
  await rows.run(
    `UPDATE deliveries SET context = '' WHERE endpoint_id = ? AND event_id IN
       (SELECT event_id FROM deliveries WHERE endpoint_id = ? ORDER BY due_at LIMIT ?)`,
    [endpoint.id, endpoint.id, MANY - 10],
  )
  await rows.close()
  const world = await aPool(t, testStore, [endpoint, other])
  await eventually('the last ten', () => world.delivered(endpoint.id).length === 10)
  await eventually('the other endpoint', () => world.delivered(other.id).length === MANY)
  t.equal(world.store.corruptRows(), MANY - 10)
  t.equal(world.reports.length, MANY - 10)
  const listed = await world.adminQueries.ofEndpoint(endpoint.id, '~', false, 1_000)
  t.equal(listed.length, MANY, 'lists show them')
  const corrupt = listed.filter(({ context: { reason } }) => reason === 'corrupt')
  t.equal(corrupt.length, MANY - 10)
  t.ok(corrupt.every(({ state }) => state === 'dead'))
  t.same(world.faults, [])
}

async function comesAgain(t: Test, testStore: TestStore): Promise<void> {
  const endpoint = anEndpoint()
  const { events } = await damagedStore(t, testStore, [endpoint], [])
  // The newest one: its id is above all that are left.
  const last = events.at(-1)!
  const rows = await testStore.connect()
  await damageRow(rows, ["DELETE FROM events WHERE id = ':event'"], 'none', last.id)
  await rows.close()
  const { store } = await opened(t, testStore, {})
  t.same(await store.dedupWindow([last.id]), new Set([last.id]), 'it is not stored a second time')
}

/** A store with MANY events for these endpoints; the first delivery of the first one is damaged. */
async function damagedStore(
  t: Test,
  testStore: TestStore,
  endpoints: readonly Endpoint[],
  sql: readonly string[],
): Promise<{ events: EventRow[]; damaged: Delivery }> {
  const at = heldClock().now()
  const events = Array.from({ length: MANY }, (_, i) => anEventRow({ receivedAt: instant(at + i) }))
  const deliveries = events.flatMap((event) => endpoints.map((each) => aDelivery(event, each)))
  const { store, adminQueries } = await testStore.open()
  await store.commit({ events, deliveries })
  await adminQueries.close()
  await store.close()
  const damaged = deliveries[0]!
  const rows = await testStore.connect()
  await damageRow(rows, sql, damaged.id, damaged.eventId)
  await rows.close()
  return { events, damaged }
}

type Rows = Pick<Database, 'all' | 'run' | 'exec' | 'close' | 'dialect'>

/** As a disk or a manual change would: against the constraints. */
async function damageRow(rows: Rows, sql: readonly string[], id: string, event: string) {
  await rows.exec(
    rows.dialect.name === 'sqlite'
      ? 'PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF'
      : `SET session_replication_role = replica;
         ALTER TABLE deliveries DROP CONSTRAINT IF EXISTS deliveries_state_check;
         ALTER TABLE deliveries DROP CONSTRAINT IF EXISTS deliveries_check`,
  )
  for (const each of sql) await rows.exec(each.replace(':id', id).replace(':event', event))
}

async function rowOf(testStore: TestStore, id: string): Promise<{ state: string } | undefined> {
  const rows = await testStore.connect()
  const [row] = await rows.all<{ state: string }>('SELECT * FROM deliveries WHERE id = ?', [id])
  await rows.close()
  return row
}

interface Report {
  readonly id: string
  readonly why: string
}

async function opened(
  t: Test,
  testStore: TestStore,
  reports: Parameters<TestStore['open']>[0],
): Promise<PostgresPool> {
  const found = await testStore.open(reports)
  t.teardown(async () => {
    await found.adminQueries.close()
    await found.store.close()
  })
  return found
}

/** The real pool over a store, with receivers that accept everything. */
async function aPool(t: Test, testStore: TestStore, endpoints: readonly Endpoint[]) {
  const reports: Report[] = []
  const faults: unknown[] = []
  const { store, adminQueries } = await opened(t, testStore, {
    failed: (fault) => faults.push(fault),
    corrupt: ({ id }, why) => reports.push({ id, why }),
  })
  const sent: WebhookRequest[] = []
  const clock = heldClock()
  clock.advance(1_000)
  const pool = createPool({
    ratePerSecond: null,
    sender: {
      send: (request) => {
        sent.push(request)
        return Promise.resolve({
          ...({ kind: 'delivered', status: 200, reason: 'http_200' } as const),
          ...{ latencyMs: 1, reply: '' },
        })
      },
    },
    store,
    backoff: { attemptsMax: 12, scalePct: 100 },
    ...{ clock, random, log },
    settled: () => undefined,
    disable: () => undefined,
    onAttempt: () => undefined,
    failed: (fault) => faults.push(fault),
  })
  await pool.start()
  t.teardown(() => pool.stop())
  for (const endpoint of endpoints) pool.applyEndpoint(endpoint)
  const redriver: Redriver = createRedriver({
    ...{ adminQueries, store, pool, clock, random },
    eventConsumer: { inOrder: (work) => work() },
    endpoints: {
      get: (id) => endpoints.find((each) => each.id === id),
      ofTenant: () => endpoints,
      whenSynced: () => Promise.resolve(true),
    },
  })
  const delivered = (id: EndpointId): string[] =>
    sent.filter(({ endpoint }) => endpoint.id === id).map(({ eventId }) => eventId)
  return { store, adminQueries, redriver, reports, faults, delivered }
}
