/** `balance.low` is published once each time the balance falls below the threshold. */
import { setBalanceAlert } from '../../src/processor/commands/funds/balance_alert_set.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import { codeOf, DEMO, PRODUCTION, viewOf, type World } from '../support/world.js'
import {
  OPERATOR,
  operatorLog,
  pay,
  payout,
  runOnBothStores,
  type PayoutView,
} from './scenarios.js'

const FUNDS = 1_000_000_000n
/** The total of `aPayout`. */
const TOTAL = 12_533_300n

const set = async (world: World, threshold: bigint | string, currency = 'VND'): Promise<string> =>
  codeOf(await world.run(setBalanceAlert(OPERATOR, DEMO, currency, String(threshold))))

const credit = (world: World, amount: bigint): Promise<unknown> =>
  world.run(depositSandboxFunds(DEMO, { currency: 'VND', amount: String(amount) }))

const alerts = (world: World): object[] =>
  world.events
    .filter(({ type }) => type === 'balance.low')
    .map(({ body }) => (JSON.parse(body) as { data: { balance: object } }).data.balance)

runOnBothStores({
  'the alert is published once below the threshold, and again after a deposit': async (
    t,
    world,
  ) => {
    await set(world, FUNDS - TOTAL)
    await pay(world)
    t.same(alerts(world), [], 'a balance at the threshold is not below it')
    await pay(world)
    t.same(alerts(world), [
      {
        currency: 'VND',
        available: String(FUNDS - 2n * TOTAL),
        reserved: String(2n * TOTAL),
        threshold: String(FUNDS - TOTAL),
      },
    ])
    const { id } = await pay(world)
    t.equal(alerts(world).length, 1, 'the alert is published once')
    await credit(world, TOTAL)
    await pay(world)
    t.equal(alerts(world).length, 1, 'still below')
    await world.railReports({ status: 'refused', id, reportId: null, refusal: 'rejected' })
    await credit(world, 2n * TOTAL)
    await pay(world)
    await pay(world)
    t.equal(alerts(world).length, 2, 'a deposit arms the alert again')
  },

  'the alert is published once for a batch of payouts': async (t, world) => {
    await set(world, FUNDS - TOTAL)
    const answers = await world.runAll([1, 2, 3].map(() => createPayout(DEMO, payout())))
    t.equal(new Set(answers.map((answer) => viewOf<PayoutView>(answer).id)).size, 3)
    t.equal(alerts(world).length, 1)
  },

  'a threshold above the balance does not fire': async (t, world) => {
    await set(world, FUNDS + 5n)
    await pay(world)
    t.same(alerts(world), [], 'the balance is already below the threshold')
    await credit(world, TOTAL + 5n)
    await pay(world)
    t.equal(alerts(world).length, 1)
  },

  'a threshold of 0 turns the alert off': async (t, world) => {
    await pay(world)
    await set(world, FUNDS - TOTAL)
    await set(world, 0n)
    await pay(world)
    t.same(alerts(world), [])
    for (const [threshold, currency] of [
      ['-1', 'VND'],
      ['1.5', 'VND'],
      ['', 'VND'],
      ['1', 'QQQ'],
    ] as const) {
      t.equal(await set(world, threshold, currency), 'invalid_request')
    }
    t.match(await operatorLog(t), [
      { action: 'set_balance_alert', subject: `demo_sandbox:VND:prefund ${FUNDS - TOTAL}` },
      { subject: 'demo_sandbox:VND:prefund 0' },
    ])
  },

  'the trigger of the sandbox publishes one alert, also where the threshold fires': async (
    t,
    world,
  ) => {
    const low = { reference: 'sandbox:balance_low' }
    await set(world, FUNDS)
    await pay(world, low)
    t.match(alerts(world), [{ threshold: String(FUNDS) }], 'its payout fires the alert')
    await pay(world, low)
    t.match(alerts(world).slice(1), [{ threshold: String(FUNDS - TOTAL) }], 'which is not armed')
  },

  'an alert is for one tenant and one currency': async (t, world) => {
    await world.run(setBalanceAlert(OPERATOR, PRODUCTION, 'VND', String(FUNDS)))
    await set(world, 999_999_999n, 'USD')
    await pay(world)
    t.same(alerts(world), [])
  },
})
