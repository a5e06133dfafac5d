/** After a release: payouts that equal an orphan execution are held, and what ends that. */
import { DAY, SECOND } from '../../../src/base/clock.js'
import { inquire } from '../../../src/processor/commands/operators/inquire.js'
import { resolveOrphan } from '../../../src/processor/commands/operators/orphan_resolve.js'
import { pauseSubmissions } from '../../../src/processor/commands/operators/submissions_pause.js'
import { listHeldPayouts } from '../../../src/processor/queries/held_payout_list.js'
import { applyRailReport } from '../../../src/processor/commands/rail_reports/rail_report_apply.js'
import type { Answer } from '../../../src/processor/cycle/answer.js'
import { SANDBOX_RAIL, type RailReport } from '../../../src/rails/rail.js'
import { codeOf, viewOf, type World } from '../../support/world.js'
import {
  balanceOf,
  executed,
  OPERATOR,
  operatorLogOf,
  pay,
  payout,
  readAll,
  see,
  runOnBothStores,
  approve,
  reject,
  sentKinds,
} from '../scenarios.js'
import {
  execution,
  accepted,
  LOST,
  without,
  restored,
  compared,
  inquired,
  instructed,
  orphans,
  reasonsOf,
  resolve,
} from './orphans.js'

/** The answer of the rail about an instruction that another shard has sent. */
const answeredElsewhere = (world: World, report: RailReport): Promise<Answer> =>
  world.run(applyRailReport({ ...report, shard: 'books_2' }, 0, SANDBOX_RAIL, true))

const toAccount = (account_number: string) => ({
  beneficiary: { ...payout().beneficiary!, account_number },
})

runOnBothStores({
  'a payout that matches an orphan execution is held': async (t, world) => {
    t.match(viewOf(await restored(world, execution())), { added: 1, known: 0 })
    const held = await pay(world)
    t.equal(held.status, 'created')
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ instruction_id: 'pout_lost', held: [held.id] }])
    t.match(await readAll(world, (page) => listHeldPayouts(page)), [{ orphan: 'pout_lost' }])
    t.equal((await pay(world, { reference: 'invoice 2' })).status, 'processing')
    t.equal((await pay(world, toAccount('0123456780'))).status, 'processing')
    const rows = JSON.stringify(world.memory().orphans.get('pout_lost'), (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    t.notMatch(rows, '0123456789', 'the account number is not stored in the clear')
  },

  'a payout that equals an accepted instruction is held until the rail ends it': async (
    t,
    world,
  ) => {
    t.match(viewOf(await restored(world, accepted())), { added: 1, known: 0 })
    const held = await pay(world)
    t.equal(held.status, 'created')
    t.same(instructed(world), [])
    t.match(await orphans(world), [{ state: 'accepted', held: [held.id] }])
    t.equal(codeOf(await resolve(world, 'pout_lost', held.id)), 'orphan_execution_not_executed')

    await world.railReports({ ...LOST, status: 'executed', amount: 1n })
    t.match(await orphans(world), [{ state: 'accepted' }], 'of another amount')
    await world.railReports({ ...LOST, status: 'executed' })
    await world.railReports({ ...LOST, status: 'executed' })
    t.match(await orphans(world), [{ state: 'executed', transaction_id: 'TX9' }])
    t.ok(sentKinds(world).includes('acknowledge'))
    t.equal((await pay(world)).status, 'created', 'it holds as before')
    t.match(viewOf(await resolve(world, 'pout_lost', held.id)), { status: 'matched' })
    t.match(await see(world, held.id), { status: 'completed', rail: { transaction_id: 'TX9' } })
    await world.railReports({ ...LOST, status: 'executed' })
    await world.railReports({ ...LOST, status: 'executed', transactionId: 'TX8' })
    t.same(await reasonsOf(world), ['execution_differs', 'executed_again'])
  },

  'an accepted instruction of another shard is matched once it has ended': async (t, world) => {
    await restored(world, accepted())
    const held = await pay(world)
    await answeredElsewhere(world, { ...LOST, status: 'executed', reportId: null })
    t.match(await orphans(world), [{ state: 'executed', held: [held.id] }])
    t.match(viewOf(await resolve(world, 'pout_lost', held.id)), { matched_to: held.id })
    t.equal((await see(world, held.id)).status, 'completed')
    await answeredElsewhere(world, { ...LOST, status: 'returned', reportId: null })
    t.equal((await see(world, held.id)).status, 'reversed')
    t.same(await reasonsOf(world), [])
  },

  'the end of an instruction that another shard has matched is not for this one': async (
    t,
    world,
  ) => {
    await restored(world, accepted())
    await resolve(world, 'pout_lost')
    await answeredElsewhere(world, { ...LOST, status: 'executed', reportId: null })
    await answeredElsewhere(world, { ...LOST, id: 'pout_other' as never, status: 'executed' })
    t.same(await reasonsOf(world), [])
    t.match(await orphans(world, true), [{ status: 'resolved', state: 'accepted' }])
  },

  'the return of a matched execution reverses its payout, once': async (t, world) => {
    const before = await balanceOf(world)
    await restored(world, execution())
    const { id } = await pay(world)
    await resolve(world, 'pout_lost', id)
    await world.railReports({ ...LOST, status: 'returned' })
    await world.railReports({ ...LOST, status: 'returned' })
    t.match(await see(world, id), { status: 'reversed' })
    t.same(await balanceOf(world), before)
    t.same(await reasonsOf(world), [])
    await world.railReports({ ...LOST, id: id as never, status: 'returned', transactionId: 'TX8' })
    const reasons = await reasonsOf(world)
    t.same(reasons.toSorted(), ['executed_again', 'returned_again'], 'under its own id')
  },

  'an instruction that ends without a payment holds nothing further': async (t, world) => {
    const second = { instruction_id: 'pout_2', reference: 'invoice 2' }
    await restored(
      world,
      accepted(),
      accepted(second),
      execution({ ...second, instruction_id: 'pout_3', reference: 'invoice 3' }),
    )
    const held = await pay(world)
    await world.railReports({ ...LOST, status: 'refused', refusal: 'rejected' })
    await world.railReports({ ...LOST, id: 'pout_2' as never, status: 'returned' })
    await world.railReports({ ...LOST, id: 'pout_3' as never, status: 'returned' })
    t.match(await orphans(world), [
      { instruction_id: 'pout_2', state: 'returned', transaction_id: 'TX9' },
      { instruction_id: 'pout_3', state: 'returned' },
      { instruction_id: 'pout_lost', state: 'refused', held: [held.id] },
    ])
    t.equal((await see(world, held.id)).status, 'created', 'a held payment waits for a reviewer')
    t.equal((await pay(world)).status, 'processing')
    t.equal((await pay(world, { reference: 'invoice 2' })).status, 'processing')
    t.equal((await pay(world, { reference: 'invoice 3' })).status, 'processing')
    await world.rebuild()
    t.equal((await pay(world)).status, 'processing', 'after a restart too')
    t.equal(codeOf(await resolve(world, 'pout_lost', held.id)), 'orphan_execution_not_executed')
    t.match(viewOf(await resolve(world, 'pout_lost')), { status: 'resolved' })
    t.same(await reasonsOf(world), [])
    await world.railReports({ ...LOST, status: 'executed' })
    t.same(await reasonsOf(world), ['executed_after_end'])
  },

  'the execution of a dismissed instruction is a discrepancy': async (t, world) => {
    await restored(world, accepted())
    t.match(viewOf(await resolve(world, 'pout_lost')), { status: 'resolved', state: 'accepted' })
    t.equal((await pay(world)).status, 'processing')
    await world.railReports({ ...LOST, status: 'executed' })
    t.match(await orphans(world, true), [{ state: 'executed', transaction_id: 'TX9' }])
    t.same(await reasonsOf(world), ['executed_after_end'])
  },

  'a value missing in the statement matches any payment': async (t, world) => {
    const partial = without(
      execution(),
      'environment',
      'purpose',
      'destination_account',
      'reference',
    )
    await restored(world, partial)
    t.equal((await pay(world, { reference: 'any' })).status, 'created')
    t.equal((await pay(world, { amount: '12500001' })).status, 'processing')
  },

  'reference and destination alike hold a payout of any amount': async (t, world) => {
    await restored(world, execution({ amount: '12499000' }))
    const held = await pay(world)
    t.equal(held.status, 'created', 'its fee was another one')
    t.match(await orphans(world), [{ held: [held.id] }])
    t.equal(codeOf(await resolve(world, 'pout_lost', held.id)), 'orphan_execution_differs')
    t.equal((await pay(world, { reference: 'invoice 2' })).status, 'processing')
    t.equal((await pay(world, toAccount('0123456780'))).status, 'processing')
    t.same(instructed(world).length, 2)
  },

  'an account that a spreadsheet has changed, or that is masked, is that of the payment': async (
    t,
    world,
  ) => {
    const stated = ['123456789', '1.23457E+08', 'XXXXXX6789', '012-345 6789']
    for (const [index, destination_account] of stated.entries()) {
      const reference = `invoice of ${index}`
      const line = { instruction_id: `pout_${index}`, destination_account, reference }
      await restored(world, execution(line))
      t.equal((await pay(world, { reference })).status, 'created', destination_account)
    }
    const line = { instruction_id: 'pout_other', destination_account: '23456789' }
    await restored(world, execution({ ...line, reference: 'invoice of others' }))
    t.equal((await pay(world, { reference: 'invoice of others' })).status, 'processing')
  },

  'a reference is that of the payment as banks write it': async (t, world) => {
    const long = 'Invoice 2026-11 of the café, part 1'
    const stated = ['INVOICE/1', 'INVOICE 2026 11 OF THE CAFE', null, '-']
    for (const [index, reference] of stated.entries()) {
      const account = { destination_account: `012345678${index}` }
      const line = execution({ instruction_id: `pout_${index}`, ...account })
      await restored(
        world,
        reference === null ? without(line, 'reference') : { ...line, reference },
      )
    }
    const heldOf = async (index: number, reference: string): Promise<string> =>
      (await pay(world, { reference, ...toAccount(`012345678${index}`) })).status
    t.equal(await heldOf(0, 'invoice 1'), 'created')
    t.equal(await heldOf(0, 'invoice 10'), 'processing', 'a short one is not cut')
    t.equal(await heldOf(1, long), 'created')
    t.equal(await heldOf(1, 'Invoice 2026-12 of the café'), 'processing')
    t.equal(await heldOf(2, long), 'created')
    t.equal(await heldOf(3, long), 'created', 'one without letters and digits says nothing')
  },

  'the amount counts where the statement has no reference': async (t, world) => {
    await restored(world, without(execution({ amount: '12499000' }), 'reference'))
    t.equal((await pay(world)).status, 'processing')
  },

  'an orphan of another environment does not match': async (t, world) => {
    await restored(world, execution({ environment: 'production' }))
    t.equal((await pay(world)).status, 'processing')
  },

  'a held payout can be approved': async (t, world) => {
    await restored(world, execution())
    const { id } = await pay(world)
    await approve(world, id, ['pout_lost'])
    t.same(instructed(world), [id])
    t.equal((await pay(world)).status, 'created', 'the next matching payout is held too')
  },

  'an approval names each equal orphan that is open': async (t, world) => {
    await restored(
      world,
      execution(),
      accepted({ instruction_id: 'pout_2' }),
      execution({ instruction_id: 'pout_3', amount: '12499000' }),
      execution({ instruction_id: 'pout_4', reference: 'invoice 2' }),
    )
    const { id } = await pay(world)
    const equal = ['pout_2', 'pout_lost', 'pout_3']
    for (const named of [[], ['pout_4'], equal.slice(1), equal.slice(0, 2)]) {
      const refused = await approve(world, id, named)
      const orphans = equal.filter((each) => !named.includes(each))
      t.match(refused, { code: 'orphan_execution_equal', orphans })
      t.equal((refused as unknown as { orphans: unknown[] }).orphans.length, orphans.length)
    }
    t.same(instructed(world), [])
    t.equal((await see(world, id)).status, 'created')
    t.equal(codeOf(await approve(world, id, equal)), 'ok')
    t.same(instructed(world), [id])
  },

  'one that is dismissed, or was refused by the rail, is not named': async (t, world) => {
    await restored(world, execution(), accepted({ instruction_id: 'pout_2' }))
    const { id } = await pay(world)
    await resolve(world, 'pout_lost')
    const about = { ...LOST, id: 'pout_2' as never }
    await world.railReports({ ...about, status: 'refused', refusal: 'rejected' })
    t.equal(codeOf(await approve(world, id)), 'ok')
    t.same(instructed(world), [id])
  },

  'of several equal payouts each orphan pays one, and no other is sent': async (t, world) => {
    await restored(world, execution(), execution({ instruction_id: 'pout_2' }))
    const [first, second, third] = [await pay(world), await pay(world), await pay(world)]
    const approved = async (id: string, ...named: string[]) =>
      codeOf(await approve(world, id, named))
    await resolve(world, 'pout_lost', first.id)
    t.equal(codeOf(await resolve(world, 'pout_lost', second.id)), 'orphan_execution_resolved')
    t.equal(await approved(second.id, 'pout_lost'), 'orphan_execution_equal', 'one is open')
    t.equal(codeOf(await resolve(world, 'pout_2', first.id)), 'orphan_execution_differs')
    t.equal(codeOf(await resolve(world, 'pout_2', second.id)), 'ok')
    t.match(await approve(world, third.id), {
      code: 'orphan_execution_equal',
      orphans: [`pout_2 (matched to ${second.id})`],
    })
    t.same(instructed(world), [])
    t.equal(await approved(third.id, 'pout_2'), 'ok', 'it is a payment of its own')
    t.same(instructed(world), [third.id])
  },

  'the account counts in a match, the reference does not': async (t, world) => {
    const elsewhere = { instruction_id: 'pout_2', destination_account: '0123456780' }
    await restored(
      world,
      execution(),
      execution(elsewhere),
      execution({ instruction_id: 'pout_3', reference: 'invoice 3' }),
      without(execution({ instruction_id: 'pout_4' }), 'destination_account'),
    )
    const [first, second] = [await pay(world), await pay(world)]
    t.equal(codeOf(await resolve(world, 'pout_2', first.id)), 'orphan_execution_differs')
    t.equal(codeOf(await resolve(world, 'pout_3', first.id)), 'ok')
    t.equal(codeOf(await resolve(world, 'pout_4', second.id)), 'ok', 'its account is unknown')
    t.same(instructed(world), [])
  },

  'a held payout can be matched': async (t, world) => {
    const before = await balanceOf(world)
    const other = { instruction_id: 'pout_2', amount: '5', reference: 'invoice 2' }
    await restored(world, execution(), execution(other))
    const { id, total } = await pay(world)
    t.equal(codeOf(await resolve(world, 'pout_2', id)), 'orphan_execution_differs')
    t.equal(codeOf(await resolve(world, 'pout_none')), 'orphan_execution_not_found')
    t.equal(codeOf(await resolve(world, 'pout_lost', 'pout_none')), 'payout_not_found')
    t.match(viewOf(await resolve(world, 'pout_lost', id)), { status: 'matched', matched_to: id })
    t.match(await see(world, id), { status: 'completed', rail: { transaction_id: 'TX9' } })
    t.same(instructed(world), [], 'nothing is submitted')
    t.same(await balanceOf(world), {
      available: String(BigInt(before.available) - BigInt(total)),
      reserved: '0',
    })
    const { length } = await operatorLogOf(t, 'pout_lost')
    t.match(viewOf(await resolve(world, 'pout_lost', id)), { status: 'matched', matched_to: id })
    t.equal((await operatorLogOf(t, 'pout_lost')).length, length, 'a repeat changes nothing')
    t.equal(codeOf(await resolve(world, 'pout_lost')), 'orphan_execution_resolved')
    t.match(await orphans(world, true), [{ instruction_id: 'pout_lost' }])
    t.equal((await pay(world)).status, 'processing', 'a matched orphan holds no further payment')
  },

  'a payout accepted before the orphan was known is held when it is due': async (t, world) => {
    world.setRail(false)
    const { id } = await pay(world)
    await restored(world, execution())
    world.setRail(true)
    await world.fireTimers(SECOND)
    t.same(instructed(world), [])
    t.equal((await see(world, id)).status, 'processing', 'its public state stays')
    t.match(await orphans(world), [{ held: [id] }])
    t.match(await readAll(world, (page) => listHeldPayouts(page)), [
      { orphan: 'pout_lost', payout: { id, status: 'processing' } },
    ])
    await world.fireTimers(DAY)
    t.same(instructed(world), [], 'it waits for a reviewer')
    const refused = await approve(world, id)
    t.match(refused, { code: 'orphan_execution_equal', orphans: ['pout_lost'] })
    t.equal(codeOf(await approve(world, id, ['pout_lost'])), 'ok')
    t.same(instructed(world), [id])
    t.equal(codeOf(await approve(world, id)), 'payout_not_held')
    t.match(await orphans(world), [{ held: [] }])
    t.match(await readAll(world, (page) => listHeldPayouts(page)), [])
    await world.railReports(executed(id))
    t.equal((await see(world, id)).status, 'completed')
  },

  'a payout approved while the rail is down is submitted once it is up': async (t, world) => {
    world.setRail(false)
    const { id } = await pay(world)
    await restored(world, execution())
    await compared(world)
    await approve(world, id, ['pout_lost'])
    world.setRail(true)
    await world.fireTimers(SECOND)
    t.same(instructed(world), [id])
  },

  'a payout held in processing can be rejected, matched, or not reviewed in time': async (
    t,
    world,
  ) => {
    const funds = await balanceOf(world)
    world.setRail(false)
    const [rejected, matched, forgotten] = [await pay(world), await pay(world), await pay(world)]
    await restored(world, execution())
    await compared(world)
    world.setRail(true)
    t.match(viewOf(await reject(world, rejected.id)), {
      status: 'failed',
      failure: { code: 'review_rejected', source: 'review' },
    })
    t.match(viewOf(await resolve(world, 'pout_lost', matched.id)), { matched_to: matched.id })
    t.match(await see(world, matched.id), { status: 'completed', rail: { transaction_id: 'TX9' } })
    await world.fireTimers(4 * DAY)
    const expired = { status: 'failed', failure: { code: 'review_expired' } }
    t.match(await see(world, forgotten.id), expired)
    t.same(instructed(world), [])
    t.same(await balanceOf(world), {
      available: String(BigInt(funds.available) - BigInt(matched.total)),
      reserved: '0',
    })
  },

  'an instruction that the rail does not have is compared before it is sent again': async (
    t,
    world,
  ) => {
    const { id } = await pay(world)
    await restored(world, execution())
    t.same(instructed(world), [id])
    await world.railReports({ id: id as never, reportId: null, status: 'not_found' })
    t.same(instructed(world), [id], 'it is not sent again')
    await world.railReports({ id: id as never, reportId: null, status: 'not_found' })
    t.match(await orphans(world), [{ held: [id] }])
    await approve(world, id, ['pout_lost'])
    t.same(instructed(world), [id, id])
  },

  'a pause does not shorten the time of a reviewer': async (t, world) => {
    const { id } = await pay(world)
    await restored(world, execution())
    const missing = { id: id as never, reportId: null, status: 'not_found' } as const
    await world.railReports(missing)
    await world.run(pauseSubmissions(OPERATOR, 'rail sandbox'))
    t.equal(codeOf(await world.run(inquire(OPERATOR, id))), 'ok')
    await world.railReports(missing)
    await world.fireTimers(2 * DAY)
    t.match(await see(world, id), { status: 'processing', failure: null })
    t.match(await orphans(world), [{ held: [id] }])
    await world.fireTimers(DAY)
    t.match(await see(world, id), { status: 'failed', failure: { code: 'review_expired' } })
  },

  'a payout that lost books had submitted is asked about, and not held': async (t, world) => {
    world.setRail(false)
    const { id } = await pay(world)
    await restored(world, execution({ instruction_id: id }))
    await compared(world)
    world.setRail(true)
    await world.fireTimers()
    t.same(instructed(world), [])
    t.same(inquired(world), [id])
    t.match(await orphans(world), [])
    t.match(await orphans(world, true), [{ instruction_id: id, status: 'resolved' }])
    t.match(viewOf(await restored(world, execution({ instruction_id: id }))), { added: 0 })
    await world.railReports(executed(id))
    t.equal((await see(world, id)).status, 'completed')
    t.same(await reasonsOf(world), [])
  },

  'a payout under review that lost books had approved ends by its own execution': async (
    t,
    world,
  ) => {
    const { id } = await pay(world, { reference: 'sandbox:review' })
    const own = execution({ instruction_id: id, reference: 'sandbox:review' })
    await restored(world, own, execution())
    await compared(world)
    t.match(await orphans(world), [{ held: [id] }, { instruction_id: 'pout_lost', held: [] }])
    const refused = await reject(world, id)
    t.match(refused, { code: 'orphan_execution_equal', orphans: [id] })
    await world.fireTimers(4 * DAY)
    t.equal((await see(world, id)).status, 'created', 'its review does not end')
    const other = await pay(world)
    t.equal(codeOf(await resolve(world, id, other.id)), 'orphan_execution_differs')
    t.equal(codeOf(await resolve(world, 'pout_lost', id)), 'orphan_execution_differs')
    await world.railReports(executed(id, { transactionId: 'TX9' }))
    t.same(await reasonsOf(world), [], 'a report is about the orphan execution')
    t.match(viewOf(await resolve(world, id, id)), { status: 'matched' })
    t.equal((await see(world, id)).status, 'completed')
    t.equal(codeOf(await reject(world, other.id)), 'ok')
    t.same(instructed(world), [])
  },

  'a dismissed orphan holds no further payment': async (t, world) => {
    await restored(world, execution())
    const held = await pay(world)
    const unproven = { resolution: 'dismissed', paymentId: undefined, evidence: ' ' }
    const refused = await world.run(resolveOrphan(OPERATOR, 'pout_lost', unproven))
    t.equal(codeOf(refused), 'invalid_request', 'without evidence')
    t.match(viewOf(await resolve(world, 'pout_lost')), { status: 'resolved' })
    t.equal((await see(world, held.id)).status, 'created', 'held payments stay held')
    t.equal((await pay(world)).status, 'processing')
  },
})
