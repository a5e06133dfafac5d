/** Payouts: the list with all filters, and one as operators see it. */
import t from 'tap'
import type { ListPayouts__Output as ListPayouts } from '../../protos/types/causeway/v1/ListPayouts.js'
import { PAGE_BYTES } from '../../src/base/constants.js'
import { instant, type Instant } from '../../src/base/clock.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { listPayouts } from '../../src/processor/queries/payout_list.js'
import { jsonOf } from '../../src/processor/queries/raw_json.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { resolvePayout } from '../../src/processor/commands/payouts/payout_resolve.js'
import { showIntent } from '../../src/processor/queries/intent_show.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import { showPayee } from '../../src/processor/queries/payee_show.js'
import { showPayout } from '../../src/processor/queries/payout_show.js'
import { largestMetadata, aPayout } from '../support/requests.js'
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
  discrepanciesOf,
  OPERATOR,
  runOnBothStores,
  approve,
} from './scenarios.js'
import { anEndpoint } from './webhook_endpoints.js'
import { authorized, beginLifecycle, captured, intentAt } from './intent_lifecycle.js'

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

const EVIDENCE = 'statement line 12'
const MINUTE_MS = 60_000
const NOTHING_OF_THE_RAIL = { submitted_at: undefined, asked: undefined }

interface RecordView {
  readonly submitted_at?: string
  readonly asked?: number
  readonly next_due_at?: string
  readonly timeline: readonly {
    readonly at: string
    readonly kind: string
    readonly text: string
  }[]
}

const show = async (world: World, id: string): Promise<RecordView> =>
  viewOf<RecordView>(await read(world, showPayout(id)))

const payeeOf = async (world: World, id: string): Promise<unknown> =>
  viewOf(await read(world, showPayee(world.memory(), id)))

const texts = ({ timeline }: Pick<RecordView, 'timeline'>, kind: string): string[] =>
  timeline.filter((moment) => moment.kind === kind).map(({ text }) => text)

const at = (world: World, afterMs: number): string =>
  new Date(world.clock.now() + afterMs).toISOString()

runOnBothStores({
  'who else was paid there: the same account, also as another beneficiary': async (t, world) => {
    const first = await pay(world)
    const none = { payee: 'Nguyen Van A, account ending 6789', counted: 0, more: false }
    t.match(await payeeOf(world, first.id), none)
    await world.railReports(executed(first.id))
    const { account_number: _number, ...to } = aPayout().beneficiary!
    await pay(world, { beneficiary: { ...to, account_number: '9990006789' } })
    const second = await pay(world, { reference: 'sandbox:review' })
    t.match(await payeeOf(world, second.id), {
      ...{ counted: 1, counts: [{ status: 'completed', count: 1 }] },
      last: [{ id: first.id, status: 'completed', currency: 'VND', amount: '12500000' }],
    })
    t.match(viewOf(await read(world, listHeldPayouts({ with_payees: true }))), {
      data: [{ payee: { counted: 1, last: [{ id: first.id }] } }],
    })
    t.equal(codeOf(await read(world, showPayee(world.memory(), 'pout_none'))), 'payout_not_found')
  },

  'who else was paid there: intents of the same user': async (t, world) => {
    const lifecycle = await beginLifecycle(world)
    t.match(await payeeOf(world, lifecycle.id), { payee: '' })
    await captured(lifecycle)
    const next = await lifecycle.another()
    viewOf(await next.scan('37000'))
    t.match(await payeeOf(world, next.id), {
      ...{ payee: /./, counted: 1, more: false },
      last: [{ id: lifecycle.id, status: 'captured', currency: 'THB', amount: '36000' }],
    })
  },

  'a reversed payout shows its events and entries': async (t, world) => {
    await anEndpoint(world, { enabled_events: ['payout.reversed'] })
    const { id } = await pay(world)
    await world.railReports(executed(id))
    const settledAt = at(world, 0)
    world.clock.pass(MINUTE_MS)
    await world.railReports(executed(id, { status: 'returned', reportId: 'back' }))
    const record = await show(world, id)
    t.match(record, {
      tenant: 'demo_sandbox',
      payout: { ...(await see(world, id)), status: 'reversed' },
      submitted_at: settledAt,
      asked: 0,
    })
    t.equal(record.next_due_at, undefined, 'no timer is left')
    const [created, processing, completed, reversed] = world.events.map((event) => event.id)
    t.same(texts(record, 'event'), [
      `payout.created ${created}, sequence 1, settled at ${settledAt}`,
      `payout.processing ${processing}, sequence 2, settled at ${settledAt}`,
      `payout.completed ${completed}, sequence 3, settled at ${settledAt}`,
      `payout.reversed ${reversed}, sequence 4, open`,
    ])
    t.same(
      texts(record, 'entry').map((text) => text.split(', ')[0]),
      [
        'payout_accepted: demo_sandbox:VND:prefund -12533300',
        'payout_accepted: demo_sandbox:VND:reserved 12533300',
        'payout_completed: demo_sandbox:VND:reserved -12533300',
        'payout_completed: demo_sandbox:VND:rail_clearing 12500000',
        'payout_completed: demo_sandbox:VND:fees 33300',
        'payout_reversed: demo_sandbox:VND:rail_clearing -12500000',
        'payout_reversed: demo_sandbox:VND:prefund 12500000',
        'payout_reversed: demo_sandbox:VND:fees -33300',
        'payout_reversed: demo_sandbox:VND:prefund 33300',
      ],
    )
    const times = record.timeline.map((moment) => moment.at)
    t.same(times, [...times].sort(), 'in time order')
    t.notMatch(JSON.stringify(record), '0123456789')
    const members = ['asked', 'next_due_at', 'payout', 'submitted_at', 'tenant', 'timeline']
    const shown = [...members, 'traceparent']
    t.same(Object.keys(record).sort(), shown, 'without encrypted members')
    t.match(record, { payout: { beneficiary: { account_last4: '6789' } } })
  },

  'a held payout shows its review, then its wait for the rail': async (t, world) => {
    const { id } = await pay(world, { reference: 'sandbox:review' })
    const held = await show(world, id)
    t.match(held, { payout: { status: 'created' }, next_due_at: at(world, 259_200_000) })
    t.match(held, NOTHING_OF_THE_RAIL)
    world.setRail(false)
    await approve(world, id)
    const queued = await show(world, id)
    t.match(queued, { payout: { status: 'processing' }, next_due_at: at(world, 0) })
    t.match(queued, NOTHING_OF_THE_RAIL)
    t.same(texts(queued, 'action'), ['approve_payout by ann: a test'])
  },

  'an unanswered payout shows its inquiries, then the refusal': async (t, world) => {
    const { id } = await pay(world)
    const submitted_at = at(world, 0)
    for (const [asked, passes, next] of [
      [1, 5_000, 10_000],
      [2, 10_000, 45_000],
    ] as const) {
      await world.fireTimers(passes)
      const next_due_at = at(world, next)
      t.match(await show(world, id), { submitted_at, asked, next_due_at })
    }
    await world.railReports({ status: 'refused', id, reportId: 'no', refusal: 'account_closed' })
    const refused = await show(world, id)
    t.match(refused, { payout: { failure: { code: 'account_closed', source: 'rail' } }, asked: 2 })
    t.equal(refused.next_due_at, undefined)
  },

  'a payout shows its discrepancy and settlement': async (t, world) => {
    const { id } = await pay(world)
    await world.run(resolvePayout(OPERATOR, id, { outcome: 'failed', evidence: EVIDENCE }))
    await world.railReports(executed(id))
    const [found] = await discrepanciesOf(world)
    t.same(texts(await show(world, id), 'discrepancy'), [`${found?.id}: executed_after_end, open`])
    const undo = { settlement: 'undo', evidence: EVIDENCE }
    await world.run(resolveDiscrepancy(OPERATOR, found!.id, undo))
    const record = await show(world, id)
    t.same(texts(record, 'discrepancy'), [`${found?.id}: executed_after_end, undo`])
    t.same(texts(record, 'action'), [
      `resolve_payout_failed by ann: a test (${EVIDENCE})`,
      `resolve_discrepancy_undo ${found?.id} by ann: a test (${EVIDENCE})`,
    ])
    const suspended = texts(record, 'entry').filter((text) => text.includes(':suspense '))
    t.same(suspended, [
      `discrepancy_paid ${found?.id}: demo_sandbox:VND:suspense -12500000, balance -12500000`,
      `discrepancy_returned ${found?.id}: demo_sandbox:VND:suspense 12500000, balance 0`,
    ])
  },

  'each history is separate': async (t, world) => {
    const [{ id }, other] = [await pay(world), await pay(world)]
    await world.railReports(executed(other.id))
    t.equal(texts(await show(world, id), 'event').length, 2)
    t.equal(codeOf(await read(world, showPayout('pout_x'))), 'payout_not_found')
    const lifecycle = await intentAt(world, authorized)
    t.equal(codeOf(await read(world, showPayout(lifecycle.id))), 'payout_not_found')
    t.equal(codeOf(await read(world, showIntent(id))), 'payment_intent_not_found')
    const intent = viewOf<RecordView>(await read(world, showIntent(lifecycle.id)))
    const authorization = /^payment_intent\.authorized evt_\S+, sequence \d+, settled at /
    t.match(texts(intent, 'event'), [authorization])
  },
})
