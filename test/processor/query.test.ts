/** Queries: admission, fairness, failures, cancellation, cached first pages. */
import { EventEmitter } from 'node:events'
import t from 'tap'
import { Metadata } from '@grpc/grpc-js'
import pino from 'pino'
import { DAY, instant } from '../../src/base/clock.js'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { answer, type Answer } from '../../src/processor/cycle/answer.js'
import type { QueueKey } from '../../src/processor/cycle/command.js'
import { listPayouts } from '../../src/processor/queries/payout_list.js'
import {
  createQueryRunner,
  type Query,
  type QueryContext,
  type QueryRunner,
} from '../../src/processor/queries/query.js'
import { objectOf, jsonOf } from '../../src/processor/queries/raw_json.js'
import { systemRandom } from '../../src/base/random.js'
import type { Memory } from '../../src/processor/cache/memory.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import type { WebhookPools } from '../../src/processor/queries/webhook_pools.js'
import { commandStreamService } from '../../src/processor/servers/command_stream.js'
import { unaryQuery } from '../../src/processor/servers/unary_handler.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { createFirstPageCache } from '../../src/processor/queries/first_page_cache.js'
import { SILENT_LOG } from '../support/logs.js'
import { createWorld, DEMO, RULES, viewOf } from '../support/world.js'
import { tryPay, queriesOf, executed, payout, readRawJson, type PayoutView } from './scenarios.js'

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

/** Transports whose queries never end, and their cancellation state. */
function heldServers() {
  const scheduled: { readonly queueKey: string; readonly isAwaited: () => boolean }[] = []
  const reader: QueryRunner = {
    run: ({ queueKey }, isAwaited = () => true) => {
      scheduled.push({ queueKey, isAwaited })
      return new Promise(() => undefined)
    },
  }
  let now = instant(1_000)
  const dependencies = {
    clock: { now: () => now },
    random: systemRandom(),
    pipeline: { submit: ({ reply }: { reply: (answer: object) => void }) => reply(answer({})) },
    memory: {} as Memory,
    reader,
    pools: {} as WebhookPools,
    calls: { add: () => undefined },
  } as Parameters<typeof commandStreamService>[0] & Parameters<typeof unaryQuery>[0]
  return { scheduled, dependencies, at: (moment: number) => void (now = instant(moment)) }
}

function openStream(dependencies: Parameters<typeof commandStreamService>[0]) {
  const stream = Object.assign(new EventEmitter(), {
    metadata: new Metadata(),
    sendMetadata: () => undefined,
    write: () => true,
    end: () => undefined,
  })
  commandStreamService(dependencies).handlers.Open(stream as never)
  return {
    list: (budget_ms: number) => {
      const command = { ticket: 1, tenant: DEMO, budget_ms, operation: 'list_payouts' }
      const commands = [{ ...command, request_id: '', list_payouts: {} }]
      stream.emit('data', { commands, marks: [] })
    },
    leave: () => stream.emit('cancelled'),
  }
}

t.test("a gateway's list is cancelled after its deadline or when its stream breaks", async (t) => {
  const { scheduled, dependencies, at } = heldServers()
  const gateway = openStream(dependencies)
  gateway.list(500)
  gateway.list(5_000)
  const [short, long] = scheduled
  t.equal(short?.queueKey, DEMO)
  t.same([short?.isAwaited(), long?.isAwaited()], [true, true])
  at(1_500)
  t.equal(short?.isAwaited(), true, 'before its deadline')
  at(1_501)
  t.same([short?.isAwaited(), long?.isAwaited()], [false, true])
  gateway.leave()
  t.equal(long?.isAwaited(), false)
})

t.test('a unary list is cancelled with its call', async (t) => {
  const { scheduled, dependencies } = heldServers()
  const call = { metadata: new Metadata(), request: {}, cancelled: false }
  unaryQuery(dependencies, () => listHeldPayouts({}))(call as never, () => undefined)
  t.equal(scheduled[0]?.queueKey, 'internal')
  t.equal(scheduled[0]?.isAwaited(), true)
  call.cancelled = true
  t.equal(scheduled[0]?.isAwaited(), false)
})

t.test('a page is rendered once for the same rows and again for others', async (t) => {
  const pages = createFirstPageCache()
  let written = 0
  const write = (): string => `page ${(written += 1)}`
  t.equal(pages.page('a', 'rows', write), 'page 1')
  t.equal(pages.page('a', 'rows', write), 'page 1')
  t.equal(pages.page('b', 'rows', write), 'page 2', 'another list has its own page')
  t.equal(pages.page('a', 'other rows', write), 'page 3')
  t.equal(pages.page('a', 'rows', write), 'page 4', 'only the latest page is kept')
  const large = 'x'.repeat(1_000_000)
  t.not(
    pages.page('c', large, write),
    pages.page('c', large, write),
    'a page above the size limit is not cached',
  )
})

t.test('the least recently used page is evicted first', async (t) => {
  const pages = createFirstPageCache()
  const isKnown = (list: string): boolean => {
    let known = true
    pages.page(list, 'rows', () => ((known = false), 'page'))
    return known
  }
  for (let i = 0; i < 10_000; i++) {
    isKnown(`list ${i}`)
    if (!isKnown('polled') && i > 0) t.fail('evicted although it is requested')
  }
  t.ok(isKnown('list 9999'))
  t.notOk(isKnown('list 0'))
})

t.test('a cached first page equals the page of a reader without a cache', async (t) => {
  const world = await createWorld(t)
  const { vault, store } = world
  const reader = createQueryRunner(
    { lists: store.lists, vault, brand: RULES.brand },
    pino({ enabled: false }),
  )
  const check = async (what: string): Promise<void> => {
    for (const request of [
      {},
      { limit: 1 },
      { status: 'completed' },
      { reference: 'r', limit: 2 },
    ]) {
      const query = listPayouts(DEMO, request)
      const written = jsonOf(viewOf<object>(await readRawJson(world, query)))
      for (const time of ['first', 'again']) {
        const read = jsonOf(viewOf<object>(await reader.run(query)))
        t.equal(read, written, `${what}, ${JSON.stringify(request)}, ${time}`)
      }
      t.equal(written, JSON.stringify(JSON.parse(written)))
    }
  }
  await check('none')
  const ids: PayoutView['id'][] = []
  for (let i = 0; i < 3; i++) {
    const request = payout({ reference: 'r', metadata: { 9: '"\\\u0001\u2028', 1: 'ส' } })
    ids.push(viewOf<PayoutView>(await world.run(createPayout(DEMO, request))).id)
    await check(`${i + 1} made`)
  }
  await world.railReports(executed(ids[1]!))
  await check('one payout has ended')
})
