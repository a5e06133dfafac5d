/** Withdrawals from a prefund, and corrections of deposits. */
import t from 'tap'
import { accountKey } from '../../src/ledger/accounts.js'
import { USD } from '../../src/money/currency.js'
import { setBalanceAlert } from '../../src/processor/commands/funds/balance_alert_set.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { correctDeposit } from '../../src/processor/commands/funds/deposit_correct.js'
import { withdraw } from '../../src/processor/commands/funds/withdraw.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { listBalanceTransactions } from '../../src/processor/queries/balance_transaction_list.js'
import { codeOf, createWorld, DEMO, viewOf, type World, PRODUCTION } from '../support/world.js'
import {
  balanceOf,
  executed,
  OPERATOR,
  operatorLogOf,
  pay,
  readAll,
  runOnBothStores,
  types,
  tryPay,
} from './scenarios.js'

const EVIDENCE = 'statement 17, line 4'
const GIVEN = { currency: 'JPY', amount: '300', evidence: EVIDENCE, idempotencyKey: 'k' }

const deposited = async (world: World, amount: string, currency = 'JPY'): Promise<string> => {
  const request = { currency, amount, idempotencyKey: `d-${currency}-${amount}` }
  return viewOf<{ deposit_id: string }>(await world.run(deposit(OPERATOR, DEMO, request)))
    .deposit_id
}

const withdrawn = (world: World, given: object = {}, tenant = DEMO): Promise<Answer> =>
  world.run(withdraw(OPERATOR, tenant, { ...GIVEN, ...given }))

const corrected = (world: World, id: string, given: object = {}, tenant = DEMO): Promise<Answer> =>
  world.run(correctDeposit(OPERATOR, tenant, id, { ...GIVEN, ...given }))

const availableOf = async (world: World, currency = 'JPY'): Promise<string> =>
  (await balanceOf(world, currency)).available

const transactionsOf = (world: World) =>
  readAll<{ type: string; entity: string; amount: string }>(world, (page) =>
    listBalanceTransactions(DEMO, page),
  )

runOnBothStores({
  'a withdrawal is booked once per key': async (t, world) => {
    await deposited(world, '1000')
    const first = await withdrawn(world)
    t.match(viewOf(first), { withdrawal_id: /^wdr_/, available: '700' })
    const again = await withdrawn(world)
    t.same([again.ok && again.replayed, viewOf(again)], [true, viewOf(first)])
    for (const other of [{ amount: '301' }, { currency: 'KWD' }, { evidence: 'another' }])
      t.equal(codeOf(await withdrawn(world, other)), 'idempotency_conflict')
    t.equal(await availableOf(world), '700')
    const { withdrawal_id: id } = viewOf<{ withdrawal_id: string }>(first)
    const [newest] = await transactionsOf(world)
    t.match(newest, { type: 'withdrawal', entity: id, amount: '-300', account: 'available' })
    t.match(await operatorLogOf(t, `${DEMO} ${id}`), [
      { action: 'withdraw', actor: 'ann', reason: 'a test', evidence: EVIDENCE },
    ])
    t.equal(world.memory().balances.get(accountKey(DEMO, 'JPY' as never, 'funding')), -700n)
  },

  'only what is available can be withdrawn': async (t, world) => {
    const id = await deposited(world, '1000')
    t.equal(codeOf(await withdrawn(world, { amount: '1001' })), 'insufficient_balance')
    t.equal(codeOf(await corrected(world, id, { amount: '1000' })), 'ok')
    t.equal(codeOf(await withdrawn(world, { amount: '1' })), 'insufficient_balance')
    t.equal(codeOf(await withdrawn(world, { amount: '1' }, PRODUCTION)), 'insufficient_balance')
    t.equal(await availableOf(world), '0')
  },

  'what payments reserve stays': async (t, world) => {
    const { id, total } = await pay(world)
    const { available, reserved } = await balanceOf(world)
    t.equal(reserved, total)
    const most = { currency: 'VND', amount: `${BigInt(available) + 1n}` }
    t.equal(codeOf(await withdrawn(world, most)), 'insufficient_balance')
    t.equal(codeOf(await withdrawn(world, { ...most, amount: available })), 'ok')
    await world.railReports(executed(id))
    t.same(await balanceOf(world), { available: '0', reserved: '0' })
  },

  'the corrections of a deposit never exceed it': async (t, world) => {
    const id = await deposited(world, '1000')
    await deposited(world, '9000')
    const first = await corrected(world, id)
    t.same(viewOf(first), { deposit_id: id, corrected: '300', available: '9700' })
    t.same(viewOf(await corrected(world, id)), viewOf(first), 'a replay')
    t.equal(codeOf(await corrected(world, id, { amount: '200' })), 'idempotency_conflict')
    await world.rebuild()
    t.same(viewOf(await corrected(world, id)), viewOf(first), 'a replay after a restart')
    const next = { amount: '701', idempotencyKey: 'k2' }
    t.equal(codeOf(await corrected(world, id, next)), 'correction_exceeds_deposit')
    t.equal(codeOf(await corrected(world, id, { ...next, amount: '700' })), 'ok')
    t.match(await operatorLogOf(t, `${DEMO} ${id}`), [
      { action: 'deposit' },
      { action: 'correct_deposit', evidence: EVIDENCE },
      { action: 'correct_deposit', evidence: EVIDENCE },
    ])
    const ofDeposit = (await transactionsOf(world)).filter(({ entity }) => entity === id)
    const texts = ofDeposit.map(({ type, amount }) => `${type} ${amount}`)
    t.same(texts, ['deposit_corrected -700', 'deposit_corrected -300', 'deposit 1000'])
    t.equal(await availableOf(world), '9000')
  },

  'a correction needs the deposit, its owner and its currency': async (t, world) => {
    const id = await deposited(world, '1000')
    t.equal(codeOf(await corrected(world, 'dep_none')), 'deposit_not_found')
    t.equal(codeOf(await corrected(world, id, {}, PRODUCTION)), 'deposit_not_found')
    const { id: other } = await pay(world)
    t.equal(codeOf(await corrected(world, other)), 'deposit_not_found', 'the id of a payout')
    const invalid = [
      { currency: 'VND' },
      { currency: 'QQQ' },
      { amount: '0' },
      { amount: '-1' },
      { evidence: ' ' },
      { idempotencyKey: '' },
    ]
    for (const given of invalid)
      t.equal(codeOf(await corrected(world, id, given)), 'invalid_request', JSON.stringify(given))
    for (const given of invalid.slice(1))
      t.equal(codeOf(await withdrawn(world, given)), 'invalid_request', JSON.stringify(given))
    t.equal(await availableOf(world), '1000')
  },

  'what is spent cannot be corrected': async (t, world) => {
    const id = await deposited(world, '1000')
    viewOf(await withdrawn(world, { amount: '900' }))
    t.equal(codeOf(await corrected(world, id, { amount: '101' })), 'insufficient_balance')
    t.equal(codeOf(await corrected(world, id, { amount: '100' })), 'ok')
  },

  'a suspended partner gets its money back, and a low balance is announced': async (t, world) => {
    const id = await deposited(world, '10000', 'USD')
    viewOf(await world.run(setBalanceAlert(OPERATOR, DEMO, USD, '1000000')))
    viewOf(await world.run(changePartner(OPERATOR, 'demo', { kind: 'suspend' })))
    const usd = { currency: 'USD', amount: '1' }
    t.equal(codeOf(await corrected(world, id, usd)), 'ok')
    const amount = await availableOf(world, 'USD')
    t.equal(codeOf(await withdrawn(world, { ...usd, amount })), 'ok')
    t.equal(types(world).filter((type) => type === 'balance.low').length, 1)
  },
})

for (const first of ['payout', 'withdrawal']) {
  t.test(
    `of a payout and a withdrawal of the same money the first is accepted: ${first}`,
    async (t) => {
      const world = await createWorld(t)
      const { total } = await pay(world)
      const { available } = await balanceOf(world)
      const rest = `${BigInt(available) - BigInt(total)}`
      viewOf(await withdrawn(world, { currency: 'VND', amount: rest, idempotencyKey: 'rest' }))
      const paid = () => tryPay(world, { idempotency_key: 'second' })
      const out = () => withdrawn(world, { currency: 'VND', amount: total })
      const inOrder = first === 'payout' ? [paid, out] : [out, paid]
      const answers = await Promise.all(inOrder.map((begin) => begin()))
      t.same(answers.map(codeOf), ['ok', 'insufficient_balance'])
      t.equal(await availableOf(world, 'VND'), '0')
    },
  )
}

t.test('of two corrections at once, which together exceed the deposit, one', async (t) => {
  const world = await createWorld(t)
  const id = await deposited(world, '1000')
  await deposited(world, '9000')
  const both = await Promise.all(
    ['a', 'b'].map((key) => corrected(world, id, { amount: '700', idempotencyKey: key })),
  )
  t.same(both.map(codeOf), ['ok', 'correction_exceeds_deposit'])
  t.equal(await availableOf(world), '9300')
})
