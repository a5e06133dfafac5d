/** Cached first pages equal newly rendered pages after any sequence of changes. */
import t from 'tap'
import pino from 'pino'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { createFirstPageCache } from '../../src/processor/queries/first_page_cache.js'
import { listPayouts } from '../../src/processor/queries/payout_list.js'
import { createQueryRunner } from '../../src/processor/queries/query.js'
import { jsonOf } from '../../src/processor/queries/raw_json.js'
import { createWorld, DEMO, RULES, viewOf } from '../support/world.js'
import { executed, payout, readRawJson, type PayoutView } from './scenarios.js'

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
