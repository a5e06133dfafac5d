/** Deposits, FX quotes, conversions and the list of balance transactions. */
import t from 'tap'
import fc from 'fast-check'
import { HOUR } from '../../src/base/clock.js'
import type { TenantId } from '../../src/base/ids.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { createFxConversion } from '../../src/processor/commands/funds/fx_conversion_create.js'
import { createFxQuote } from '../../src/processor/commands/funds/fx_quote_create.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { depositSandboxFunds } from '../../src/processor/commands/funds/sandbox_deposit.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { listBalanceTransactions } from '../../src/processor/queries/balance_transaction_list.js'
import { NOTHING_WANTED } from '../store/commit_rows.js'
import { intentAt, scanned } from './intent_lifecycle.js'
import { codeOf, createWorld, DEMO, PRODUCTION, viewOf, type World } from '../support/world.js'
import {
  accountOf,
  balanceOf,
  executed,
  idsOf,
  OPERATOR,
  type PageView,
  pay,
  read,
  readAll,
  runOnBothStores,
} from './scenarios.js'

const INT64_MAX = 2n ** 63n - 1n
/** The largest balance of a currency by deposits: int64 less the headroom for captures. */
const CAPACITY = INT64_MAX - 2n ** 53n

interface Quote {
  readonly id: string
  readonly sell_amount: string
  readonly buy_amount: string
  readonly created_at: string
  readonly expires_at: string
}

const credit = (world: World, currency: string, amount: string, key?: string): Promise<Answer> =>
  world.run(
    depositSandboxFunds(DEMO, {
      currency,
      amount,
      ...(key === undefined ? {} : { idempotency_key: key }),
    }),
  )

const quote = (world: World, sell: string, amount: string, buy: string): Promise<Answer> =>
  world.run(createFxQuote(DEMO, { sell_currency: sell, sell_amount: amount, buy_currency: buy }))

const quoted = async (world: World, sell: string, amount: string, buy: string): Promise<Quote> =>
  viewOf<Quote>(await quote(world, sell, amount, buy))

const convert = (
  world: World,
  quoteId: string,
  key: string,
  tenant: TenantId = DEMO,
): Promise<Answer> =>
  world.run(createFxConversion(tenant, { quote_id: quoteId, idempotency_key: key }))

runOnBothStores({
  'test funds are credited at once, once per key': async (t, world) => {
    const first = viewOf(await credit(world, 'JPY', '500', 'k'))
    t.match(first, { id: /^dep_/, currency: 'JPY', amount: '500', created_at: /Z$/ })
    t.same(await balanceOf(world, 'JPY'), { available: '500', reserved: '0' })
    const again = await credit(world, 'JPY', '500', 'k')
    t.same([again.ok && again.replayed, viewOf(again)], [true, first])
    t.equal(codeOf(await credit(world, 'JPY', '501', 'k')), 'idempotency_conflict')
    t.same(await balanceOf(world, 'JPY'), { available: '500', reserved: '0' }, 'credited once')
    await credit(world, 'JPY', '500')
    await credit(world, 'JPY', '500')
    t.same(
      await balanceOf(world, 'JPY'),
      { available: '1500', reserved: '0' },
      'a deposit without a key',
    )
  },

  'a deposit by an operator is credited once per key': async (t, world) => {
    const byHand = (given: object): Promise<Answer> => {
      const request = { currency: 'JPY', amount: '500', idempotencyKey: 'k', ...given }
      return world.run(deposit(OPERATOR, DEMO, request))
    }
    const first = viewOf(await byHand({}))
    t.same(viewOf(await byHand({})), first)
    t.equal(codeOf(await byHand({ amount: '501' })), 'idempotency_conflict')
    t.equal(codeOf(await byHand({ currency: 'KWD' })), 'idempotency_conflict')
    t.same(await balanceOf(world, 'JPY'), { available: '500', reserved: '0' })
  },

  'invalid deposits are refused': async (t, world) => {
    for (const [currency, amount] of [
      ['QQQ', '1'],
      ['jpy', '1'],
      ['JPY', '0'],
      ['JPY', '-1'],
      ['JPY', '1.0'],
      ['JPY', '1e3'],
      ['JPY', '9223372036854775808'],
    ] as const) {
      t.equal(codeOf(await credit(world, currency, amount)), 'invalid_request', amount)
    }
    t.equal(
      codeOf(await credit(world, 'JPY', '1', '')),
      'invalid_request',
      'an empty key is refused',
    )
    const real = depositSandboxFunds(PRODUCTION, { currency: 'JPY', amount: '1' })
    t.equal(codeOf(await world.run(real)), 'invalid_request', 'not in production')
    const refusal = { code: 'invalid_request', violation: { pointer: '/currency' } }
    t.match(await credit(world, 'QQQ', '1'), refusal)
  },

  'deposits are accepted up to the balance limit': async (t, world) => {
    t.equal(codeOf(await credit(world, 'JPY', String(CAPACITY + 1n))), 'balance_limit_exceeded')
    t.equal(codeOf(await credit(world, 'JPY', String(CAPACITY))), 'ok')
    t.equal(codeOf(await credit(world, 'JPY', '1')), 'balance_limit_exceeded')
    const byHand = { currency: 'JPY', amount: '1', idempotencyKey: 'k' }
    t.equal(codeOf(await world.run(deposit(OPERATOR, DEMO, byHand))), 'balance_limit_exceeded')
  },

  'quotes go through the dollar and round down': async (t, world) => {
    const cases: readonly (readonly [string, string, string, string])[] = [
      ['USD', '100', 'THB', '3600'],
      ['THB', '3600', 'USD', '100'],
      ['THB', '3599', 'USD', '99'],
      ['USD', '1', 'VND', '265'],
      ['VND', '264', 'USD', '0'],
      ['VND', '265', 'USD', '1'],
      ['THB', '100', 'VND', '736'],
      ['VND', '737', 'THB', '100'],
      ['VND', '736', 'THB', '99'],
    ]
    for (const [sell, amount, buy, bought] of cases) {
      const answer = await quote(world, sell, amount, buy)
      if (bought === '0') t.equal(codeOf(answer), 'invalid_request', 'a result of zero is refused')
      else t.equal(viewOf<Quote>(answer).buy_amount, bought, `${sell} ${amount} in ${buy}`)
    }
    const { id, created_at, expires_at } = await quoted(world, 'USD', '100', 'THB')
    t.match(id, /^fxq_/)
    t.equal(Date.parse(expires_at) - Date.parse(created_at), 60_000)
  },

  'default rates apply to the sandbox only, rates of operators to both environments': async (
    t,
    world,
  ) => {
    const real = createFxQuote(PRODUCTION, {
      sell_currency: 'USD',
      sell_amount: '100',
      buy_currency: 'THB',
    })
    t.equal(codeOf(await world.run(real)), 'unsupported_currency')
    t.equal((await quoted(world, 'USD', '100', 'THB')).buy_amount, '3600')
    await world.run(setRate(OPERATOR, 'THB', '35.00'))
    t.equal(viewOf<Quote>(await world.run(real)).buy_amount, '3500')
    t.equal((await quoted(world, 'USD', '100', 'THB')).buy_amount, '3500')
  },

  'invalid quotes are refused': async (t, world) => {
    for (const [sell, amount, buy, code] of [
      ['USD', '0', 'THB', 'invalid_request'],
      ['USD', '-5', 'THB', 'invalid_request'],
      ['USD', '1.5', 'THB', 'invalid_request'],
      ['THB', '100', 'THB', 'invalid_request'],
      ['USD', '9223372036854775807', 'VND', 'invalid_request'],
      ['USD', '100', 'QQQ', 'unsupported_currency'],
      ['USD', '100', 'EUR', 'unsupported_currency'],
      ['EUR', '100', 'USD', 'unsupported_currency'],
    ] as const) {
      t.equal(codeOf(await quote(world, sell, amount, buy)), code, `${sell} ${amount} ${buy}`)
    }
    const rule = 'must differ from sell_currency'
    t.match(await quote(world, 'THB', '1', 'THB'), {
      violation: { pointer: '/buy_currency', rule },
    })
  },

  'a quote is converted at its own rate': async (t, world) => {
    const offer = await quoted(world, 'USD', '100', 'VND')
    await world.run(setRate(OPERATOR, 'VND', '1', { force: true }))
    const first = await convert(world, offer.id, 'k')
    const view = viewOf(first)
    t.match(view, {
      id: /^fxc_/,
      quote_id: offer.id,
      sell_currency: 'USD',
      sell_amount: '100',
      buy_currency: 'VND',
      buy_amount: '26500',
    })
    t.same(await balanceOf(world, 'USD'), { available: '999999900', reserved: '0' })
    t.same(await balanceOf(world), { available: '1000026500', reserved: '0' })
    t.equal(await accountOf(world, 'fx'), '-26500')
    const again = await convert(world, offer.id, 'k')
    t.same([again.ok && again.replayed, viewOf(again)], [true, view])
    t.equal(
      codeOf(await convert(world, offer.id, 'other')),
      'quote_expired',
      'a quote is converted once',
    )
    const second = await quoted(world, 'USD', '100', 'THB')
    t.equal(codeOf(await convert(world, second.id, 'k')), 'idempotency_conflict')
    t.equal(await accountOf(world, 'fx'), '-26500')
  },

  'a quote of a clock that was ahead has expired once it is right': async (t, world) => {
    const right = world.clock.now()
    world.clock.pass(7 * HOUR) // a machine whose clock is in local time
    const { id } = await quoted(world, 'USD', '100', 'THB')
    world.clock.set(right)
    t.equal(codeOf(await convert(world, id, 'k')), 'quote_expired')
  },

  'concurrent conversions of a quote in one batch convert it once': async (t, world) => {
    const { id } = await quoted(world, 'USD', '100', 'THB')
    const command = (key: string): ReturnType<typeof createFxConversion> =>
      createFxConversion(DEMO, { quote_id: id, idempotency_key: key })
    const answers = await world.runAll([command('a'), command('a'), command('b')])
    t.same(answers.map(codeOf), ['ok', 'ok', 'quote_expired'])
    t.same(viewOf(answers[1]!), viewOf(answers[0]!))
  },

  'invalid conversions are refused': async (t, world) => {
    const offer = await quoted(world, 'USD', '100', 'THB')
    t.equal(codeOf(await convert(world, 'fxq_none', 'k')), 'fx_quote_not_found')
    const foreign = await convert(world, offer.id, 'k', PRODUCTION)
    t.equal(codeOf(foreign), 'fx_quote_not_found', 'the quote of another tenant')
    world.clock.pass(59_999)
    t.equal(codeOf(await convert(world, offer.id, 'in time')), 'ok')
    const late = await quoted(world, 'USD', '100', 'THB')
    world.clock.pass(60_000)
    t.equal(codeOf(await convert(world, late.id, 'k')), 'quote_expired')
    const unaffordable = await quoted(world, 'USD', '1000000000', 'THB')
    t.equal(codeOf(await convert(world, unaffordable.id, 'k')), 'insufficient_balance')
    t.equal(
      codeOf(await convert(world, unaffordable.id, 'k')),
      'insufficient_balance',
      'the key is not used',
    )
  },

  'conversions leave capacity for captures': async (t, world) => {
    await world.run(setRate(OPERATOR, 'JPY', '100'))
    await credit(world, 'JPY', String(CAPACITY - 100n))
    const tooMuch = await quoted(world, 'USD', '101', 'JPY')
    t.equal(tooMuch.buy_amount, '101')
    t.equal(codeOf(await convert(world, tooMuch.id, 'a')), 'balance_limit_exceeded')
    const fits = await quoted(world, 'USD', '100', 'JPY')
    t.equal(codeOf(await convert(world, fits.id, 'b')), 'ok')
    t.equal(
      codeOf(await credit(world, 'JPY', '1')),
      'balance_limit_exceeded',
      'bought amounts count',
    )
    const back = await quoted(world, 'JPY', '100', 'USD')
    t.equal(codeOf(await convert(world, back.id, 'c')), 'ok')
    t.equal(codeOf(await credit(world, 'JPY', '100')), 'ok', 'amounts sold again do not count')
    t.equal(codeOf(await credit(world, 'JPY', '1')), 'balance_limit_exceeded')
  },

  'balance transactions are listed newest first': async (t, world) => {
    const before = await readAll<object>(world, (page) => listBalanceTransactions(DEMO, page))
    const { id, total } = await pay(world)
    await world.railReports(executed(id))
    const offer = await quoted(world, 'VND', '26500', 'USD')
    const { id: conversion } = viewOf<{ id: string }>(await convert(world, offer.id, 'k'))
    const listed = await readAll<Record<string, string>>(world, (page) =>
      listBalanceTransactions(DEMO, { limit: 2, ...page }),
    )
    const left = 1_000_000_000n - BigInt(total)
    t.match(listed.slice(0, listed.length - before.length), [
      { currency: 'USD', amount: '100', account: 'available', type: 'conversion' },
      {
        currency: 'VND',
        amount: '-26500',
        balance: String(left - 26_500n),
        account: 'available',
        entity: conversion,
      },
      { amount: `-${total}`, balance: '0', account: 'reserved', type: 'payout_completed' },
      { amount: total, balance: total, account: 'reserved', type: 'payout_accepted', entity: id },
      { amount: `-${total}`, balance: String(left), account: 'available', created_at: /Z$/ },
    ])
    t.same(listed.slice(listed.length - before.length), before)
    t.equal(new Set(listed.map((each) => each['id'])).size, listed.length)
    t.match(listed[0]?.['id'], /^btx_/)
    const foreign = await read(world, listBalanceTransactions(PRODUCTION, {}))
    t.same(viewOf(foreign), { data: [], next_cursor: null })
    const first = await read(world, listBalanceTransactions(DEMO, { limit: 1 }))
    const cursor = viewOf<PageView<unknown>>(first).next_cursor!
    const borrowed = await read(world, listBalanceTransactions(PRODUCTION, { cursor }))
    t.equal(codeOf(borrowed), 'invalid_request')
  },
})

t.test('a spread of 100 bps is taken from what is bought, and from a scan', async (t) => {
  const bought: bigint[] = []
  const paid: bigint[] = []
  for (const spreadBps of [0, 100])
    await t.test(`${spreadBps} bps`, async (t) => {
      const world = await createWorld(t, { rules: { spreadBps } })
      await credit(world, 'USD', '1000000')
      const { id, buy_amount } = await quoted(world, 'USD', '1000000', 'THB')
      const converted = viewOf<Quote>(await convert(world, id, 'k'))
      t.equal(converted.buy_amount, buy_amount, 'a conversion is at its quote')
      const payment = await intentAt(world, scanned)
      const { context } = world.memory().intents.get(payment.id)!
      bought.push(BigInt(buy_amount))
      paid.push(BigInt(context.scanned!.quote.cents))
    })
  t.equal(bought[1], (bought[0]! * 99n) / 100n)
  t.ok(paid[1]! > paid[0]!)
})

t.test('a round trip never gains', async (t) => {
  const world = await createWorld(t)
  const currencies = ['USD', 'THB', 'VND']
  await fc.assert(
    fc.asyncProperty(
      fc.bigInt({ min: 1n, max: 2n ** 60n }),
      fc.constantFrom(...currencies),
      fc.constantFrom(...currencies),
      async (amount, sell, buy) => {
        const there = await quote(world, sell, String(amount), buy)
        if (!there.ok) return
        const back = await quote(world, buy, viewOf<Quote>(there).buy_amount, sell)
        if (!back.ok) return
        t.ok(BigInt(viewOf<Quote>(back).buy_amount) <= amount)
      },
    ),
  )
})

t.test('an unused quote is deleted', async (t) => {
  const world = await createWorld(t)
  const { id } = await quoted(world, 'USD', '100', 'THB')
  const taken = await quoted(world, 'USD', '100', 'THB')
  await convert(world, taken.id, 'k')
  world.clock.pass(3_600_000)
  for (let i = 0; i < 130; i++) await credit(world, 'JPY', '1')
  const found = await world.store.load({ ...NOTHING_WANTED, fxQuotes: [id, taken.id] })
  t.same(idsOf(found.fxQuotes), [taken.id])
  await world.rebuild()
  t.equal(codeOf(await convert(world, id, 'late')), 'fx_quote_not_found')
  t.equal(codeOf(await convert(world, taken.id, 'other')), 'quote_expired')
})
