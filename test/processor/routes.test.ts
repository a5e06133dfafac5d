/**
 * Payout routes: precedence, the effect of their terms, that accepted payouts keep theirs; and
 * amounts: the largest possible, currencies with any number of digits, other currencies.
 */
import { CORRIDOR_NAMES } from '../../src/qr/corridor.js'
import { tenantOf, type PartnerId } from '../../src/base/ids.js'
import { createPartner } from '../../src/processor/commands/partners/partner_create.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { reversePayout } from '../../src/processor/commands/payouts/payout_resolve.js'
import { listRoutes, setRoute } from '../../src/processor/commands/operators/route_set.js'
import type { Route__Output as WireRoute } from '../../protos/types/causeway/operator/v1/Route.js'
import { codeOf, DEMO, viewOf, type World, PRODUCTION } from '../support/world.js'
import {
  aRoute,
  balanceOf,
  executed,
  OPERATOR,
  operatorLog,
  pay,
  payout,
  see,
  runOnBothStores,
  tryPay,
  accountOf,
} from './scenarios.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'

const ACME = tenantOf('acme' as PartnerId, 'sandbox')

const set = async (world: World, tenant: typeof DEMO | null, given = {}): Promise<string> =>
  codeOf(await world.run(setRoute(OPERATOR, tenant, aRoute(given))))

const routes = async (world: World): Promise<WireRoute[]> =>
  viewOf<{ data: WireRoute[] }>(await world.run(listRoutes())).data

/** The largest possible deposit: int64 less a reserve for captures. */
const CAPACITY = 2n ** 63n - 1n - 2n ** 53n
const FREE = { platform_fixed: '0', platform_bps: 0, rail_fixed: '0' }

async function open(
  world: World,
  [country, currency]: readonly [string, string],
  terms = FREE,
): Promise<void> {
  const route = aRoute({ country, currency, ...terms })
  viewOf(await world.run(setRoute(OPERATOR, DEMO, route)))
}

const to = ([country, currency]: readonly [string, string], amount: string) => {
  const inline = { ...payout().beneficiary!, destination_country: country, currency }
  return { amount, currency, beneficiary: inline }
}

const deposited = (world: World, currency: string, amount: string) =>
  world.run(depositSandboxFunds(DEMO, { currency, amount }))

const JAPAN = ['JP', 'JPY'] as const
const KUWAIT = ['KW', 'KWD'] as const

runOnBothStores({
  'the default routes are listed': async (t, world) => {
    t.match(await routes(world), [
      { country: 'TH', currency: 'THB', enabled: true, platform_bps: 20 },
      { country: 'VN', currency: 'VND', platform_fixed: '5000', rail_fixed: '3300' },
      { country: 'ID', currency: 'IDR', handling: 'on_top', refund_fees_on_reversal: true },
    ])
  },

  'the route of a tenant precedes the common one, and that the default': async (t, world) => {
    await world.run(createPartner(OPERATOR, 'acme', { corridors: CORRIDOR_NAMES, withFunds: true }))
    const fee = async (): Promise<string[]> => {
      const mine = await pay(world, { amount: '1000000' })
      const theirs = await pay(world, { amount: '1000000' }, ACME)
      return [mine.fee, theirs.fee]
    }
    t.same(await fee(), ['10300', '10300'])
    await set(world, null, { platform_fixed: '1', platform_bps: 0, rail_fixed: '0' })
    t.same(await fee(), ['1', '1'])
    await set(world, DEMO, { platform_fixed: '0', platform_bps: 0, rail_fixed: '7' })
    t.same(await fee(), ['7', '1'])
    await set(world, null, { platform_fixed: '2', platform_bps: 0, rail_fixed: '0' })
    t.same(await fee(), ['7', '2'])
    t.equal((await routes(world)).length, 4, 'replaced, not added')
    t.match(await operatorLog(t), [
      { action: 'create_partner' },
      { action: 'set_route', actor: 'ann', reason: 'a test', subject: /"platform_fixed":"1"/ },
      { subject: /"partner_id":"demo"/ },
      { subject: /"platform_fixed":"2"/ },
    ])
  },

  deducted: async (t, world) => {
    await set(world, DEMO, { handling: 'deducted', platform_bps: 33 })
    const paid = await pay(world, { amount: '1000001' })
    t.match(paid, { total: '1000001', fee: '11601', recipient_amount: '988400' })
    const little = await tryPay(world, { amount: '8327' })
    t.equal(codeOf(little), 'payout_limit_exceeded', 'the recipient would get nothing')
    t.match(await pay(world, { amount: '8329' }), { fee: '8328', recipient_amount: '1' })
  },

  frozen: async (t, world) => {
    const { id, fee } = await pay(world)
    const request = payout()
    const first = viewOf(await world.run(createPayout(DEMO, request)))
    await set(world, DEMO, { handling: 'deducted', refund_fees_on_reversal: false, enabled: false })
    t.match(await see(world, id), { fee, recipient_amount: '12500000' })
    t.same(viewOf(await world.run(createPayout(DEMO, request))), first, 'a replay keeps the terms')
    const before = BigInt((await balanceOf(world)).available)
    await world.railReports(executed(id))
    await world.run(reversePayout(OPERATOR, id, 'statement 7'))
    const after = BigInt((await balanceOf(world)).available)
    t.equal(after - before, 12_500_000n + BigInt(fee), 'the agreed fee is refunded')
  },

  'a route can keep its fees on reversal': async (t, world) => {
    await set(world, DEMO, { refund_fees_on_reversal: false })
    const { id, total, fee } = await pay(world)
    await world.railReports(executed(id))
    await world.railReports(executed(id, { status: 'returned' }))
    t.equal((await balanceOf(world)).available, String(1_000_000_000n - BigInt(fee)))
    t.equal(BigInt(total) - BigInt(fee), 12_500_000n)
  },

  'a disabled route refuses payouts until it is enabled': async (t, world) => {
    await set(world, null, { enabled: false })
    t.equal(codeOf(await tryPay(world)), 'unsupported_destination')
    await set(world, DEMO, { enabled: true })
    t.equal(codeOf(await tryPay(world)), 'ok')
  },

  'operators can add a country': async (t, world) => {
    const inline = { ...payout().beneficiary!, destination_country: 'JP', currency: 'JPY' }
    const request = { amount: '100', currency: 'JPY', beneficiary: inline }
    t.equal(codeOf(await tryPay(world, request)), 'unsupported_destination')
    await set(world, DEMO, { country: 'JP', currency: 'JPY' })
    t.equal(codeOf(await tryPay(world, request)), 'insufficient_balance')
  },

  'the default routes apply to the sandbox only': async (t, world) => {
    t.equal(codeOf(await tryPay(world, {}, PRODUCTION)), 'unsupported_destination')
    await set(world, null)
    t.equal(codeOf(await tryPay(world, {}, PRODUCTION)), 'insufficient_balance')
  },

  'amount limits are inclusive': async (t, world) => {
    await set(world, DEMO, { amount_min: '1000', amount_max: '2000' })
    for (const [amount, code] of [
      ['999', 'payout_limit_exceeded'],
      ['1000', 'ok'],
      ['2000', 'ok'],
      ['2001', 'payout_limit_exceeded'],
    ] as const) {
      t.equal(codeOf(await tryPay(world, { amount })), code, amount)
    }
  },

  'invalid routes are refused': async (t, world) => {
    for (const fault of [
      { country: 'VNM' },
      { country: 'vn' },
      { country: 'XX' },
      { currency: 'QQQ' },
      { platform_fixed: '-1' },
      { platform_fixed: '1.5' },
      { platform_fixed: '' },
      { rail_fixed: '9223372036854775808' },
      { platform_bps: 10_001 },
      { handling: '' },
      { amount_min: '0' },
      { amount_min: '2', amount_max: '1' },
      { amount_max: '-1' },
      { review_from: '0' },
    ]) {
      t.equal(await set(world, DEMO, fault), 'invalid_request', JSON.stringify(fault))
    }
    t.equal((await routes(world)).length, 3)
    t.same(await operatorLog(t), [])
  },

  'the largest amount is paid and returned exactly': async (t, world) => {
    await open(world, JAPAN)
    viewOf(await deposited(world, 'JPY', String(CAPACITY)))
    for (const [amount, code] of [
      ['9223372036854775808', 'invalid_request'],
      ['9223372036854775807', 'insufficient_balance'],
      [String(CAPACITY + 1n), 'insufficient_balance'],
    ] as const) {
      t.equal(codeOf(await tryPay(world, to(JAPAN, amount))), code, amount)
    }
    const { id, total } = await pay(world, to(JAPAN, String(CAPACITY)))
    t.equal(total, String(CAPACITY))
    t.same(await balanceOf(world, 'JPY'), { available: '0', reserved: String(CAPACITY) })
    await world.railReports(executed(id, { amount: CAPACITY, currency: 'JPY' }))
    t.equal(await accountOf(world, 'rail_clearing', 'JPY'), String(CAPACITY))
    await world.railReports(executed(id, { amount: CAPACITY, currency: 'JPY', status: 'returned' }))
    t.match(await see(world, id), { status: 'reversed' })
    t.same(await balanceOf(world, 'JPY'), { available: String(CAPACITY), reserved: '0' })
  },

  'a return excludes fees when the route keeps them': async (t, world) => {
    const fees = { platform_fixed: '5', platform_bps: 0, rail_fixed: '2' }
    await deposited(world, 'JPY', '10000')
    const cases = [
      ['on_top', 1_000n, '9993'],
      ['deducted', 993n, '9986'],
    ] as const
    for (const [handling, amount, available] of cases) {
      const terms = { ...fees, handling, refund_fees_on_reversal: false }
      await open(world, JAPAN, terms)
      const { id } = await pay(world, to(JAPAN, '1000'))
      await world.railReports(executed(id, { amount, currency: 'JPY' }))
      await world.railReports(executed(id, { amount, currency: 'JPY', status: 'returned' }))
      t.match(await see(world, id), { status: 'reversed' })
      t.same(await balanceOf(world, 'JPY'), { available, reserved: '0' }, handling)
    }
    t.equal(await accountOf(world, 'fees', 'JPY'), '14')
    t.equal(await accountOf(world, 'rail_clearing', 'JPY'), '0')
  },

  'minor units are those of the currency, and fees round up to them': async (t, world) => {
    const terms = { platform_fixed: '3', platform_bps: 33, rail_fixed: '2' }
    const cases = [
      [JAPAN, '1001', '9'], // 3 + ceil(3.3033) + 2 yen
      [KUWAIT, '1234567', '4080'], // 3 + ceil(4074.0711) + 2 fils
      [['VN', 'VND'] as const, '125000', '418'],
      [['TH', 'THB'] as const, '100', '6'],
    ] as const
    for (const [destination, amount, fee] of cases) {
      await open(world, destination, terms)
      await deposited(world, destination[1], '99999999')
      const made = await pay(world, to(destination, amount))
      t.equal(made.fee, fee, destination[1])
      t.equal(made.total, String(BigInt(amount) + BigInt(fee)))
      t.match(made, { recipient_amount: amount })
    }
  },

  'a balance in another currency does not fund a payout': async (t, world) => {
    await open(world, KUWAIT)
    await deposited(world, 'JPY', String(CAPACITY))
    await deposited(world, 'KWD', '999')
    t.equal(codeOf(await tryPay(world, to(KUWAIT, '1000'))), 'insufficient_balance')
    t.equal(codeOf(await tryPay(world, to(KUWAIT, '999'))), 'ok')
  },
})
