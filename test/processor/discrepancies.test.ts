/**
 * Discrepancies: one row for each contradicting report, its money in suspense, also when the rail
 * repeats the report or sends it in answer to a query.
 */
import { join } from 'node:path'
import type { IntentId } from '../../src/base/ids.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { cancelIntent } from '../../src/processor/commands/intents/intent_cancel.js'
import { createIntent } from '../../src/processor/commands/intents/intent_create.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import { listBalanceTransactions } from '../../src/processor/queries/balance_transaction_list.js'
import { listDiscrepancies } from '../../src/processor/queries/discrepancy_list.js'
import { anIntent } from '../support/requests.js'
import { openSandboxRail } from '../support/sandbox_rail.js'
import { tempFolder } from '../support/temp_folder.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import {
  accountOf,
  balanceOf,
  discrepanciesOf,
  type DiscrepancyView,
  executed,
  idsOf,
  OPERATOR,
  operatorLogOf,
  pay,
  read,
  readAll,
  runOnBothStores,
  see,
} from './scenarios.js'

const PAID = 12_500_000n
const FUNDS = 1_000_000_000n
/** The largest amount that suspense can hold. */
const MOST = 2n ** 52n
const EVIDENCE = 'call with the bank, ticket 5'

const suspense = (world: World): Promise<string> => accountOf(world, 'suspense')

const settle = async (world: World, id: string, settlement: string, evidence = EVIDENCE) =>
  world.run(resolveDiscrepancy(OPERATOR, id, { settlement, evidence }))

async function failed(world: World) {
  const { id } = await pay(world)
  await world.railReports({ status: 'refused', id, reportId: 'r', refusal: 'rejected' })
  return id
}

runOnBothStores({
  'an execution after a failure is posted to suspense': async (t, world) => {
    const id = await failed(world)
    const mismatch = executed(id)
    await world.railReports(mismatch)
    await world.railReports(mismatch)
    await world.railReports({ ...mismatch, reportId: null })
    await world.railReports({ ...mismatch, reportId: 'again' })
    t.match(await discrepanciesOf(world), [
      {
        id: /^dis_/,
        tenant: 'demo_sandbox',
        entity: id,
        reason: 'executed_after_end',
        plan: 'discrepancy_paid',
        currency: 'VND',
        amount: String(PAID),
        resolved_at: null,
      },
    ])
    t.equal(
      (await discrepanciesOf(world)).length,
      1,
      'report, query answer and repetition are one discrepancy',
    )
    t.equal(await suspense(world), String(-PAID))
    t.equal(await accountOf(world, 'rail_clearing'), String(PAID))
    t.match(await see(world, id), { status: 'failed' })
    t.same(
      await balanceOf(world),
      { available: String(FUNDS), reserved: '0' },
      "the partner's balance is unchanged",
    )
    t.equal(world.railInstructions.filter(({ kind }) => kind === 'acknowledge').length, 4)
  },

  'an execution and a return after a failure cancel out in suspense, in either order': async (
    t,
    world,
  ) => {
    const [one, other] = [await failed(world), await failed(world)]
    await world.railReports(executed(one))
    await world.railReports(executed(one, { status: 'returned', reportId: 'back' }))
    await world.railReports(executed(other, { status: 'returned', reportId: 'back' }))
    t.equal(await suspense(world), '0')
    await world.railReports(executed(other))
    const found = await discrepanciesOf(world)
    t.same(found.map(({ reason }) => reason).sort(), [
      'executed_after_end',
      'executed_after_end',
      'returned_after_end',
      'returned_after_end',
    ])
    t.equal(await suspense(world), '0', 'suspense is zero after the return')
    t.equal(await accountOf(world, 'rail_clearing'), '0')
  },

  'an execution with another amount, currency or account is a discrepancy': async (t, world) => {
    const { id, total } = await pay(world)
    await world.railReports(executed(id, { amount: PAID - 1n }))
    await world.railReports(executed(id, { currency: 'THB' }))
    await world.railReports(executed(id, { destinationAccount: '0123456780' }))
    await world.railReports(executed(id, { amount: 7n, currency: 'QQQ' }))
    t.match(await see(world, id), { status: 'processing' }, 'never a transition')
    t.equal((await balanceOf(world)).reserved, total, 'the money stays reserved')
    t.equal(await suspense(world), String(-(PAID - 1n) - PAID))
    t.equal(await accountOf(world, 'suspense', 'THB'), String(-PAID))
    const found = await discrepanciesOf(world)
    t.same(
      found.map(({ reason, plan, amount }) => [reason, plan, amount]).sort(),
      [
        ['execution_differs', null, null],
        ['execution_differs', 'discrepancy_paid', String(PAID - 1n)],
        ['execution_differs', 'discrepancy_paid', String(PAID)],
        ['execution_differs', 'discrepancy_paid', String(PAID)],
      ],
      'an unknown currency is not posted',
    )
    t.notMatch(JSON.stringify(found), '0123456780', 'no account number is kept')
    await world.railReports(executed(id))
    t.match(await see(world, id), { status: 'completed' }, 'a matching report still applies')
  },

  'a second execution is a discrepancy': async (t, world) => {
    const { id } = await pay(world)
    await world.railReports(executed(id))
    await world.railReports(executed(id, { reportId: null }))
    t.same(await discrepanciesOf(world), [], 'the same execution again is not a discrepancy')
    await world.railReports(executed(id, { transactionId: 'TX2' }))
    t.match(await discrepanciesOf(world), [{ reason: 'executed_again', amount: String(PAID) }])
    t.equal(await suspense(world), String(-PAID))
  },

  'a return after two executions leaves the payment completed': async (t, world) => {
    const { id, total } = await pay(world)
    await world.railReports(executed(id))
    await world.railReports(executed(id, { transactionId: 'TX2' }))
    await world.railReports(executed(id, { status: 'returned', transactionId: 'TX2' }))
    t.match(await see(world, id), { status: 'completed' }, 'the recipient still has the payment')
    t.equal((await balanceOf(world)).available, String(FUNDS - BigInt(total)))
    const reasons = async () => (await discrepanciesOf(world)).map(({ reason }) => reason).sort()
    t.same(await reasons(), ['executed_again', 'returned_again'])
    t.equal(await suspense(world), '0')
    await world.railReports(executed(id, { status: 'returned', transactionId: 'TX3' }))
    t.equal((await reasons()).length, 4, 'an execution and a return are recorded')
    await world.railReports(executed(id, { status: 'returned' }))
    t.match(await see(world, id), { status: 'reversed' })
    t.equal((await balanceOf(world)).available, String(FUNDS))
    await world.railReports(executed(id, { status: 'returned', transactionId: 'TX4' }))
    t.equal((await reasons()).length, 6, 'also after its own return')
    t.equal(await suspense(world), '0')
  },

  'a return of a smaller amount is a discrepancy': async (t, world) => {
    const { id } = await pay(world)
    await world.railReports(executed(id))
    await world.railReports(executed(id, { status: 'returned', amount: PAID - 100n }))
    t.match(await see(world, id), { status: 'completed' })
    t.match(await discrepanciesOf(world), [
      { reason: 'return_differs', plan: 'discrepancy_returned' },
    ])
    t.equal(await suspense(world), String(PAID - 100n), 'the money is in suspense')
    const unknown = await pay(world)
    await world.railReports(executed(unknown.id, { status: 'returned', amount: 3n }))
    t.equal(await suspense(world), String(PAID - 100n), 'an execution and a return are recorded')
    t.equal((await discrepanciesOf(world)).length, 3)
  },

  'reports without money post nothing': async (t, world) => {
    const { id } = await pay(world)
    await world.railReports(executed(id))
    await world.railReports({ status: 'refused', id, reportId: 'a', refusal: 'rejected' })
    await world.railReports({ status: 'refused', id, reportId: null, refusal: 'rejected' })
    await world.railReports({ status: 'not_found', id, reportId: null })
    const found = await discrepanciesOf(world)
    t.same(found.map(({ reason, plan }) => [reason, plan]).sort(), [
      ['not_found_after_execution', null],
      ['refused_after_execution', null],
    ])
    const refused = found.find(({ reason }) => reason === 'refused_after_execution')
    t.match(refused?.report, '"report_id":"a","refusal":"rejected"')
    t.equal(await suspense(world), '0')
    t.match(await see(world, id), { status: 'completed' })
  },

  'an execution at another bank is a discrepancy where the rail names the bank': async (
    t,
    world,
  ) => {
    const { id } = await pay(world)
    await world.railReports(executed(id, { destinationBank: '970436x' }))
    t.match(await see(world, id), { status: 'processing' })
    t.match(await discrepanciesOf(world), [{ reason: 'execution_differs', entity: id }])
    await world.railReports(executed(id, { destinationBank: '970436' }))
    t.match(await see(world, id), { status: 'completed' }, 'the bank of the instruction')
  },

  'the sandbox rail names the bank that it paid to': async (t, world) => {
    const rail = await openSandboxRail(world, join(tempFolder(t), 'rail.db'))
    t.teardown(() => rail.close())
    const { id } = await pay(world)
    const elsewhere = world.railInstructions.splice(0).map((sent) => {
      if (sent.kind !== 'instruct') return sent
      const destination = { ...sent.instruction.destination, bankCode: '970407' }
      return { ...sent, instruction: { ...sent.instruction, destination } }
    })
    world.railInstructions.push(...elsewhere)
    await rail.settle()
    t.match(await see(world, id), { status: 'processing' }, 'it paid to another bank')
    t.match(await discrepanciesOf(world), [{ reason: 'execution_differs', entity: id }])
    const asInstructed = await pay(world)
    await rail.settle()
    t.match(await see(world, asInstructed.id), { status: 'completed' })
    t.equal((await discrepanciesOf(world)).length, 1)
  },

  'a report for an unknown instruction is a discrepancy': async (t, world) => {
    await world.railReports(executed('pout_00000000000000000000000000' as never))
    t.match(await discrepanciesOf(world), [
      { reason: 'unknown_instruction', tenant: null, plan: null, amount: null },
    ])
    t.equal(await suspense(world), '0', 'no account changes')
  },

  'a report for an unconfirmed intent is a discrepancy': async (t, world) => {
    const made = await world.run(createIntent(DEMO, anIntent()))
    const { intent_id: id } = viewOf<{ intent_id: IntentId }>(made)
    await world.run(cancelIntent(DEMO, id))
    await world.railReports(executed(id as never, { currency: 'THB', amount: 36_000n }))
    t.match(await discrepanciesOf(world), [{ reason: 'execution_differs', entity: id }])
    t.equal(await accountOf(world, 'suspense', 'THB'), '-36000')
  },

  'an amount above the account bounds is recorded without entries': async (t, world) => {
    const id = await failed(world)
    await world.railReports(executed(id, { amount: MOST, transactionId: 'a' }))
    t.equal(await suspense(world), String(-MOST))
    await world.railReports(executed(id, { amount: 1n, transactionId: 'b' }))
    await world.railReports(executed(id, { amount: 1n, transactionId: 'b' }))
    t.same(
      (await discrepanciesOf(world)).map(({ amount }) => amount).sort(),
      [String(MOST), null],
      'the row is written without entries',
    )
    t.equal(await suspense(world), String(-MOST))
    await world.run(depositSandboxFunds(DEMO, { currency: 'VND', amount: '1' }))
  },

  'the largest amounts leave capacity for postings that cannot be refused': async (t, world) => {
    const { id } = await pay(world)
    for (const amount of [2n ** 63n - 1n, MOST]) {
      await world.railReports(executed(id, { amount }))
      await world.railReports(executed(id, { amount, status: 'returned' }))
      await world.railReports(executed(id, { amount, transactionId: 'again' }))
    }
    await world.railReports(executed(id))
    t.match(await see(world, id), { status: 'completed' })
    await world.railReports(executed(id, { status: 'returned' }))
    t.match(await see(world, id), { status: 'reversed' })
  },

  'undo reverses the entries of a discrepancy, and keep leaves them': async (t, world) => {
    const [one, other] = [await failed(world), await failed(world)]
    await world.railReports(executed(one))
    world.clock.pass(1)
    await world.railReports(executed(other))
    const [first, second] = await discrepanciesOf(world)
    const undone = viewOf<DiscrepancyView>(await settle(world, first!.id, 'undo'))
    t.match(undone, { id: first!.id, settlement: 'undo', resolved_at: /Z$/ })
    t.equal(await suspense(world), String(-PAID), 'the entries are reversed')
    t.match(viewOf(await settle(world, second!.id, 'keep')), { settlement: 'keep' })
    t.equal(await suspense(world), String(-PAID), 'the entries stay')
    t.same(await discrepanciesOf(world), [])
    const settled = await readAll<DiscrepancyView>(world, (page) =>
      listDiscrepancies({ resolved: true, limit: 1, ...page }),
    )
    t.same(idsOf(settled), [first!.id, second!.id])
    t.match(await operatorLogOf(t, first!.id), [
      { actor: 'ann', action: 'resolve_discrepancy_undo', evidence: EVIDENCE },
    ])
    t.equal(codeOf(await settle(world, first!.id, 'undo')), 'discrepancy_settled', 'once')
    await world.railReports(executed(one))
    t.same(await discrepanciesOf(world), [], 'the same report again does not reopen it')
    t.equal(await suspense(world), String(-PAID))
  },

  'an overpayment is charged to the partner or written off': async (t, world) => {
    const [theirs, ours] = [await failed(world), await failed(world)]
    await world.railReports(executed(theirs))
    world.clock.pass(1)
    await world.railReports(executed(ours))
    const [first, second] = await discrepanciesOf(world)
    t.equal(codeOf(await settle(world, first!.id, 'credit_partner')), 'settlement_not_possible')
    t.match(viewOf(await settle(world, first!.id, 'charge_partner')), {
      settlement: 'charge_partner',
    })
    t.equal((await balanceOf(world)).available, String(FUNDS - PAID))
    t.equal(await suspense(world), String(-PAID), 'the other discrepancy is still in suspense')
    const funded = BigInt(await accountOf(world, 'funding'))
    t.match(viewOf(await settle(world, second!.id, 'write_off')), { settlement: 'write_off' })
    t.equal(await suspense(world), '0')
    t.equal(await accountOf(world, 'funding'), String(funded - PAID), 'the platform bears the loss')
    t.equal((await balanceOf(world)).available, String(FUNDS - PAID), 'the partner does not')
    t.match(await operatorLogOf(t, first!.id), [
      { actor: 'ann', action: 'resolve_discrepancy_charge_partner', evidence: EVIDENCE },
    ])
    for (const { id } of [first!, second!]) {
      t.equal(codeOf(await settle(world, id, 'undo')), 'discrepancy_settled')
    }
  },

  'a return is credited to the partner or written off': async (t, world) => {
    for (const amount of [PAID - 100n, PAID - 200n]) {
      const { id } = await pay(world)
      await world.railReports(executed(id))
      await world.railReports(executed(id, { status: 'returned', amount }))
      world.clock.pass(1)
    }
    const [first, second] = await discrepanciesOf(world)
    const { available } = await balanceOf(world)
    const funded = BigInt(await accountOf(world, 'funding'))
    t.equal(codeOf(await settle(world, first!.id, 'charge_partner')), 'settlement_not_possible')
    t.equal(codeOf(await settle(world, first!.id, 'keep')), 'ok')
    t.equal(
      codeOf(await settle(world, first!.id, 'credit_partner')),
      'ok',
      'a kept discrepancy can be credited later',
    )
    t.equal((await balanceOf(world)).available, String(BigInt(available) + PAID - 100n))
    t.equal(codeOf(await settle(world, second!.id, 'write_off')), 'ok')
    t.equal(await accountOf(world, 'funding'), String(funded + PAID - 200n))
    t.equal(await suspense(world), '0')
    t.equal((await operatorLogOf(t, first!.id)).length, 2, 'kept, then credited')
    const [moved] = viewOf<{ data: object[] }>(
      await read(world, listBalanceTransactions(DEMO, { limit: 1 })),
    ).data
    t.match(moved, { type: 'discrepancy_credited', entity: first!.id, account: 'available' })
  },

  'a charge above the balance is refused': async (t, world) => {
    const id = await failed(world)
    await world.railReports(executed(id, { amount: FUNDS + 1n }))
    const [mismatch] = await discrepanciesOf(world)
    t.equal(codeOf(await settle(world, mismatch!.id, 'charge_partner')), 'insufficient_balance')
    t.equal((await discrepanciesOf(world)).length, 1, 'the discrepancy stays open')
    await world.run(depositSandboxFunds(DEMO, { currency: 'VND', amount: '1' }))
    t.equal(codeOf(await settle(world, mismatch!.id, 'charge_partner')), 'ok')
    t.same(await balanceOf(world), { available: '0', reserved: '0' })
  },

  'a write-off above the limit is refused': async (t, world) => {
    const id = await failed(world)
    await world.railReports(executed(id, { amount: MOST }))
    const most = 2n ** 63n - 1n - 2n ** 53n - FUNDS
    const deposited = depositSandboxFunds(DEMO, { currency: 'VND', amount: String(most) })
    t.equal(codeOf(await world.run(deposited)), 'ok')
    const [mismatch] = await discrepanciesOf(world)
    t.equal(codeOf(await settle(world, mismatch!.id, 'write_off')), 'balance_limit_exceeded')
    t.equal(codeOf(await settle(world, mismatch!.id, 'undo')), 'ok')
  },

  'invalid settlements are refused': async (t, world) => {
    const { id } = await pay(world)
    await world.railReports(executed(id))
    await world.railReports({ status: 'refused', id, reportId: 'a', refusal: 'rejected' })
    const [mismatch] = await discrepanciesOf(world)
    const cases: readonly (readonly [string, string, string, string])[] = [
      ['dis_none', 'keep', EVIDENCE, 'discrepancy_not_found'],
      [mismatch!.id, 'pay', EVIDENCE, 'invalid_request'],
      [mismatch!.id, 'keep', '', 'invalid_request'],
      ...['undo', 'charge_partner', 'credit_partner', 'write_off'].map(
        (way) => [mismatch!.id, way, EVIDENCE, 'settlement_not_possible'] as const,
      ),
    ]
    for (const [which, settlement, evidence, code] of cases) {
      t.equal(codeOf(await settle(world, which, settlement, evidence)), code)
    }
    t.equal(codeOf(await settle(world, mismatch!.id, 'keep')), 'ok')
    t.equal(codeOf(await settle(world, mismatch!.id, 'keep')), 'discrepancy_settled')
    const none = await read(world, listDiscrepancies({ resolved: false, limit: 0 }))
    t.equal(codeOf(none), 'invalid_request')
  },
})
