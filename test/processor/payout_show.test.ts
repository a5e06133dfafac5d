/** A payout as operators see it: the state of its instruction and its history. */
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { resolvePayout } from '../../src/processor/commands/payouts/payout_resolve.js'
import { showIntent } from '../../src/processor/queries/intent_show.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import { showPayee } from '../../src/processor/queries/payee_show.js'
import { showPayout } from '../../src/processor/queries/payout_show.js'
import { aPayout } from '../support/requests.js'
import { anEndpoint } from './webhook_endpoints.js'
import { codeOf, viewOf, type World } from '../support/world.js'
import { authorized, beginLifecycle, captured, intentAt } from './intent_lifecycle.js'
import {
  discrepanciesOf,
  executed,
  OPERATOR,
  pay,
  read,
  see,
  runOnBothStores,
  approve,
} from './scenarios.js'

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
