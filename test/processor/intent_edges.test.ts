/**
 * Boundaries of intents: limits by local day and month, minimums, ceilings, rounding, and the last
 * millisecond of every deadline.
 */
import t, { type Test } from 'tap'
import { accountKey } from '../../src/ledger/accounts.js'
import { USD } from '../../src/money/currency.js'
import { rateKey } from '../../src/quotes/rates.js'
import type { RateChange } from '../../src/processor/changes/approval_requests.js'
import { setRate, setRates } from '../../src/processor/commands/operators/rate_set.js'
import { listRates } from '../../src/processor/commands/operators/rates_list.js'
import type { CommandContext } from '../../src/processor/cycle/command.js'
import { codeOf, createWorld, DEMO, RULES, viewOf, type World } from '../support/world.js'
import { damage } from './damaged_world.js'
import {
  authorized,
  beginLifecycle,
  captured,
  INTENT_TTL,
  openTenant,
  QUOTE_TTL,
  scanned,
  waiting,
  type Intent,
  type Lifecycle,
  intentAt,
} from './intent_lifecycle.js'

type CorridorName = 'th_promptpay' | 'vn_vietqr'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const UNASKED = { duplicate_confirmed: true }

/** Scans and confirms another intent of the user; returns the code of the first refusal. */
async function pay(
  world: World,
  corridor: CorridorName,
  user: string,
  minor: number,
): Promise<string> {
  const lifecycle = await beginLifecycle(world, { corridor, user })
  return payWith(lifecycle, minor)
}

async function payWith(lifecycle: Lifecycle, minor: number): Promise<string> {
  const scan = codeOf(await lifecycle.scan(String(minor), UNASKED))
  return scan === 'ok' ? codeOf(await lifecycle.confirm()) : `scan: ${scan}`
}

t.test('one payment may use a whole day or month', async (t) => {
  const whole = { ...RULES.caps.th_promptpay, perDay: 5_000_000n, perMonth: 5_000_000n }
  const world = await createWorld(t, { rules: { caps: { ...RULES.caps, th_promptpay: whole } } })
  t.equal(await pay(world, 'th_promptpay', 'u', 5_000_000), 'ok')
  t.equal(await pay(world, 'th_promptpay', 'u', 100), 'scan: user_limit_exceeded')
})

t.test('limits of a transaction, a day and a month apply', async (t) => {
  const LIMITS = {
    th_promptpay: { transaction: 5_000_000, day: 20_000_000, month: 100_000_000, least: 100 },
    vn_vietqr: { transaction: 5_000_000, day: 10_000_000, month: 25_000_000, least: 1_000 },
  } as const
  for (const [name, { transaction, day, month, least }] of Object.entries(LIMITS)) {
    const corridor = name as CorridorName
    await t.test(name, async (t) => {
      const world = await createWorld(t)
      const paid = (minor: number, user = 'u'): Promise<string> => pay(world, corridor, user, minor)
      const exceeded = 'scan: user_limit_exceeded'
      world.clock.set(Date.UTC(2026, 10, 1, 3))

      t.equal(await paid(least - 1), 'scan: amount_below_minimum')
      t.equal(await paid(least), 'ok', 'the least')
      t.equal(await paid(transaction + 1), exceeded, 'a transaction')
      let left = day - least
      for (; left > transaction; left -= transaction) t.equal(await paid(transaction), 'ok')
      t.equal(await paid(left + 1), exceeded, 'a day')
      t.equal(await paid(left), 'ok', 'the whole day limit')
      t.equal(await paid(least), exceeded, 'the day limit is used up')
      t.equal(await paid(least, 'v'), 'ok', 'another user has a separate limit')

      world.clock.set(Date.UTC(2026, 10, 1, 17) - 1)
      t.equal(await paid(least), exceeded, 'the last millisecond of the local day')
      for (left = month - day; left > 0;) {
        world.clock.set(nextLocalDay(world.clock.now()))
        for (let today = Math.min(day, left); today > 0; today -= transaction) {
          const minor = Math.min(transaction, today)
          t.equal(await paid(minor), 'ok', 'the next local day')
          left -= minor
        }
      }
      world.clock.set(nextLocalDay(world.clock.now()))
      t.equal(await paid(least), exceeded, 'a month')
      world.clock.set(Date.UTC(2026, 10, 30, 17) - 1)
      t.equal(await paid(least), exceeded, 'the last millisecond of the local month')
      world.clock.set(Date.UTC(2026, 10, 30, 17))
      t.equal(await paid(transaction), 'ok', 'the next local month')
    })
  }
})

t.test('concurrent confirmations of one batch cannot exceed a limit', async (t) => {
  /** Intents that are all scanned first and then confirmed in one batch. */
  const raced = async (world: World, intents: readonly Lifecycle[]): Promise<string[]> => {
    const answers = await world.runAll(intents.map(({ calls }) => calls.confirm()))
    return answers.map(codeOf)
  }
  const begun = async (first: Lifecycle, count: number, given: object): Promise<Lifecycle[]> => {
    const intents = [first]
    while (intents.length < count) intents.push(await first.another())
    for (const lifecycle of intents) viewOf(await lifecycle.scan('5000000', given))
    return intents
  }
  const refused = (code: string, from: number): string[] =>
    Array.from({ length: 6 }, (_, i) => (i < from ? 'ok' : code))

  await t.test("a user's day limit", async (t) => {
    const world = await createWorld(t)
    const intents = await begun(await beginLifecycle(world, { corridor: 'vn_vietqr' }), 6, UNASKED)
    t.same(await raced(world, intents), refused('user_limit_exceeded', 2))
  })
  await t.test("a partner's balance", async (t) => {
    const world = await createWorld(t)
    const tenant = await openTenant(world, 'unfunded', {}, 4n * 138_889n - 1n)
    const intents: Lifecycle[] = []
    for (let i = 0; i < 6; i++) intents.push(await beginLifecycle(world, { tenant }))
    for (const lifecycle of intents) viewOf(await lifecycle.scan('5000000'))
    t.same(await raced(world, intents), refused('insufficient_balance', 3))
    t.ok((await world.trialBalance()).balanced)
  })
  await t.test('one of several duplicates', async (t) => {
    const world = await createWorld(t)
    const intents = await begun(await beginLifecycle(world), 6, {})
    t.same(await raced(world, intents), refused('duplicate_scan', 1))
  })
})

/** Midnight at UTC+7. */
const nextLocalDay = (now: number): number =>
  Math.floor((now + 420 * MINUTE) / DAY + 1) * DAY - 420 * MINUTE

t.test('a damaged counter of a limit does not fall below 0, and counts as corrupt', async (t) => {
  const world = await createWorld(t)
  const last = await intentAt(world, waiting)
  await damage(world, async ({ run }) => t.equal(await run('UPDATE limit_usage SET used = 1'), 2))
  t.equal(world.memory().corruptRows.count, 0)
  await last.refused()
  t.equal(world.memory().corruptRows.count, 2, 'of the day and the month')
  t.equal(await pay(world, 'vn_vietqr', 'u', 5_000_000), 'ok', 'payments go on')
})

t.test('a payment counts in the periods of its confirmation and is released there', async (t) => {
  const MIDNIGHT = Date.UTC(2026, 10, 30, 17)
  const full = ['vn_vietqr', 'u', 5_000_000] as const

  const usedUpBefore = async (t: Test): Promise<[World, Lifecycle]> => {
    const world = await createWorld(t)
    world.clock.set(MIDNIGHT - 10_000)
    t.equal(await pay(world, ...full), 'ok')
    const last = await beginLifecycle(world, { corridor: 'vn_vietqr', user: 'u' })
    viewOf(await last.scan('5000000', UNASKED))
    return [world, last]
  }

  await t.test('scanned before midnight, confirmed after', async (t) => {
    const [world, last] = await usedUpBefore(t)
    world.clock.set(MIDNIGHT)
    t.equal(codeOf(await last.confirm()), 'ok')
    t.equal(await pay(world, ...full), 'ok', 'the second payment of the new day')
    t.match(await pay(world, ...full), 'user_limit_exceeded', 'the third')
  })
  await t.test('refused after midnight', async (t) => {
    const [world, last] = await usedUpBefore(t)
    viewOf(await last.confirm())
    world.clock.set(MIDNIGHT)
    t.equal(await pay(world, ...full), 'ok')
    await last.refused()
    t.equal(await pay(world, ...full), 'ok')
    t.match(await pay(world, ...full), 'user_limit_exceeded', 'nothing is released to the new day')
    world.clock.set(MIDNIGHT - 1)
    t.equal(await pay(world, ...full), 'ok', 'it is released to the old day')
    t.match(await pay(world, ...full), 'user_limit_exceeded')
  })
  await t.test('cancelled before its submission', async (t) => {
    const [world, last] = await usedUpBefore(t)
    world.setRail(false)
    viewOf(await last.confirm())
    t.match(await pay(world, ...full), 'user_limit_exceeded')
    viewOf(await last.cancel())
    t.equal(await pay(world, ...full), 'ok')
  })
  await t.test('never submitted', async (t) => {
    const [world, last] = await usedUpBefore(t)
    world.clock.set(MIDNIGHT - 10 * MINUTE)
    viewOf(await last.scan())
    world.setRail(false)
    viewOf(await last.confirm())
    world.clock.pass(MINUTE)
    await last.timer()
    t.equal((await last.see()).status, 'failed')
    t.equal(await pay(world, ...full), 'ok')
  })
  await t.test('a refund releases no limits', async (t) => {
    const [world, last] = await usedUpBefore(t)
    viewOf(await last.confirm())
    await last.executed()
    await last.returned()
    t.equal((await last.see()).status, 'refunded')
    t.match(await pay(world, ...full), 'user_limit_exceeded')
  })
  await t.test('corridors have separate limits', async (t) => {
    const [world, last] = await usedUpBefore(t)
    viewOf(await last.confirm())
    t.equal(await pay(world, 'th_promptpay', 'u', 5_000_000), 'ok')
  })
})

t.test("a quote's cents round up, and its ceiling is the intent's amount", async (t) => {
  const world = await createWorld(t)
  const operator = { name: 'test', reason: 'rounding' }
  for (const [corridor, rate, minor, cents] of [
    ['th_promptpay', '36.00', 36_000, 1_000],
    ['th_promptpay', '36.00', 36_001, 1_001],
    ['th_promptpay', '36.00', 35_999, 1_000],
    ['th_promptpay', '36.00', 100, 3],
    ['th_promptpay', '35.123457', 36_000, 1_025],
    ['th_promptpay', '33.333333', 100_000, 3_001],
    ['th_promptpay', '0.01', 100, 10_000],
    ['th_promptpay', '999999999999', 5_000_000, 1],
    ['vn_vietqr', '26500', 26_500, 100],
    ['vn_vietqr', '26500', 26_501, 101],
    ['vn_vietqr', '26500', 1_000, 4],
    ['vn_vietqr', '25999.7', 5_000_000, 19_231],
    ['vn_vietqr', '26500.0000000001', 26_500, 100],
    ['vn_vietqr', '26499.9999999999', 26_500, 101],
  ] as const) {
    const currency = corridor === 'th_promptpay' ? 'THB' : 'VND'
    viewOf(await world.run(setRate(operator, currency, rate, { force: true })))
    const name = `${minor} at ${rate} is ${cents}`
    const exact = await beginLifecycle(world, { corridor, over: { amount_usd_cents: cents } })
    const { quote } = viewOf<Intent>(await exact.scan(String(minor)))
    t.match(quote, { amount_usd_cents: cents, local_amount_minor_units: String(minor) }, name)
    const before = reserved(world)
    viewOf(await exact.confirm())
    t.equal(reserved(world) - before, BigInt(cents), 'the debit is the quote')
    if (cents === 1) continue
    const less = await beginLifecycle(world, { corridor, over: { amount_usd_cents: cents - 1 } })
    t.equal(codeOf(await less.scan(String(minor))), 'quote_exceeds_intent_amount', name)
  }
})

const reserved = (world: World): bigint =>
  world.memory().balances.get(accountKey(DEMO, USD, 'reserved')) ?? 0n

t.test('a new rate does not change bound quotes', async (t) => {
  const world = await createWorld(t)
  const lifecycle = await intentAt(world, scanned)
  await world.run(setRate({ name: 'test', reason: 'dearer' }, 'THB', '18.00', { force: true }))
  t.match(viewOf<Intent>(await lifecycle.confirm()).quote, { amount_usd_cents: 1_000 })
  const later = await lifecycle.another()
  t.match(viewOf<Intent>(await later.scan('36001')).quote, { amount_usd_cents: 2_001 })
})

t.test('the US dollar has no rate', async (t) => {
  const world = await createWorld(t)
  const operator = { name: 'test', reason: 'a typo' }
  t.equal(codeOf(await world.run(setRate(operator, 'USD', '1'))), 'invalid_request')
  t.notOk(world.memory().rates.has(rateKey('sandbox', USD)))
})

t.test('a rate of one environment leaves the other alone, also after a restart', async (t) => {
  const world = await createWorld(t)
  const operator = { name: 'ann', reason: 'a test' }
  const set = async (rate: string, environment: string): Promise<string> =>
    codeOf(await world.run(setRate(operator, 'THB', rate, { environment })))
  t.equal(await set('36', 'moon'), 'invalid_request')
  t.equal(await set('36.00', ''), 'ok')
  t.equal(await set('36.50', 'production'), 'ok')
  const both = {
    data: [
      { environment: 'production', currency: 'THB', rate: '36.50', set_by: 'ann', before: '36.00' },
      { environment: 'sandbox', currency: 'THB', rate: '36.00', set_by: 'ann' },
      { environment: 'sandbox', currency: 'VND', rate: '26500' },
    ],
  }
  t.match(viewOf(await world.run(listRates())), both)
  t.equal(await set('38.50', 'production'), 'rate_change_unconfirmed')
  t.equal(await set('38.50', ''), 'rate_change_unconfirmed', 'one of both is enough')
  await world.rebuild()
  t.match(viewOf(await world.run(listRates())), both)
  t.equal(await set('38.00', 'sandbox'), 'rate_change_unconfirmed')
})

t.test('several rates are set all or none, and removed', async (t) => {
  const world = await createWorld(t)
  const operator = { name: 'ann', reason: 'a test' }
  const set = async (rates: readonly RateChange[], force = false): Promise<string> =>
    codeOf(await world.run(setRates(operator, rates, { force })))
  const listed = async () =>
    viewOf<{ data: { currency: string; environment: string; rate: string }[] }>(
      await world.run(listRates()),
    ).data.map(({ currency, environment, rate }) => `${currency} ${environment} ${rate}`)
  const [baht, dong] = [
    { currency: 'THB', rate: '36.00', environment: 'production' },
    { currency: 'VND', rate: '26000' },
  ]
  const first = ['THB production 36.00', 'THB sandbox 35.50']
  const shipped = (await listed()).filter((line) => line.startsWith('THB'))
  for (const wrong of [
    [],
    [baht, baht],
    [baht, { ...baht, environment: '' }],
    [baht, { ...dong, rate: '0' }],
    [baht, { currency: 'USD', rate: '1' }],
    [baht, { currency: 'VND', rate: '', environment: 'production' }],
  ])
    t.equal(await set(wrong), 'invalid_request')
  t.equal(await set([baht, { ...dong, rate: '2600' }]), 'rate_change_unconfirmed')
  t.same(
    (await listed()).filter((line) => line.startsWith('THB')),
    shipped,
    'none of them',
  )

  t.equal(await set([baht, { ...baht, environment: 'sandbox', rate: '35.50' }, dong], true), 'ok')
  const both = [...first, 'VND production 26000', 'VND sandbox 26000']
  t.same(await listed(), both)
  t.equal(
    await set([
      { ...dong, rate: '' },
      { ...baht, rate: '' },
    ]),
    'ok',
  )
  const left = ['THB sandbox 35.50', 'VND sandbox 26500']
  t.same(await listed(), left, 'the sandbox has its own, production none')
  await world.rebuild()
  t.same(await listed(), left)
  t.equal(await set([{ ...baht, rate: '' }]), 'invalid_request', 'it is not set')
  t.equal(
    await set([{ ...baht, rate: '40' }]),
    'rate_change_unconfirmed',
    'a removal does not hide the rate that a change is compared with',
  )
  t.equal(await set([baht]), 'ok')
})

t.test('a listed rate shows its setting and whether it is too old to be used', async (t) => {
  const world = await createWorld(t)
  const listed = async (): Promise<object> => {
    const command = listRates()
    const decide = (ctx: CommandContext) =>
      command.decide({ ...ctx, rules: { ...ctx.rules, rateMaxAgeMs: 60_000 } })
    return viewOf(await world.run({ ...command, decide }))
  }
  await world.run(setRate({ name: 'test', reason: 'dearer' }, 'THB', '18.00', { force: true }))
  world.clock.pass(59_999)
  t.match(await listed(), { data: [{ currency: 'THB', rate: '18.00', is_too_old: false }] })
  world.clock.pass(1)
  const stale = { currency: 'THB', is_too_old: true }
  const shipped = { currency: 'VND', rate: '26500' }
  t.match(await listed(), { data: [stale, stale, shipped] })
})

t.test('each deadline includes its last millisecond', async (t) => {
  const world = await createWorld(t)
  type Step = (lifecycle: Lifecycle) => Promise<unknown>
  const scan: Step = (lifecycle) => lifecycle.scan()
  const confirm: Step = (lifecycle) => lifecycle.confirm()
  const cancel: Step = (lifecycle) => lifecycle.cancel()
  const remint: Step = (lifecycle) => lifecycle.remint()
  const refund: Step = (lifecycle) => lifecycle.refund()
  const created: Step = (lifecycle) => lifecycle.get()
  const scannedLate: Step = async (lifecycle) => {
    world.clock.pass(INTENT_TTL - MINUTE)
    await scanned(lifecycle)
  }
  const paidBefore: Step = async (lifecycle) => authorized(await lifecycle.another())
  const scannedThenPaid: Step = async (lifecycle) => {
    await scanned(lifecycle)
    await paidBefore(lifecycle)
  }

  /** What was done, until the deadline in ms, the request, its answer before and after it. */
  const EDGES: readonly (readonly [string, Step, number, Step, string, string])[] = [
    ['a quote', scanned, QUOTE_TTL, confirm, 'ok', 'quote_expired'],
    ['to scan', created, INTENT_TTL, scan, 'ok', 'payment_intent_not_scannable'],
    ['to confirm', scannedLate, MINUTE, confirm, 'ok', 'payment_intent_not_confirmable'],
    ['to cancel', scanned, INTENT_TTL, cancel, 'ok', 'payment_intent_not_cancelable'],
    ['to re-mint', remint, INTENT_TTL, remint, 'ok', 'payment_intent_terminal'],
    ['its timer', scanned, INTENT_TTL, stateAfterTimer, 'created', 'expired'],
    ['a submission', waiting, MINUTE, stateAfterTimer, 'authorized', 'failed'],
    ['a duplicate, at its scan', paidBefore, MINUTE, scan, 'duplicate_scan', 'ok'],
    ['a duplicate, at its confirm', scannedThenPaid, MINUTE, confirm, 'duplicate_scan', 'ok'],
    ['a refund', captured, 90 * DAY, refund, 'ok', 'payment_intent_not_refundable'],
  ]
  for (const [name, given, ends, request, before, after] of EDGES) {
    for (const [off, wanted] of [
      [-1, before],
      [0, after],
      [1, after],
    ] as const) {
      const lifecycle = await beginLifecycle(world)
      await given(lifecycle)
      world.clock.pass(ends + off)
      t.equal(await said(request(lifecycle)), wanted, `${name}, ${off} ms`)
    }
  }
})

async function stateAfterTimer(lifecycle: Lifecycle): Promise<string> {
  await lifecycle.timer()
  return (await lifecycle.see()).status
}

async function said(answer: Promise<unknown>): Promise<string> {
  const given = await answer
  return typeof given === 'string' ? given : codeOf(given as Parameters<typeof codeOf>[0])
}
