/**
 * Payout lifecycles, each run with a warm actor and with an actor rebuilt from SQLite before every
 * command.
 */
import { HOUR, SECOND } from '../../src/base/clock.js'
import { createBeneficiary } from '../../src/processor/commands/beneficiaries/beneficiary_create.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { cancelPayout } from '../../src/processor/commands/payouts/payout_get.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import { firePayoutTimer } from '../../src/processor/commands/rail_reports/timer_fire.js'
import { aPayout } from '../support/requests.js'
import { codeOf, DEMO, viewOf } from '../support/world.js'
import {
  balanceOf,
  executed,
  pay,
  payout,
  runOnBothStores,
  see,
  type PayoutView,
  sentKinds,
  types,
} from './scenarios.js'

/** 12,500,000 dong; 5,000 + 20 bps for the platform, 3,300 for the rail. */
const TOTAL = 12_533_300n
const FUNDS = 1_000_000_000n
const LARGE = { amount: '9200000000000000000' }

runOnBothStores({
  completed: async (t, world) => {
    const payout = await pay(world)
    t.match(payout, { status: 'processing', total: String(TOTAL), failure: null })
    t.same(await balanceOf(world), { available: String(FUNDS - TOTAL), reserved: String(TOTAL) })
    await world.railReports(executed(payout.id))
    t.match(await see(world, payout.id), { status: 'completed' })
    t.same(await balanceOf(world), { available: String(FUNDS - TOTAL), reserved: '0' })
    t.same(types(world), ['payout.created', 'payout.processing', 'payout.completed'])
    t.same(sentKinds(world), ['instruct', 'acknowledge'])
    const [created, processing] = world.events.map(
      ({ body }) => (JSON.parse(body) as { data: { payout: object } }).data.payout,
    )
    t.match(created, { status: 'created', processing_at: null })
    t.match(processing, { status: 'processing', processing_at: /Z$/ })
  },

  failed: async (t, world) => {
    const { id } = await pay(world)
    await world.railReports({ status: 'refused', id, reportId: 'r', refusal: 'account_not_found' })
    t.match(await see(world, id), { status: 'failed', failure: { code: 'account_not_found' } })
    t.same(await balanceOf(world), { available: String(FUNDS), reserved: '0' }, 'fees included')
    await world.railReports(executed(id))
    t.match(await see(world, id), { status: 'failed' }, 'a contradicting report is no transition')
  },

  reversed: async (t, world) => {
    const { id } = await pay(world)
    await world.railReports(executed(id))
    await world.railReports(executed(id, { status: 'returned', reportId: 'back' }))
    t.match(await see(world, id), { status: 'reversed', failure: { code: 'returned_by_bank' } })
    t.same(await balanceOf(world), { available: String(FUNDS), reserved: '0' })
  },

  'a return before the completion report completes, then reverses': async (t, world) => {
    const { id } = await pay(world)
    await world.railReports(executed(id, { status: 'returned' }))
    t.same(types(world).slice(-2), ['payout.completed', 'payout.reversed'])
  },

  'a payout that is not reviewed in time fails': async (t, world) => {
    const { id, status } = await pay(world, { reference: 'sandbox:review' })
    t.equal(status, 'created')
    t.same(world.railInstructions, [])
    await world.fireTimers(259_200_000)
    t.match(await see(world, id), { status: 'failed', failure: { code: 'review_expired' } })
    t.same(await balanceOf(world), { available: String(FUNDS), reserved: '0' })
  },

  'submitted when the rail is up again': async (t, world) => {
    world.setRail(false)
    const { id } = await pay(world)
    t.same(world.railInstructions, [])
    t.same(types(world), ['payout.created', 'payout.processing'])
    world.setRail(true)
    await world.fireTimers()
    t.same(sentKinds(world), ['instruct'])
    t.match(await see(world, id), { status: 'processing' })
  },

  'surrounding whitespace does not change the request': async (t, world) => {
    const request = payout()
    const first = viewOf(await world.run(createPayout(DEMO, request)))
    const { name, bank_code, ...inline } = request.beneficiary!
    const beneficiary = { ...inline, name: ` ${name} `, bank_code: `${bank_code} ` }
    const reference = `\t${request.reference} `
    const again = await world.run(createPayout(DEMO, { ...request, reference, beneficiary }))
    t.ok(again.ok && again.replayed)
    t.same(viewOf(again), first)
    const other = { ...request, beneficiary: { ...beneficiary, name: 'Nguyen Van B' } }
    t.equal(codeOf(await world.run(createPayout(DEMO, other))), 'duplicate_payout')
  },

  'inquiries follow the schedule': async (t, world) => {
    await pay(world)
    for (const seconds of [5, 10, 45, 240, 600, 2_700, 18_000, 64_800, 86_400]) {
      world.clock.pass(seconds * 1_000 - 1)
      const before = world.railInstructions.length
      await world.fireTimers()
      t.equal(world.railInstructions.length, before, `not before ${seconds} s more`)
      await world.fireTimers(1)
      t.equal(world.railInstructions.at(-1)?.kind, 'query')
      t.equal(world.railInstructions.length, before + 1)
    }
  },

  'submitted again when the rail has no record of it': async (t, world) => {
    const { id } = await pay(world)
    const reportMissing = () =>
      world.run(applyRailReport({ status: 'not_found', id, reportId: null }, SECOND))
    world.clock.pass(SECOND - 1)
    await reportMissing()
    t.same(sentKinds(world), ['instruct'], 'within the finality window')
    world.clock.pass(1)
    await reportMissing()
    t.same(sentKinds(world), ['instruct', 'instruct'])
    t.same(world.railInstructions[1], world.railInstructions[0], 'as the same instruction')
    t.match(await see(world, id), { status: 'processing' })
  },

  'a timer that fires early changes nothing': async (t, world) => {
    const { id } = await pay(world)
    await world.run(firePayoutTimer(id))
    t.same(sentKinds(world), ['instruct'])
    const held = await pay(world, { idempotency_key: 'key-2', reference: 'sandbox:review' })
    world.clock.pass(259_200_000 - 1)
    await world.run(firePayoutTimer(held.id))
    t.match(await see(world, held.id), { status: 'created' })
  },

  'an inquiry is sent when the rail is up again': async (t, world) => {
    await pay(world)
    world.setRail(false)
    world.clock.pass(HOUR)
    for (let again = 0; again < 3; again++) {
      await world.fireTimers()
      world.clock.pass(1_000)
    }
    t.same(sentKinds(world), ['instruct'], 'the rail is down')
    world.setRail(true)
    await world.fireTimers()
    t.same(sentKinds(world), ['instruct', 'query'], 'without waiting for the next hour')
  },

  'a retry is replayed byte for byte': async (t, world) => {
    const first = await pay(world, aPayout())
    await world.railReports(executed(first.id))
    const again = await world.run(createPayout(DEMO, aPayout()))
    t.ok(again.ok && again.replayed)
    t.equal(JSON.stringify(viewOf(again)), JSON.stringify(first))
    const inline = aPayout().beneficiary!
    const changes = [
      { amount: '12500001' },
      { reference: 'invoice 2' },
      { description: 'of May' },
      { metadata: { instruction: '1' } },
      { beneficiary: { ...inline, name: 'Nguyen Van B' } },
      { beneficiary: { ...inline, bank_code: '970437' } },
      { beneficiary: { ...inline, currency: 'USD' } },
      { beneficiary: { ...inline, currency: 'usd' } },
      { beneficiary: { ...inline, account_number: '0123456780' } },
    ]
    for (const change of changes) {
      const other = await world.run(createPayout(DEMO, aPayout(change)))
      t.equal(codeOf(other), 'duplicate_payout', JSON.stringify(change))
    }
    t.same(sentKinds(world), ['instruct', 'acknowledge'], 'one instruction')
  },

  'an empty description is shown as sent': async (t, world) => {
    t.match(await pay(world, { description: '' }), { description: '' })
    t.notOk('description' in (await pay(world, { idempotency_key: 'key-2' })))
  },

  'two equal requests in one batch create one payout': async (t, world) => {
    const answers = await world.runAll(
      ['a', 'a', 'a'].map((key) => createPayout(DEMO, aPayout({ idempotency_key: key }))),
    )
    const replayed = answers.map((answer) => answer.ok && (answer.replayed ?? false))
    t.same(replayed, [false, true, true])
    t.equal(new Set(answers.map((answer) => viewOf<PayoutView>(answer).id)).size, 1)
  },

  'payouts are accepted up to the balance': async (t, world) => {
    const commands = Array.from({ length: 200 }, (_, i) =>
      createPayout(DEMO, aPayout({ idempotency_key: `k${i}` })),
    )
    const codes = (await world.runAll(commands)).map(codeOf)
    const fit = Number(FUNDS / TOTAL)
    t.equal(codes.filter((code) => code === 'ok').length, fit)
    t.equal(codes.filter((code) => code === 'insufficient_balance').length, 200 - fit)
  },

  'refusals follow the order of the checks and change nothing': async (t, world) => {
    const inline = aPayout().beneficiary!
    const cases: readonly [object, string][] = [
      [{ amount: '0', reference: 'sandbox:risk' }, 'invalid_request'],
      [{ amount: '1.0' }, 'invalid_request'],
      [{ reference: 'invoice\t1' }, 'invalid_request'],
      [{ reference: 'invoice\u007f1' }, 'invalid_request'],
      [{ beneficiary: { ...inline, name: 'Nguyen\nVan A' } }, 'invalid_beneficiary'],
      [{ beneficiary: { ...inline, destination_country: 'XX' } }, 'invalid_beneficiary'],
      [{ currency: 'THB' }, 'unsupported_currency'],
      [{ currency: 'USD', beneficiary: { ...inline, currency: 'USD' } }, 'unsupported_destination'],
      [{ reference: 'sandbox:compliance' }, 'compliance_rejected'],
      [{ reference: 'sandbox:risk' }, 'risk_rejected'],
      [{ amount: '9223372036854775807' }, 'payout_limit_exceeded'],
      [LARGE, 'insufficient_balance'],
      [{ reference: 'sandbox:rail_unavailable' }, 'rail_unavailable'],
      [{ ...LARGE, reference: 'sandbox:risk' }, 'risk_rejected'],
      [{ ...LARGE, reference: 'sandbox:rail_unavailable' }, 'insufficient_balance'],
    ]
    for (const [given, code] of cases) {
      t.equal(codeOf(await world.run(createPayout(DEMO, aPayout(given)))), code)
    }
    t.equal(codeOf(await world.run(createPayout(DEMO, aPayout()))), 'ok', 'the key is not used')
    t.same(types(world), ['payout.created', 'payout.processing'])
  },

  'a payout to a stored beneficiary': async (t, world) => {
    const { beneficiary } = aPayout()
    const made = viewOf<{ id: string; account_last4: string }>(
      await world.run(createBeneficiary(DEMO, beneficiary!)),
    )
    t.match(made, { account_last4: '6789' })
    t.notMatch(JSON.stringify(made), '0123456789')
    const { beneficiary: none, ...rest } = aPayout({ beneficiary_id: made.id })
    t.ok(none)
    t.match(viewOf(await world.run(createPayout(DEMO, rest))), { beneficiary: { id: made.id } })
  },

  'a payout is never cancelled': async (t, world) => {
    const { id } = await pay(world)
    t.equal(codeOf(await world.run(cancelPayout(DEMO, id))), 'payout_not_cancelable')
    t.equal(codeOf(await world.run(cancelPayout(DEMO, 'pout_x'))), 'payout_not_found')
    await world.run(enterRecovery('a test'))
    t.equal(codeOf(await world.run(cancelPayout(DEMO, id))), 'payout_not_cancelable', 'nor then')
  },
})
