/** Queries: how many may be under way, whose turn it is, and what becomes of one that fails. */
import pino from 'pino'
import t from 'tap'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { answer, type Answer } from '../../src/processor/cycle/answer.js'
import type { QueueKey } from '../../src/processor/cycle/command.js'
import { listPayouts } from '../../src/processor/queries/payout_list.js'
import { createReader, type Query, type QueryContext } from '../../src/processor/queries/query.js'
import { objectOf } from '../../src/processor/queries/raw_json.js'
import { createWorld, DEMO, RULES } from '../support/world.js'
import { payout } from './scenarios.js'

const READING = { lists: { scheduled: () => ({}) } } as unknown as QueryContext
const OTHER = tenantOf('other' as PartnerId, 'sandbox')
const log = pino({ enabled: false })

const promptOf = (queueKey: QueueKey): Query => ({
  name: 'prompt',
  queueKey,
  run: () => Promise.resolve(answer({ data: [] })),
})

/** A reader and queries that end by hand; `refuses` tells of one more. */
function heldQueries() {
  const reader = createReader(READING, log)
  const ends: (() => void)[] = []
  const underWay: Promise<Answer>[] = []
  const refuses = async (queueKey: QueueKey): Promise<boolean> => {
    const before = ends.length
    const run = reader.run({
      name: 'waits',
      queueKey,
      run: () => new Promise((resolve) => ends.push(() => resolve(answer({})))),
    })
    if (ends.length > before) {
      underWay.push(run)
      return false
    }
    const told = await run
    return !told.ok && told.code === 'configuration_error'
  }
  const fill = async (queueKey: QueueKey): Promise<number> => {
    for (let count = 0; count < 10_000; count++) if (await refuses(queueKey)) return count
    throw new Error('never refused')
  }
  return { reader, ends, underWay, refuses, fill }
}

void t.test('a tenant is refused at once beyond its own bound, and no other one', async (t) => {
  const { reader, ends, underWay, fill } = heldQueries()
  const mine = await fill(DEMO)
  t.match(await reader.run(promptOf(DEMO)), { ok: false }, 'it stays refused while all wait')
  t.equal(await fill('ours'), mine, 'operators have a queue of their own')
  t.match(await reader.run(promptOf(OTHER)), { ok: true })
  ends[0]!()
  await underWay[0]
  t.match(await reader.run(promptOf(DEMO)), { ok: true, view: { data: [] } })
  for (const end of ends) end()
  t.equal((await Promise.all(underWay)).filter(({ ok }) => ok).length, underWay.length)
})

void t.test('beyond the bound of all, only the first page of a tenant is taken', async (t) => {
  const { ends, underWay, refuses, fill } = heldQueries()
  const tenantAt = (i: number): QueueKey => tenantOf(`p${i}` as PartnerId, 'sandbox')
  const ofOne = await fill(tenantAt(0))
  let last = 1
  while (last < 50 && (await fill(tenantAt(last))) === ofOne) last += 1
  t.notOk(await refuses(tenantAt(last + 1)), 'who has none under way')
  t.ok(await refuses(tenantAt(last + 1)), 'and no second one')
  t.ok(await refuses(tenantAt(0)))
  t.ok(underWay.length < (last + 1) * ofOne)
  for (const end of ends) end()
  await Promise.all(underWay)
  t.notOk(await refuses(tenantAt(0)), 'all places are free again')
  ends.at(-1)!()
})

void t.test('a query that throws is answered as an error, and holds no place', async (t) => {
  const reader = createReader(READING, log)
  const broken: Query = {
    name: 'broken',
    queueKey: DEMO,
    run: () => Promise.reject(new Error('no such table')),
  }
  for (let i = 0; i < 2_000; i += 1) {
    const told = await reader.run(broken)
    if (told.ok || told.code !== 'internal_error') t.fail('a failure was told as something else')
  }
  t.match(await reader.run(promptOf(DEMO)), { ok: true })
})

void t.test('nine hundred lists of one partner do not keep another one waiting', async (t) => {
  const world = await createWorld(t)
  for (let i = 0; i < 3; i++) await world.run(createPayout(DEMO, payout()))
  const { vault, store } = world
  const reader = createReader({ lists: store.lists, vault, brand: RULES.brand }, log)
  let told = 0
  const many = Array.from({ length: 900 }, async () => {
    const page = await reader.run(listPayouts(DEMO, {}))
    told += 1
    return page
  })
  const one = await reader.run(listPayouts(OTHER, {}))
  t.same(one.ok && objectOf(one.view), { data: [], next_cursor: null })
  t.ok(told <= 3, `${told} pages of the other one came first`)
  for (const page of await Promise.all(many)) {
    const { data } = page.ok ? (objectOf(page.view) as { data: object[] }) : { data: [] }
    if (data.length !== 3) t.fail('not its page')
  }
})

void t.test('a list that is no longer awaited when its turn comes is not read', async (t) => {
  const world = await createWorld(t)
  const { vault, store } = world
  const reader = createReader({ lists: store.lists, vault, brand: RULES.brand }, log)
  const deadline = world.clock.now() + 5_000
  const isAwaited = (): boolean => world.clock.now() <= deadline
  const first = reader.run(listPayouts(DEMO, {}), isAwaited)
  const second = reader.run(listPayouts(DEMO, {}), isAwaited)
  world.clock.pass(5_001)
  t.match(await first, { ok: true }, 'its turn came in time')
  t.match(await second, { ok: false, code: 'timeout' })
  t.match(await reader.run(listPayouts(DEMO, {})), { ok: true }, 'the line goes on')
})
