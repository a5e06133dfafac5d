/**
 * Operator resolutions: ending an unknown outcome with evidence, and reversing a completed payout.
 */
import { DAY } from '../../src/base/clock.js'
import {
  resolvePayout,
  reversePayout,
} from '../../src/processor/commands/payouts/payout_resolve.js'
import { codeOf, viewOf, type World } from '../support/world.js'
import {
  accountOf,
  balanceOf,
  discrepanciesOf,
  executed,
  OPERATOR,
  operatorLogOf,
  pay,
  see,
  runOnBothStores,
  types,
} from './scenarios.js'

const ROUTED = { environment: 'sandbox', route: 'sandbox/VN/VND', rail: 'sandbox' }

const TOTAL = 12_533_300n
const FUNDS = 1_000_000_000n
const EVIDENCE = 'bank statement of 21 November, line 12'

const resolve = (world: World, id: string, outcome: string, evidence = EVIDENCE) =>
  world.run(resolvePayout(OPERATOR, id, { outcome, evidence }))

const reverse = (world: World, id: string, evidence = EVIDENCE) =>
  world.run(reversePayout(OPERATOR, id, evidence))

runOnBothStores({
  'a payout resolved as completed completes': async (t, world) => {
    const { id } = await pay(world)
    const view = viewOf(await resolve(world, id, 'completed'))
    t.match(view, { status: 'completed', rail: { transaction_id: null }, failure: null })
    t.same(await balanceOf(world), { available: String(FUNDS - TOTAL), reserved: '0' })
    t.equal(await accountOf(world, 'rail_clearing'), '12500000')
    t.equal(types(world).at(-1), 'payout.completed')
    t.match(await operatorLogOf(t, id), [
      { actor: 'ann', reason: 'a test', action: 'resolve_payout_completed', evidence: EVIDENCE },
    ])
    await world.railReports(executed(id))
    t.same(await discrepanciesOf(world), [], 'the rail report matches the resolution')
    t.match(await see(world, id), { rail: { transaction_id: 'TX1' } }, 'with its transaction id')
    await world.railReports(executed(id, { status: 'returned', reportId: 'back' }))
    t.match(await see(world, id), { status: 'reversed' })
  },

  'executions beyond a resolution as completed are discrepancies': async (t, world) => {
    const [one, other] = [await pay(world), await pay(world)]
    for (const { id } of [one, other]) await resolve(world, id, 'completed')
    await world.railReports(executed(one.id))
    await world.railReports(executed(one.id, { transactionId: 'TX2' }))
    t.match(await discrepanciesOf(world), [{ reason: 'executed_again', entity: one.id }])
    await world.railReports(executed(other.id, { status: 'returned' }))
    t.match(await see(world, other.id), { status: 'reversed', rail: { transaction_id: 'TX1' } })
    await world.railReports(executed(other.id))
    await world.railReports(executed(other.id, { transactionId: 'TX2' }))
    t.equal((await discrepanciesOf(world)).length, 2)
    t.equal(await accountOf(world, 'rail_clearing'), '37500000', 'one execution due, two in excess')
  },

  'every resolution sends an inquiry to the rail': async (t, world) => {
    const [paid, unpaid] = [await pay(world), await pay(world)]
    for (const [id, outcome] of [
      [paid.id, 'completed'],
      [unpaid.id, 'failed'],
    ] as const) {
      world.railInstructions.length = 0
      await resolve(world, id, outcome)
      t.same(world.railInstructions, [{ kind: 'query', id, ...ROUTED }])
    }
    await world.railReports(executed(paid.id, { status: 'not_found' }))
    t.match(await discrepanciesOf(world), [{ reason: 'not_found_after_execution' }])
    await world.railReports(executed(unpaid.id))
    const differs = (await discrepanciesOf(world)).find(({ entity }) => entity === unpaid.id)
    t.match(differs, { reason: 'executed_after_end' })
  },

  'a payout resolved as failed fails': async (t, world) => {
    const { id } = await pay(world)
    const failure = { code: 'not_carried_out', source: 'service', retryable: true }
    t.match(viewOf(await resolve(world, id, 'failed')), { status: 'failed', failure })
    t.same(await balanceOf(world), { available: String(FUNDS), reserved: '0' })
    t.match(await operatorLogOf(t, id), [{ action: 'resolve_payout_failed' }])
    await world.railReports(executed(id))
    t.match(await see(world, id), { status: 'failed' })
    const contradicting = [{ reason: 'executed_after_end' }]
    t.match(await discrepanciesOf(world), contradicting, 'a report that contradicts it')
    t.equal(await accountOf(world, 'suspense'), '-12500000')
  },

  'an operator reverses a completed payout': async (t, world) => {
    const { id } = await pay(world)
    t.equal(codeOf(await reverse(world, id)), 'payout_not_completed')
    await world.railReports(executed(id))
    t.match(viewOf(await reverse(world, id)), {
      status: 'reversed',
      reversed_at: /Z$/,
      failure: { code: 'returned', message: 'The money came back.', source: 'service' },
    })
    t.same(await balanceOf(world), { available: String(FUNDS), reserved: '0' })
    t.equal(await accountOf(world, 'rail_clearing'), '0')
    t.equal(codeOf(await reverse(world, id)), 'payout_not_completed', 'once')
    await world.railReports(executed(id, { status: 'returned', reportId: 'back' }))
    t.same(await discrepanciesOf(world), [], 'the rail reports the same return')
    t.same(await balanceOf(world), { available: String(FUNDS), reserved: '0' })
    t.match(await operatorLogOf(t, id), [{ action: 'reverse_payout', evidence: EVIDENCE }])
  },

  'after a crash the inquiry is repeated until the rail answers': async (t, world) => {
    for (const outcome of ['completed', 'failed']) {
      const { id } = await pay(world)
      await resolve(world, id, outcome)
      await world.rebuild()
      world.railInstructions.length = 0
      await world.fireTimers(5_000)
      t.same(world.railInstructions, [{ kind: 'query', id, ...ROUTED }], outcome)
      if (outcome === 'completed') await world.railReports(executed(id))
      else await world.railReports({ status: 'not_found', id, reportId: null })
      world.railInstructions.length = 0
      await world.fireTimers(30 * DAY)
      t.same(world.railInstructions, [], 'answered')
      t.match(await see(world, id), { status: outcome })
    }
    t.same(await discrepanciesOf(world), [])
  },

  'a payout that cannot be resolved is refused': async (t, world) => {
    const { id } = await pay(world)
    const held = await pay(world, { reference: 'sandbox:review' })
    world.setRail(false)
    const waiting = await pay(world)
    const cases: readonly (readonly [string, string, string, string])[] = [
      [id, 'reversed', EVIDENCE, 'invalid_request'],
      [id, 'completed', ' ', 'invalid_request'],
      [id, 'completed', 'e'.repeat(2_001), 'invalid_request'],
      [held.id, 'completed', EVIDENCE, 'payout_not_at_rail'],
      [waiting.id, 'failed', EVIDENCE, 'payout_not_at_rail'],
      ['pout_x', 'completed', EVIDENCE, 'payout_not_found'],
    ]
    for (const [payoutId, outcome, evidence, code] of cases) {
      t.equal(codeOf(await resolve(world, payoutId, outcome, evidence)), code)
      t.same(await operatorLogOf(t, payoutId), [], 'a refusal is not logged')
    }
    await world.railReports(executed(id))
    const late = await resolve(world, id, 'failed')
    t.equal(codeOf(late), 'payout_not_at_rail', 'the outcome is known')
    t.equal(codeOf(await reverse(world, id, '')), 'invalid_request')
    t.equal(codeOf(await reverse(world, 'pout_x')), 'payout_not_found')
  },
})
