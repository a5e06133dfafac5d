/** The payout list: all filter combinations, pagination, invalid cursors. */
import t from 'tap'
import { PAGE_BYTES } from '../../src/base/constants.js'
import { instant, type Instant } from '../../src/base/clock.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { listPayouts } from '../../src/processor/queries/payout_list.js'
import { jsonOf } from '../../src/processor/queries/raw_json.js'
import type { ListPayouts__Output as ListPayouts } from '../../protos/types/causeway/v1/ListPayouts.js'
import { largestMetadata } from '../support/requests.js'
import { codeOf, createWorld, DEMO, viewOf, type World, PRODUCTION } from '../support/world.js'
import {
  executed,
  pay,
  payout,
  payoutTo,
  read,
  readAll,
  readRawJson,
  see,
  type PageView,
  type PayoutView,
  idsOf,
} from './scenarios.js'

interface Made {
  readonly id: string
  readonly status: string
  readonly reference: string
  readonly beneficiary: string
  readonly at: Instant
}

/** Creates payouts of two beneficiaries, three references and four states; newest first. */
async function makeAll(world: World): Promise<Made[]> {
  const made: Made[] = []
  const first = await pay(world, { amount: '100' })
  const known = first.beneficiary.id
  for (let i = 0; i < 12; i++) {
    if (i % 2 === 0) world.clock.pass(1)
    const isHeld = i % 6 === 5
    const reference = isHeld ? 'sandbox:review' : `r${i % 3}`
    const request = i % 3 === 0 ? payoutTo(known, { reference }) : payout({ reference })
    const { id } = viewOf<PayoutView>(await world.run(createPayout(DEMO, request)))
    if (i % 4 === 1) await world.railReports(executed(id, { transactionId: id }))
    if (i % 4 === 2)
      await world.railReports({ status: 'refused', id, reportId: null, refusal: 'rejected' })
    const { status, beneficiary } = await see(world, id)
    made.push({ id, status, reference, beneficiary: beneficiary.id, at: world.clock.now() })
  }
  const { id, status, reference, beneficiary } = await see(world, first.id)
  made.push({ id, status, reference, beneficiary: beneficiary.id, at: instant(made[0]!.at - 1) })
  return made.sort((one, other) => (one.id < other.id ? 1 : -1))
}

const page = async (world: World, request: ListPayouts): Promise<PageView<PayoutView>> =>
  viewOf(await read(world, listPayouts(DEMO, request)))

function expected(made: readonly Made[], filter: ListPayouts): string[] {
  const { status, reference, beneficiary_id: beneficiary } = filter
  const found = made.filter(
    (each) =>
      (status === undefined || each.status === status) &&
      (reference === undefined || each.reference === reference) &&
      (beneficiary === undefined || each.beneficiary === beneficiary) &&
      (filter.created_after === undefined || each.at > Number(filter.created_after)) &&
      (filter.created_before === undefined || each.at < Number(filter.created_before)),
  )
  return idsOf(found)
}

t.test('every combination of filters returns the matching payouts, page by page', async (t) => {
  const world = await createWorld(t)
  const made = await makeAll(world)
  const times = made.map(({ at }) => at).sort()
  const some = <T>(value: T): readonly (T | undefined)[] => [undefined, value]
  let found = 0
  for (const status of [undefined, 'created', 'processing', 'completed', 'failed', 'reversed']) {
    for (const reference of [undefined, 'r0', 'r1', 'R1', '']) {
      for (const beneficiary of some(made.at(-1)!.beneficiary)) {
        for (const after of some(String(times[3]))) {
          for (const before of some(String(times[10]))) {
            const filter = {
              ...(status === undefined ? {} : { status }),
              ...(reference === undefined ? {} : { reference }),
              ...(beneficiary === undefined ? {} : { beneficiary_id: beneficiary }),
              ...(after === undefined ? {} : { created_after: after }),
              ...(before === undefined ? {} : { created_before: before }),
            }
            const listed = await readAll<PayoutView>(world, (page) =>
              listPayouts(DEMO, { ...filter, limit: 2, ...page }),
            )
            found += listed.length
            t.same(idsOf(listed), expected(made, filter), JSON.stringify(filter))
          }
        }
      }
    }
  }
  t.ok(found > 100, 'the filters match something')
})

t.test('a page shows each payout as GET does, and has no cursor after the last one', async (t) => {
  const world = await createWorld(t)
  const made = await makeAll(world)
  const all = await page(world, {})
  t.equal(all.data.length, made.length)
  t.equal(all.next_cursor, null)
  for (const shown of all.data) t.same(shown, await see(world, shown.id), 'equal to GET')
  const exact = await page(world, { limit: made.length })
  t.equal(exact.next_cursor, null, 'no page after the last one')
  t.same(viewOf(await read(world, listPayouts(PRODUCTION, {}))), { data: [], next_cursor: null })
})

t.test('the default limit is 50, the maximum 100', async (t) => {
  const world = await createWorld(t)
  await world.runAll(
    Array.from({ length: 102 }, () => createPayout(DEMO, payout({ amount: '100' }))),
  )
  const size = async (request: ListPayouts): Promise<number> =>
    (await page(world, request)).data.length
  t.same([await size({}), await size({ limit: 1 }), await size({ limit: 100 })], [50, 1, 100])
  for (const limit of [0, 101]) {
    t.equal(codeOf(await read(world, listPayouts(DEMO, { limit }))), 'invalid_request')
  }
})

t.test('pages are stable while payouts are added and change', async (t) => {
  const world = await createWorld(t)
  const made = await makeAll(world)
  const seen: string[] = []
  for (let cursor: { cursor?: string } = {}; ;) {
    const { data, next_cursor } = await page(world, { limit: 3, ...cursor })
    seen.push(...idsOf(data))
    if (next_cursor === null) break
    cursor = { cursor: next_cursor }
    world.clock.pass(1)
    await pay(world)
  }
  t.same(seen, idsOf(made), 'no duplicates and no gaps')
})

t.test('a page of long payouts ends early, and later pages have no gap', async (t) => {
  const world = await createWorld(t)
  const metadata = largestMetadata()
  const made: string[] = []
  for (let i = 0; i < 16; i++) {
    world.clock.pass(1)
    made.unshift((await pay(world, { amount: '100', ...(i % 5 === 0 ? {} : { metadata }) })).id)
  }
  const first = await readRawJson(world, listPayouts(DEMO, { limit: 100 }))
  t.ok(Buffer.byteLength(jsonOf(viewOf(first))) < 2 * PAGE_BYTES)
  for (const limit of [2, 100]) {
    const all = await readAll<PayoutView>(world, (page) => listPayouts(DEMO, { limit, ...page }))
    t.same(idsOf(all), made, `${limit} at a time`)
  }
})

t.test('filters at their limits are accepted', async (t) => {
  const world = await createWorld(t)
  const edges: readonly ListPayouts[] = [
    { reference: '🙂'.repeat(255) },
    { beneficiary_id: 'b'.repeat(128) },
    { created_after: '-9223372036854775808' },
    { created_before: '9223372036854775807' },
    { created_after: '9223372036854775807' },
  ]
  for (const request of edges) {
    t.equal(codeOf(await read(world, listPayouts(DEMO, request))), 'ok', JSON.stringify(request))
  }
})

t.test('a cursor of another list or a forged one is rejected', async (t) => {
  const world = await createWorld(t)
  await makeAll(world)
  const first = await page(world, { limit: 1, status: 'processing' })
  const cursor = first.next_cursor!
  const [position = '', mac = ''] = cursor.split('.')
  const codes = async (tenant: typeof DEMO, request: ListPayouts): Promise<string> =>
    codeOf(await read(world, listPayouts(tenant, request)))
  t.equal(await codes(DEMO, { cursor, limit: 7, status: 'processing' }), 'ok', 'any page size')
  t.equal(await codes(DEMO, { cursor }), 'invalid_request', 'other filters')
  t.equal(await codes(DEMO, { cursor, status: 'completed' }), 'invalid_request')
  const others = await codes(PRODUCTION, { cursor, status: 'processing' })
  t.equal(others, 'invalid_request', 'other tenant')
  const forged = Buffer.from('pout_01').toString('base64url')
  for (const text of [
    '',
    '.',
    position,
    `${position}.`,
    `${forged}.${mac}`,
    `${position}.${mac.slice(0, -1)}`,
    `${position}.${'A'.repeat(22)}`,
    `${cursor}=`,
    ` ${cursor}`,
    'x'.repeat(10_000),
  ]) {
    t.equal(await codes(DEMO, { cursor: text, status: 'processing' }), 'invalid_request', text)
  }
})
