/** Decisions of operators about payouts: held ones, unknown outcomes, reversals. */
import { setRoute } from '../../src/processor/commands/operators/route_set.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { disableBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_disable.js'
import { stageBeneficiary, type BeneficiaryRow } from '../../src/processor/changes/beneficiaries.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { answer } from '../../src/processor/cycle/answer.js'
import { listHeldPayouts } from '../../src/processor/queries/held_payout_list.js'
import type { PayoutId } from '../../src/base/ids.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { DAY } from '../../src/base/clock.js'
import {
  resolvePayout,
  reversePayout,
} from '../../src/processor/commands/payouts/payout_resolve.js'
import { aPayout, largestMetadata } from '../support/requests.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import {
  aRoute,
  balanceOf,
  OPERATOR,
  operatorLogOf,
  pay,
  sentKinds,
  payoutTo,
  read,
  readAll,
  see,
  runOnBothStores,
  types,
  type PageView,
  type PayoutView,
  approve,
  reject,
  accountOf,
  discrepanciesOf,
  executed,
} from './scenarios.js'

const HELD = { reference: 'sandbox:review' }
const FUNDS = { available: '1000000000', reserved: '0' }

interface Held {
  readonly tenant: string
  readonly deadline: string
  readonly payout: PayoutView
}

const payoutIds = (held: readonly Held[]): string[] => held.map(({ payout }) => payout.id)

/** A held payout to a stored beneficiary. */
async function heldTo(world: World): Promise<{ id: PayoutId; beneficiary: string }> {
  const stored = await world.run(createBeneficiary(DEMO, aPayout().beneficiary!))
  const { id: beneficiary } = viewOf<{ id: string }>(stored)
  const made = await world.run(createPayout(DEMO, payoutTo(beneficiary, HELD)))
  return { id: viewOf<PayoutView>(made).id, beneficiary }
}

const queue = (world: World): Promise<Held[]> =>
  readAll<Held>(world, (page) => listHeldPayouts({ limit: 2, ...page }))

/** Stores a beneficiary that an older version accepted. */
const restore = (world: World, id: string, fault: Partial<BeneficiaryRow>): Promise<unknown> =>
  world.run({
    name: 'restore',
    needs: (needs) => needs.beneficiary(id),
    decide: (ctx) => {
      stageBeneficiary(ctx, { ...ctx.memory.beneficiaries.get(id)!, ...fault })
      return answer({})
    },
  })

runOnBothStores({
  approved: async (t, world) => {
    const { id, status, total } = await pay(world, HELD)
    t.equal(status, 'created')
    const reserved = await balanceOf(world)
    t.equal(reserved.reserved, total, 'the amount is reserved while it is held')
    const approved = viewOf(await approve(world, id))
    t.match(approved, { id, status: 'processing', processing_at: /Z$/ })
    t.same(sentKinds(world), ['instruct'])
    t.same(types(world), ['payout.created', 'payout.processing'])
    t.same(await balanceOf(world), reserved)
    t.equal(codeOf(await approve(world, id)), 'payout_not_held', 'once')
    t.equal(codeOf(await reject(world, id)), 'payout_not_held')
    t.match(await operatorLogOf(t, id), [{ actor: 'ann', action: 'approve_payout' }])
    await world.fireTimers(259_200_000)
    t.match(await see(world, id), { status: 'processing' }, 'its review deadline no longer applies')
  },

  rejected: async (t, world) => {
    const { id } = await pay(world, HELD)
    const rejected = viewOf(await reject(world, id))
    t.match(rejected, { status: 'failed', failure: { code: 'review_rejected', source: 'review' } })
    t.same(await balanceOf(world), FUNDS, 'released, fees included')
    t.same(world.railInstructions, [])
    t.same(types(world), ['payout.created', 'payout.failed'])
    t.equal(codeOf(await approve(world, id)), 'payout_not_held')
    t.match(await operatorLogOf(t, id), [{ actor: 'ann', action: 'reject_payout' }])
  },

  'a payout approved while the rail is down is submitted later': async (t, world) => {
    const { id } = await pay(world, HELD)
    world.setRail(false)
    t.equal(codeOf(await approve(world, id)), 'ok')
    t.same(world.railInstructions, [])
    world.setRail(true)
    await world.fireTimers()
    t.equal(world.railInstructions[0]?.kind, 'instruct')
  },

  'approval is refused when the payout is no longer allowed': async (t, world) => {
    const { id, beneficiary } = await heldTo(world)
    const other = await pay(world, HELD)
    await world.run(disableBeneficiary(DEMO, beneficiary))
    t.equal(codeOf(await approve(world, id)), 'invalid_beneficiary')
    t.match(await see(world, id), { status: 'created' }, 'the payout stays held')
    await world.run(changePartner(OPERATOR, 'demo', { kind: 'suspend' }))
    t.equal(codeOf(await approve(world, other.id)), 'partner_suspended')
    t.equal(codeOf(await reject(world, id)), 'ok', 'the payout can still be rejected')
    t.same(await operatorLogOf(t, other.id), [])
  },

  'a stored beneficiary that no rail accepts is not paid': async (t, world) => {
    for (const fault of [{ name: 'Nguyen\tVan A' }, { bank_code: '970\n436' }]) {
      const { id, beneficiary } = await heldTo(world)
      const before = await balanceOf(world, 'VND')
      await restore(world, beneficiary, fault)
      t.equal(codeOf(await approve(world, id)), 'invalid_beneficiary')
      t.match(await see(world, id), { status: 'created' }, 'the payout stays held')
      const next = createPayout(DEMO, payoutTo(beneficiary, { idempotency_key: 'next' }))
      t.equal(codeOf(await world.run(next)), 'invalid_beneficiary')
      t.same(await balanceOf(world, 'VND'), before)
      t.equal(codeOf(await reject(world, id)), 'ok')
    }
    t.same(world.railInstructions, [])
  },

  'an unknown payout is refused': async (t, world) => {
    t.equal(codeOf(await approve(world, 'pout_x')), 'payout_not_found')
    t.equal(codeOf(await reject(world, 'pout_x')), 'payout_not_found')
    const running = await pay(world)
    t.equal(codeOf(await reject(world, running.id)), 'payout_not_held')
  },

  'the list of held payouts is oldest first': async (t, world) => {
    t.same(await queue(world), [])
    const held: string[] = []
    for (let i = 0; i < 5; i++) {
      world.clock.pass(1)
      held.push((await pay(world, HELD)).id)
      await pay(world)
    }
    const [gone] = held.splice(1, 1)
    await reject(world, gone!)
    const listed = await queue(world)
    t.same(payoutIds(listed), held)
    const [first] = listed
    t.match(first, { tenant: 'demo_sandbox', payout: { status: 'created' } })
    t.same(first?.payout, await see(world, held[0]!))
    const created = Date.parse((first?.payout as unknown as { created_at: string }).created_at)
    t.equal(Date.parse(first!.deadline) - created, 259_200_000)
    t.equal(codeOf(await read(world, listHeldPayouts({ limit: 101 }))), 'invalid_request')
  },

  'a page of long payouts ends early': async (t, world) => {
    const held: string[] = []
    for (let i = 0; i < 4; i++) {
      world.clock.pass(1)
      held.push((await pay(world, { ...HELD, metadata: largestMetadata() })).id)
    }
    const first = viewOf<PageView<Held>>(await read(world, listHeldPayouts({})))
    const rest = await read(world, listHeldPayouts({ cursor: first.next_cursor! }))
    t.same(payoutIds([...first.data, ...viewOf<PageView<Held>>(rest).data]), held)
  },

  'a route holds payouts from its threshold on': async (t, world) => {
    const held = async (amount: string): Promise<boolean> =>
      (await pay(world, { amount })).status === 'created'
    t.notOk(await held('12500000'), 'no route holds payouts by default')
    await world.run(setRoute(OPERATOR, DEMO, aRoute({ review_from: '1000000' })))
    t.notOk(await held('999999'))
    t.ok(await held('1000000'))
    t.ok(await held('1000001'))
    t.equal((await queue(world)).length, 2)
  },
})

const ROUTED = { environment: 'sandbox', route: 'sandbox/VN/VND', rail: 'sandbox' }

const TOTAL = 12_533_300n
const PREFUND = 1_000_000_000n
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
    t.same(await balanceOf(world), { available: String(PREFUND - TOTAL), reserved: '0' })
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
    t.same(await balanceOf(world), { available: String(PREFUND), reserved: '0' })
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
    t.same(await balanceOf(world), { available: String(PREFUND), reserved: '0' })
    t.equal(await accountOf(world, 'rail_clearing'), '0')
    t.equal(codeOf(await reverse(world, id)), 'payout_not_completed', 'once')
    await world.railReports(executed(id, { status: 'returned', reportId: 'back' }))
    t.same(await discrepanciesOf(world), [], 'the rail reports the same return')
    t.same(await balanceOf(world), { available: String(PREFUND), reserved: '0' })
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
