/** Payout routes: precedence, the effect of their terms, and that accepted payouts keep theirs. */
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
} from './scenarios.js'

const ACME = tenantOf('acme' as PartnerId, 'sandbox')

const set = async (world: World, tenant: typeof DEMO | null, given = {}): Promise<string> =>
  codeOf(await world.run(setRoute(OPERATOR, tenant, aRoute(given))))

const routes = async (world: World): Promise<WireRoute[]> =>
  viewOf<{ data: WireRoute[] }>(await world.run(listRoutes())).data

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
})
