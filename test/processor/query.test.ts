/** Queries: admission, fairness and failures. */
import t from 'tap'
import { DAY } from '../../src/base/clock.js'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { answer, type Answer } from '../../src/processor/cycle/answer.js'
import type { QueueKey } from '../../src/processor/cycle/command.js'
import { listPayouts } from '../../src/processor/queries/payout_list.js'
import {
  createQueryRunner,
  type Query,
  type QueryContext,
} from '../../src/processor/queries/query.js'
import { objectOf } from '../../src/processor/queries/raw_json.js'
import { SILENT_LOG } from '../support/logs.js'
import { createWorld, DEMO } from '../support/world.js'
import { tryPay, queriesOf } from './scenarios.js'

const CONTEXT = { lists: { scheduled: () => ({}) } } as unknown as QueryContext
const OTHER = tenantOf('other' as PartnerId, 'sandbox')
const promptOf = (queueKey: QueueKey): Query => ({
  name: 'prompt',
  queueKey,
  run: () => Promise.resolve(answer({ data: [] })),
})

/** A reader and queries that the test ends; `refuses` returns whether one more is rejected. */
function heldQueries() {
  const reader = createQueryRunner(CONTEXT, SILENT_LOG)
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
    const result = await run
    return !result.ok && result.code === 'configuration_error'
  }
  const fill = async (queueKey: QueueKey): Promise<number> => {
    for (let count = 0; count < 10_000; count++) if (await refuses(queueKey)) return count
    throw new Error('never refused')
  }
  return { reader, ends, underWay, refuses, fill }
}

t.test('a tenant above its bound is refused at once, other tenants are not', async (t) => {
  const { reader, ends, underWay, fill } = heldQueries()
  const mine = await fill(DEMO)
  t.match(await reader.run(promptOf(DEMO)), { ok: false }, 'refused while all are pending')
  t.equal(await fill('internal'), mine, 'operators have a queue of their own')
  t.match(await reader.run(promptOf(OTHER)), { ok: true })
  ends[0]!()
  await underWay[0]
  t.match(await reader.run(promptOf(DEMO)), { ok: true, view: { data: [] } })
  for (const end of ends) end()
  t.equal((await Promise.all(underWay)).filter(({ ok }) => ok).length, underWay.length)
})

t.test('above the total bound only the first query of a tenant is accepted', async (t) => {
  const { ends, underWay, refuses, fill } = heldQueries()
  const tenantAt = (i: number): QueueKey => tenantOf(`p${i}` as PartnerId, 'sandbox')
  const ofOne = await fill(tenantAt(0))
  let last = 1
  while (last < 50 && (await fill(tenantAt(last))) === ofOne) last += 1
  t.notOk(await refuses(tenantAt(last + 1)), 'a tenant without pending queries')
  t.ok(await refuses(tenantAt(last + 1)), 'no second query')
  t.ok(await refuses(tenantAt(0)))
  t.ok(underWay.length < (last + 1) * ofOne)
  for (const end of ends) end()
  await Promise.all(underWay)
  t.notOk(await refuses(tenantAt(0)), 'all queries have ended')
  ends.at(-1)!()
})

t.test('a query that throws is answered internal_error and frees its slot', async (t) => {
  const reader = createQueryRunner(CONTEXT, SILENT_LOG)
  const broken: Query = {
    name: 'broken',
    queueKey: DEMO,
    run: () => Promise.reject(new Error('no such table')),
  }
  for (let i = 0; i < 2_000; i += 1) {
    const result = await reader.run(broken)
    if (result.ok || result.code !== 'internal_error') t.fail('the code is not internal_error')
  }
  t.match(await reader.run(promptOf(DEMO)), { ok: true })
})

t.test('900 lists of one partner do not delay another partner', async (t) => {
  const world = await createWorld(t)
  for (let i = 0; i < 3; i++) await tryPay(world)
  const reader = queriesOf(world)
  let answered = 0
  // Each another one, because equal lists that wait are read once.
  const many = Array.from({ length: 900 }, async (_, i) => {
    const before = String(world.clock.now() + DAY + i)
    const page = await reader.run(listPayouts(DEMO, { created_before: before }))
    answered += 1
    return page
  })
  const one = await reader.run(listPayouts(OTHER, {}))
  t.same(one.ok && objectOf(one.view), { data: [], next_cursor: null })
  t.ok(answered <= 3, `${answered} pages of the other partner came first`)
  for (const page of await Promise.all(many)) {
    const { data } = page.ok ? (objectOf(page.view) as { data: object[] }) : { data: [] }
    if (data.length !== 3) t.fail('not its page')
  }
})

t.test('a list that is no longer awaited is not read', async (t) => {
  const world = await createWorld(t)
  const reader = queriesOf(world)
  const deadline = world.clock.now() + 5_000
  const isAwaited = (): boolean => world.clock.now() <= deadline
  const first = reader.run(listPayouts(DEMO, {}), isAwaited)
  const second = reader.run(listPayouts(DEMO, {}), isAwaited)
  world.clock.pass(5_001)
  t.match(await first, { ok: true }, 'the page was read')
  t.match(await second, { ok: false, code: 'timeout' })
  t.match(await reader.run(listPayouts(DEMO, {})), { ok: true }, 'later queries are read')
})
