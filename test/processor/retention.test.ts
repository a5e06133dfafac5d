/** Retention: events, idempotency keys and actions of requests are deleted by their age. */
import { join } from 'node:path'
import t from 'tap'
import { DAY, HOUR } from '../../src/base/clock.js'
import { leastIdAt, type PayoutId, type RequestId, type TenantId } from '../../src/base/ids.js'
import { createSteadyClock } from '../../src/base/steady_clock.js'
import { recorded } from '../../src/processor/changes/request_actions.js'
import { internalWork, type Command } from '../../src/processor/cycle/command.js'
import { createKeyIndexMoves } from '../../src/processor/background/key_index_moves.js'
import { createRetention, type KeptDays } from '../../src/processor/background/retention.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { settleEvents } from '../../src/processor/commands/webhook_endpoints/events_settle.js'
import { expireRows } from '../../src/processor/commands/retention/rows_expire.js'
import { listEventRecords, listEvents } from '../../src/processor/queries/event_list.js'
import { answer, type Answer } from '../../src/processor/cycle/answer.js'
import { FILES } from '../../src/base/subjects.js'
import { rawBooks, inBooks, sqliteOnly } from '../support/books.js'
import { brokenIn } from './audited_world.js'
import { eventually } from '../support/eventually.js'
import { anIntent } from '../support/requests.js'
import { tempFolder } from '../support/temp_folder.js'
import { createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { captured, intentAt } from './intent_lifecycle.js'
import { dependenciesOf, executed, read, tryPay } from './scenarios.js'
import { anEndpoint } from './webhook_endpoints.js'
import { writeSmallBooks } from '../audit/small_books.js'

const KEEP_ALL: KeptDays = { events: 0, payoutKeys: 0, otherKeys: 0, requests: 0 }

const retentionOf = (world: World, keep: Partial<KeptDays>, rowsMax = 3, isSteady = () => true) =>
  createRetention({
    ...dependenciesOf(world),
    ...{ keep: { ...KEEP_ALL, ...keep }, isSteady, rowsMax, pauseMs: 0 },
  })

const pay = (world: World, key: string): Promise<Answer> => tryPay(world, { idempotency_key: key })
const create = (world: World, key: string): Promise<Answer> =>
  world.run(createIntent(DEMO, anIntent({ idempotency_key: key })))
const payoutOf = (answer: Answer): string => viewOf<{ id: string }>(answer).id
const intentOf = (answer: Answer): string => viewOf<{ intent_id: string }>(answer).intent_id

const execute = (world: World, id: string): Promise<void> =>
  world.railReports(executed(id as PayoutId, { transactionId: id }))

async function completed(world: World, key: string): Promise<string> {
  const id = payoutOf(await pay(world, key))
  await execute(world, id)
  return id
}

const settle = (world: World): Promise<Answer> =>
  world.run(settleEvents(world.events.map(({ id }) => id)))

interface EventPage {
  readonly data: readonly { sequence: number }[]
  readonly next_after: number
  readonly begins_after?: number
}

async function feed(world: World, after = 0, tenant: TenantId = DEMO): Promise<EventPage> {
  const page = { after: String(after), limit: 100 } as never
  return viewOf(await read(world, listEventRecords(tenant, page)))
}

const numbers = async (world: World): Promise<readonly number[]> =>
  (await feed(world)).data.map(({ sequence }) => sequence)

t.test(
  'events of ended payments leave the feed in order, and it says where it begins',
  async (t) => {
    const world = await createWorld(t)
    for (const key of ['a', 'b']) await completed(world, key) // events 1 to 6
    const open = payoutOf(await pay(world, 'open')) // 7 and 8
    await completed(world, 'c') // 9 to 11
    const retention = retentionOf(world, { events: 40 })
    world.clock.pass(39 * DAY)
    await settle(world)
    await retention.run()
    t.equal((await numbers(world)).length, 11, 'they are young')
    t.equal((await feed(world)).begins_after, undefined)

    world.clock.pass(2 * DAY)
    await retention.run()
    t.same(await numbers(world), [7, 8, 9, 10, 11], 'the open payout needs its own')
    t.match(await feed(world), { begins_after: 6, next_after: 11 })
    t.equal((await feed(world, 6)).begins_after, undefined, 'none of these is deleted')
    const asJson = await read(world, listEvents(DEMO, { after: '2', limit: 1 }))
    t.match(viewOf(asJson), { begins_after: 6, next_after: 7 })

    await execute(world, open)
    await retention.run()
    t.same(await numbers(world), [12], 'the newest is young, and would stay anyway')
    world.clock.pass(50 * DAY)
    await retention.run()
    t.same(await numbers(world), [12])
    t.equal(retention.deleted.events, 11)

    await world.rebuild()
    await completed(world, 'd')
    t.same(await numbers(world), [12, 13, 14, 15], 'numbers go on after a restart')
  },
)

t.test('an event without an outcome stays, and all after it', async (t) => {
  const world = await createWorld(t)
  await anEndpoint(world)
  for (const key of ['a', 'b']) await completed(world, key)
  const [first, second, , ...others] = world.events.map(({ id }) => id)
  await world.run(settleEvents([first!, second!, ...others]))
  world.clock.pass(60 * DAY)
  const retention = retentionOf(world, { events: 31 })
  await retention.run()
  t.same(await numbers(world), [3, 4, 5, 6])
  await settle(world)
  await retention.run()
  t.same(await numbers(world), [6])
})

t.test('an event that was deleted is no proof that the books went back in time', async (t) => {
  const world = await createWorld(t)
  await completed(world, 'a')
  await settle(world)
  world.clock.pass(60 * DAY)
  await completed(world, 'b')
  const [first] = world.events
  await retentionOf(world, { events: 31 }).run()
  t.notSame((await numbers(world))[0], 1)
  t.equal(await world.store.marks.hasEvent(first!.id), true)
  t.equal(await world.store.marks.hasEvent(leastIdAt('event', world.clock.now())), false)
})

t.test('keys are deleted by kind, at the earliest when their day has ended', async (t) => {
  const world = await createWorld(t)
  const [payout, intent] = [await completed(world, 'p'), intentOf(await create(world, 'i'))]
  const open = payoutOf(await pay(world, 'open'))
  await world.fireTimers(1_800_001) // the intent expires
  const others = retentionOf(world, { otherKeys: 31 })
  await others.run()
  world.clock.pass(30 * DAY)
  await others.run()
  t.equal(intentOf(await create(world, 'i')), intent, 'it is young')
  world.clock.pass(2 * DAY)
  await others.run()
  t.equal(others.deleted.keys, 1)
  t.equal(payoutOf(await pay(world, 'p')), payout, "payouts' keys are kept")
  const next = intentOf(await create(world, 'i'))
  t.not(next, intent, 'a repetition is a new request, also before the next start')
  await others.run()
  t.equal(intentOf(await create(world, 'i')), next)
  await world.rebuild()
  t.equal(intentOf(await create(world, 'i')), next)

  world.clock.pass(400 * DAY)
  const payouts = retentionOf(world, { payoutKeys: 365 })
  await payouts.run()
  t.equal(payouts.deleted.keys, 1, 'not that of the open payout')
  await world.rebuild()
  t.not(payoutOf(await pay(world, 'p')), payout)
  t.equal(payoutOf(await pay(world, 'open')), open)
  t.equal(intentOf(await create(world, 'i')), next, 'the other kind is kept')
})

t.test('a clock that is set back for a while makes no key older', async (t) => {
  const world = await createWorld(t)
  const retention = retentionOf(world, { payoutKeys: 365, otherKeys: 31 })
  const first = await completed(world, 'first')
  const lifecycle = await intentAt(world, captured)
  await retention.run()
  world.clock.pass(40 * DAY)
  const now = world.clock.now()
  const payout = await completed(world, 'p')
  const refund = viewOf(await lifecycle.refund('r'))

  for (const at of [1, now - 100 * DAY]) {
    world.clock.set(at) // as of a machine that has not asked its time server yet
    await world.rebuild()
    await retentionOf(world, { payoutKeys: 365, otherKeys: 31 }).run()
    world.clock.set(now)
    await world.rebuild()
    await retentionOf(world, { payoutKeys: 365, otherKeys: 31 }).run()
    t.equal(payoutOf(await pay(world, 'p')), payout, 'a repeated key pays nothing again')
    t.equal(payoutOf(await pay(world, 'first')), first)
    t.same(viewOf(await lifecycle.refund('r')), refund)
  }
})

t.test('a step of the clock makes nothing old within the next hour', async (t) => {
  const world = await createWorld(t)
  let elapsed = 0
  const pass = (ms: number): void => {
    world.clock.pass(ms)
    elapsed += ms
  }
  const { isSteady } = createSteadyClock(world.clock, () => elapsed)
  const keep = { events: 40, payoutKeys: 365, otherKeys: 40 }
  const retention = retentionOf(world, keep, 3, isSteady)
  const payout = await completed(world, 'p')
  await create(world, 'i')
  await settle(world)
  pass(2 * HOUR)
  await retention.run()
  world.clock.pass(500 * DAY)
  await retention.run()
  t.same(retention.deleted, { events: 0, keys: 0, requests: 0 })
  t.equal(payoutOf(await pay(world, 'p')), payout)
  pass(HOUR)
  await retention.run()
  t.ok(retention.deleted.keys > 0, 'then it is the time')
})

t.test('nothing is deleted by default, and nothing while the books are read-only', async (t) => {
  const world = await createWorld(t)
  await completed(world, 'a')
  await create(world, 'i')
  await settle(world)
  world.clock.pass(DAY)
  const kept = retentionOf(world, {})
  await kept.run()
  world.clock.pass(5_000 * DAY)
  await kept.run()
  t.same(kept.deleted, { events: 0, keys: 0, requests: 0 })
  world.memory().isUnverified = true
  const refused = retentionOf(world, { events: 31, otherKeys: 31 })
  await refused.run()
  t.same(refused.deleted, { events: 0, keys: 0, requests: 0 })
})

t.test(
  'the audit knows what may be missing, and finds what may not',
  { skip: sqliteOnly('its file') },
  async (t) => {
    const { world, folder } = await writeSmallBooks(t)
    await settle(world)
    const all = { events: 40, payoutKeys: 365, otherKeys: 40, requests: 40 }
    await retentionOf(world, all).run()
    world.clock.pass(500 * DAY)
    const retention = retentionOf(world, all)
    await retention.run()
    const { events, keys } = retention.deleted
    t.ok(events > 3 && keys > 3, JSON.stringify(retention.deleted))
    await world.rebuild()
    const moves = createKeyIndexMoves({ ...dependenciesOf(world), newest: 2, pauseMs: 0 })
    moves.start()
    const moved = async () => (await world.store.boot(world.clock.now())).indexedKeysThrough
    await eventually('a move', async () => (await moved()) > keys)
    moves.stop()
    t.equal(await brokenIn(world), null)

    const raw = await rawBooks(folder)
    for (const [name, ...damages] of DAMAGE) {
      for (const sql of damages) {
        const copy = tempFolder(t)
        await raw.run('VACUUM INTO ?', [join(copy, FILES.processorDatabase)])
        await inBooks(copy, (damaged) => damaged.exec(sql))
        t.equal(await brokenIn({ ...world, folder: copy }), name, sql)
      }
    }
    await raw.close()
  },
)

const AFTER_EDGE = `(SELECT min(e.position) FROM events e JOIN event_retention r
  ON r.tenant = e.tenant AND e.sequence > r.sequence)`
const DAMAGE = [
  [
    'sequences_have_no_gap',
    'UPDATE event_retention SET sequence = sequence - 1',
    'UPDATE event_retention SET sequence = sequence + 1',
    `DELETE FROM events WHERE position = ${AFTER_EDGE}`,
  ],
  ['every_transition_has_event', 'UPDATE event_retention SET created_at = 0'],
  ['payouts_have_one_key', "DELETE FROM idempotency_retention WHERE kind = 'payouts'"],
  [
    'idempotency_rows_resolve',
    'UPDATE idempotency_retention SET through = (SELECT max(sequence) FROM idempotency)',
  ],
  [
    'fingerprints_match_keys',
    'DELETE FROM idempotency WHERE sequence = (SELECT max(sequence) FROM idempotency)',
    'DELETE FROM idempotency_prints WHERE first = (SELECT max(first) FROM idempotency_prints)',
  ],
  [
    'older_keys_are_indexed',
    'INSERT INTO idempotency_index VALUES (1, 999999)',
    'INSERT INTO idempotency_index_moves VALUES (999999, 0)',
  ],
] as const

t.test('what a request changed is forgotten by its age', async (t) => {
  const world = await createWorld(t)
  const at = [40, 35, 30].map((days) => world.clock.now() - days * DAY)
  for (const each of at) {
    const requestId = leastIdAt('request', each) as RequestId
    const work = internalWork(recorded(DEPOSIT, ACTION), 'request')
    await new Promise((reply) =>
      world.submit({ ...work, origin: { cause: 'request', requestId }, reply }),
    )
  }
  const retention = retentionOf(world, { requests: 31 }, 1)
  await retention.run()
  t.equal(retention.deleted.requests, 2)
  const { search } = world.store.lists
  const found = await Promise.all(at.map((each) => search.actionsOf(leastIdAt('request', each))))
  const counts = found.map((rows) => rows.length)
  t.same(counts, [0, 0, 1])
})

const ACTION = { tenant: DEMO, action: 'deposit', entityOf: () => 'dep_1' }
const DEPOSIT: Command = { name: 'deposit', needs: () => undefined, decide: () => answer({}) }

t.test('a deletion that is repeated changes nothing', async (t) => {
  const world = await createWorld(t)
  await completed(world, 'a')
  const before = await numbers(world)
  await world.run(expireRows({ rows: { events: [999], requests: ['req_x'] } }))
  t.same(await numbers(world), before)
})
