/** Payout amounts: the largest possible, currencies with any number of digits, other currencies. */
import { setRoute } from '../../src/processor/commands/operators/route_set.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import { codeOf, DEMO, viewOf, type World } from '../support/world.js'
import {
  accountOf,
  aRoute,
  balanceOf,
  executed,
  pay,
  OPERATOR,
  payout,
  see,
  runOnBothStores,
  tryPay,
} from './scenarios.js'

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
