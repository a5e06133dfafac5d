/** After a release: intents that equal an orphan execution are held, and what ends that. */
import t, { type Test } from 'tap'
import { DAY, SECOND } from '../../../src/base/clock.js'
import {
  approveIntent,
  rejectIntent,
} from '../../../src/processor/commands/intents/intent_review.js'
import { inquire } from '../../../src/processor/commands/operators/inquire.js'
import { pauseSubmissions } from '../../../src/processor/commands/operators/submissions_pause.js'
import { applyRailReport } from '../../../src/processor/commands/rail_reports/rail_report_apply.js'
import { listHeldIntents } from '../../../src/processor/queries/held_intent_list.js'
import type { OrphanExecution__Output as Execution } from '../../../protos/types/causeway/operator/v1/OrphanExecution.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import type { RailReport } from '../../../src/rails/rail.js'
import { createRailTable, sandboxRail } from '../../../src/rails/rail_table.js'
import { billTemplate, thai } from '../../qr/payloads.js'
import { codeOf, createWorld, viewOf, type World } from '../../support/world.js'
import { beginLifecycle, THAI, intentAt, scanned, authorized } from '../intent_lifecycle.js'
import { balanceOf, OPERATOR, pay, readAll, runOnBothStores, types, approve } from '../scenarios.js'
import {
  execution,
  without,
  restored,
  compared,
  inquired,
  instructed,
  orphans,
  reasonsOf,
  recalled,
  resolve,
} from './orphans.js'

const ofThai = (over: Partial<Execution> = {}): Execution => ({
  ...without(execution(), 'reference'),
  instruction_id: 'pi_lost',
  purpose: 'qr_payment',
  destination_account: THAI.account,
  amount: '36000',
  currency: 'THB',
  ...over,
})

runOnBothStores({
  'a confirmed intent that equals an accepted instruction is held': async (t, world) => {
    await restored(world, ofThai({ transaction_id: '', state: 'accepted' }))
    const lifecycle = await intentAt(world, scanned)
    t.match(viewOf(await lifecycle.confirm()), { status: 'authorized' })
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ state: 'accepted', held: [lifecycle.id] }])
  },

  'an intent that the rail does not have is compared before it is sent again': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    await restored(world, ofThai())
    const missing = { id: lifecycle.id, reportId: null, status: 'not_found' } as const
    await world.railReports(missing)
    await world.railReports(missing)
    t.same(instructed(world), [lifecycle.id], 'it is not sent again')
    t.match(await orphans(world), [{ held: [lifecycle.id] }])
    await world.run(approveIntent(OPERATOR, lifecycle.id, ['pi_lost']))
    t.same(instructed(world), [lifecycle.id, lifecycle.id])
  },

  'blanks around the references of a code are none in a statement': async (t, world) => {
    const biller = '099400016550100'
    const bill = { destination_account: biller, reference: 'INV 7   B' }
    await restored(world, ofThai(bill))
    const lifecycle = await beginLifecycle(world)
    const bills = billTemplate(biller, ['02', ' INV 7  '], ['03', 'B '])
    const qr_payload = thai(['29', ''], bills)
    viewOf(await lifecycle.scan('36000', { qr_payload }))
    viewOf(await lifecycle.confirm())
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ held: [lifecycle.id] }])
  },

  'a pause does not shorten the time of a reviewer': async (t, world) => {
    const lifecycle = await intentAt(world, authorized)
    await restored(world, ofThai())
    const missing = { id: lifecycle.id, reportId: null, status: 'not_found' } as const
    await world.railReports(missing)
    await world.run(pauseSubmissions(OPERATOR, 'corridor th_promptpay'))
    await world.railReports(missing)
    await world.fireTimers(2 * DAY)
    t.match(await lifecycle.see(), { status: 'authorized' })
    t.match(await orphans(world), [{ held: [lifecycle.id] }])
  },

  'the start after a release holds what is not submitted and equals an orphan': async (
    t,
    world,
  ) => {
    world.setRail(false)
    const reviewed = await pay(world, { reference: 'sandbox:review' })
    const waiting = await pay(world)
    const other = await pay(world, { reference: 'invoice 2' })
    const lifecycle = await intentAt(world, authorized)
    await restored(
      world,
      execution(),
      execution({ instruction_id: 'pout_reviewed', reference: 'sandbox:review' }),
      ofThai(),
    )
    await compared(world)
    await compared(world)
    const held = (await orphans(world)).flatMap((orphan) => orphan.held)
    t.same(held.toSorted(), [reviewed.id, waiting.id, lifecycle.id].toSorted())
    world.setRail(true)
    await world.fireTimers(SECOND)
    t.same(instructed(world), [other.id])
    await world.run(approveIntent(OPERATOR, lifecycle.id, ['pi_lost']))
    await approve(world, reviewed.id, ['pout_reviewed'])
    t.same(instructed(world), [other.id, lifecycle.id, reviewed.id])
  },

  'an intent confirmed before the orphan was known is held when it is due': async (t, world) => {
    world.setRail(false)
    const lifecycle = await intentAt(world, authorized)
    await restored(world, ofThai())
    world.setRail(true)
    await world.fireTimers(SECOND)
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ held: [lifecycle.id] }])
    await world.fireTimers(DAY)
    t.equal((await lifecycle.see()).status, 'authorized', 'it waits for a reviewer')
    await resolve(world, 'pi_lost', lifecycle.id)
    t.equal((await lifecycle.see()).status, 'captured')
    t.same(instructed(world), [])
  },

  'an intent that lost books had submitted is not cancelled, and ends by the rail': async (
    t,
    world,
  ) => {
    world.setRail(false)
    const lifecycle = await intentAt(world, authorized)
    await restored(world, ofThai({ instruction_id: lifecycle.id }))
    t.equal(codeOf(await lifecycle.cancel()), 'payment_intent_not_cancelable')
    await compared(world)
    world.setRail(true)
    await world.fireTimers(DAY)
    t.equal((await lifecycle.see()).status, 'authorized', 'it does not fail at its deadline')
    t.same(instructed(world), [])
    t.same([...new Set(inquired(world))], [lifecycle.id])
    t.equal(codeOf(await lifecycle.cancel()), 'payment_intent_not_cancelable')
    await lifecycle.executed()
    t.equal((await lifecycle.see()).status, 'captured')
    t.match(await orphans(world), [])
    t.same(await reasonsOf(world), [])
  },

  'a confirmed intent that matches an orphan is held and can be approved': async (t, world) => {
    await restored(world, ofThai())
    const lifecycle = await intentAt(world, scanned)
    t.match(viewOf(await lifecycle.confirm()), { status: 'authorized' })
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ held: [lifecycle.id] }])
    const held = await readAll(world, (page) => listHeldIntents({ limit: 1, ...page }))
    const found = { intent_id: lifecycle.id, currency: 'THB', amount: '36000', orphan: 'pi_lost' }
    t.match(held, [found])
    await world.fireTimers(DAY)
    const { status } = await lifecycle.see()
    t.equal(status, 'authorized', 'it is held beyond the submission deadline')
    const approved = (...orphans: string[]) =>
      world.run(approveIntent(OPERATOR, lifecycle.id, orphans))
    t.match(await approved(), { code: 'orphan_execution_equal', orphans: ['pi_lost'] })
    t.same(instructed(world), [])
    t.match(viewOf(await approved('pi_lost')), { status: 'authorized' })
    t.same(instructed(world), [lifecycle.id])
    t.equal(codeOf(await approved()), 'payment_intent_not_held')
    await lifecycle.executed()
    t.equal((await lifecycle.see()).status, 'captured')
    t.match(await orphans(world), [{ held: [] }])
  },

  'a held intent fails when it is rejected or not reviewed in time': async (t, world) => {
    await restored(world, ofThai())
    const funds = await balanceOf(world, 'USD')
    const rejected = await intentAt(world, authorized)
    t.match(viewOf(await world.run(rejectIntent(OPERATOR, rejected.id))), {
      status: 'failed',
      failure: { code: 'payment_review_rejected', source: 'service' },
    })
    const forgotten = await intentAt(world, authorized)
    await world.fireTimers(4 * DAY)
    t.match(await forgotten.see(), { status: 'failed', failure: { code: 'review_expired' } })
    t.same(await balanceOf(world, 'USD'), funds)
    t.same(instructed(world), [])
  },

  'a matched intent is refunded under the id that the rail has executed': async (t, world) => {
    const funds = await balanceOf(world, 'USD')
    await restored(world, ofThai())
    const lifecycle = await intentAt(world, authorized)
    await resolve(world, 'pi_lost', lifecycle.id)
    t.equal(codeOf(await lifecycle.refund()), 'ok')
    await world.fireTimers(DAY)
    await world.run(inquire(OPERATOR, lifecycle.id))
    const sent = recalled(world)
    t.ok(sent.length > 2, 'at once, by the timer and by an operator')
    t.same([...new Set(sent)], ['pi_lost'])

    const about = { id: 'pi_lost' as never, reportId: 'rr_1' }
    await world.railReports({ ...about, status: 'recall_refused' })
    t.match(await lifecycle.see(), { refund: { status: 'refused' } })
    t.equal(codeOf(await lifecycle.refund()), 'ok')
    await world.railReports({
      ...{ ...about, reportId: 'rr_2', status: 'returned', transactionId: 'TX9' },
      ...{ amount: 36_000n, currency: 'THB', destinationAccount: THAI.account },
    })
    t.match(await lifecycle.see(), { status: 'refunded' })
    t.same(await balanceOf(world, 'USD'), funds)
    t.same(await reasonsOf(world), [])
    t.same(instructed(world), [])
  },

  'a held intent can be matched or cancelled': async (t, world) => {
    await restored(world, ofThai())
    const matched = await intentAt(world, authorized)
    const cancelled = await intentAt(world, authorized)
    t.match(viewOf(await cancelled.cancel()), { status: 'cancelled' })
    await resolve(world, 'pi_lost', matched.id)
    t.equal((await matched.see()).status, 'captured')
    t.same(instructed(world), [])
    t.equal(types(world).at(-1), 'payment_intent.captured')
  },
})

/** Queries and recalls, with the rail that each names. */
const sentToRails = (world: World): string[] =>
  world.railInstructions.flatMap((each) =>
    each.kind === 'query' || each.kind === 'recall' ? [`${each.kind} ${each.id} ${each.rail}`] : [],
  )

const OTHER = { ...sandboxRail(true), name: 'other' }
const TWO_RAILS = { rules: { rails: createRailTable([sandboxRail(true), OTHER]) } }
const ABOUT = { id: 'pi_lost' as never, transactionId: 'TX9', amount: 36_000n, currency: 'THB' }
const MOVED = { ...ABOUT, destinationAccount: THAI.account, reportId: null }
const RETURNED = { ...MOVED, status: 'returned', reportId: 'rr_1' } as const
const EXECUTED = { ...MOVED, status: 'executed' } as const
const MISSING = { ...MOVED, status: 'not_found' } as const
const reportedBy = (world: World, rail: string, report: RailReport): Promise<Answer> =>
  world.run(applyRailReport(report, 0, rail))

/** A world with two rails whose books lack an execution. */
async function restoredWithTwoRails(t: Test): Promise<World> {
  const world = await createWorld(t, TWO_RAILS)
  await restored(world, ofThai())
  return world
}

t.test('a matched intent is refunded by the rail that has executed it', async (t) => {
  const world = await restoredWithTwoRails(t)
  await reportedBy(world, 'sandbox', MISSING)
  await reportedBy(world, 'other', EXECUTED)
  await world.rebuild()
  const lifecycle = await intentAt(world, authorized)
  await resolve(world, 'pi_lost', lifecycle.id)
  t.equal(codeOf(await lifecycle.refund()), 'ok')
  t.match(sentToRails(world), ['recall pi_lost other'])
  await reportedBy(world, 'other', RETURNED)
  t.match(await lifecycle.see(), { status: 'refunded' })
  t.same(await reasonsOf(world), [])
})

t.test('an intent that is matched before its rail is known is recalled once it is', async (t) => {
  const world = await restoredWithTwoRails(t)
  const lifecycle = await intentAt(world, authorized)
  await resolve(world, 'pi_lost', lifecycle.id)
  t.equal(codeOf(await lifecycle.refund()), 'ok')
  t.same(sentToRails(world), ['query pi_lost sandbox', 'query pi_lost other'])
  await reportedBy(world, 'sandbox', MISSING)
  await reportedBy(world, 'sandbox', { ...MOVED, status: 'recall_refused' })
  await reportedBy(world, 'other', EXECUTED)
  await reportedBy(world, 'sandbox', MISSING)
  await world.rebuild()
  await world.fireTimers(5 * SECOND)
  t.same(sentToRails(world).slice(2), ['recall pi_lost other'])
  t.same(await reasonsOf(world), [], 'a rail that does not have it says nothing')
  await reportedBy(world, 'other', RETURNED)
  t.match(await lifecycle.see(), { status: 'refunded' })
  t.same(await reasonsOf(world), [])
})

t.test('an orphan execution has one rail', async (t) => {
  const world = await restoredWithTwoRails(t)
  await reportedBy(world, 'other', EXECUTED)
  await reportedBy(world, 'sandbox', MISSING)
  t.same(await reasonsOf(world), [])
  await reportedBy(world, 'sandbox', RETURNED)
  t.same(await reasonsOf(world), ['other_rail'])
  t.match(await orphans(world), [{ state: 'executed' }])
})
