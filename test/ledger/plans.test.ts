/** Posting plans: their lines, and that they sum to zero. */
import fc from 'fast-check'
import t from 'tap'
import type { TenantId } from '../../src/base/ids.js'
import { accountKey, partsOf, type AccountKind } from '../../src/ledger/accounts.js'
import { linesOf, PLANS, type Parts, type PlanName } from '../../src/ledger/plans.js'
import { THB, USD, VND, type Currency } from '../../src/money/currency.js'
import { INT64_MAX, money } from '../../src/money/money.js'

const tenant = 'demo_sandbox' as TenantId
const names = Object.keys(PLANS) as PlanName[]

interface Amounts {
  readonly recipient: bigint
  readonly fee: bigint
  readonly isFeeRefunded: boolean
  readonly quote: bigint
  readonly local: bigint
  readonly amount: bigint
  readonly sold: bigint
  readonly bought: bigint
}

/** A payout in THB, an intent from USD to VND, a conversion from USD to THB, a deposit in THB. */
const partsFrom = (given: Amounts): Parts => ({
  total: money(THB, given.recipient + given.fee),
  recipient: money(THB, given.recipient),
  fee: money(THB, given.fee),
  refundedFee: money(THB, given.isFeeRefunded ? given.fee : 0n),
  quote: money(USD, given.quote),
  local: money(VND, given.local),
  amount: money(THB, given.amount),
  sold: money(USD, given.sold),
  bought: money(THB, given.bought),
})

const SMALL: Amounts = {
  recipient: 100n,
  fee: 7n,
  isFeeRefunded: true,
  quote: 300n,
  local: 79_500n,
  amount: 50n,
  sold: 10n,
  bought: 360n,
}

const half = fc.bigInt({ min: 0n, max: INT64_MAX / 2n })
const whole = fc.bigInt({ min: 0n, max: INT64_MAX })
const amounts: fc.Arbitrary<Amounts> = fc.record({
  recipient: half,
  fee: half,
  isFeeRefunded: fc.boolean(),
  quote: whole,
  local: whole,
  amount: whole,
  sold: whole,
  bought: whole,
})

const asText = (plan: PlanName, given: Amounts): string =>
  linesOf(plan, tenant, partsFrom(given))
    .map(({ account, amount }) => {
      const { currency, kind } = partsOf(account)
      return `${currency} ${kind} ${amount}`
    })
    .join(', ')

t.test('each plan posts the expected lines', async (t) => {
  const books: Readonly<Record<PlanName, string>> = {
    payout_accepted: 'THB prefund -107, THB reserved 107',
    payout_completed: 'THB reserved -107, THB rail_clearing 100, THB fees 7',
    payout_failed: 'THB reserved -107, THB prefund 107',
    payout_reversed: 'THB rail_clearing -100, THB prefund 100, THB fees -7, THB prefund 7',
    intent_confirmed: 'USD prefund -300, USD reserved 300',
    intent_captured: 'USD reserved -300, USD fx 300, VND fx -79500, VND rail_clearing 79500',
    intent_failed: 'USD reserved -300, USD prefund 300',
    intent_cancelled: 'USD reserved -300, USD prefund 300',
    intent_refunded: 'VND rail_clearing -79500, VND fx 79500, USD fx -300, USD prefund 300',
    conversion: 'USD prefund -10, USD fx 10, THB fx -360, THB prefund 360',
    deposit: 'THB funding -50, THB prefund 50',
    deposit_corrected: 'THB prefund -50, THB funding 50',
    withdrawal: 'THB prefund -50, THB funding 50',
    discrepancy_paid: 'THB suspense -50, THB rail_clearing 50',
    discrepancy_returned: 'THB rail_clearing -50, THB suspense 50',
    discrepancy_charged: 'THB prefund -50, THB suspense 50',
    discrepancy_credited: 'THB suspense -50, THB prefund 50',
    discrepancy_lost: 'THB funding -50, THB suspense 50',
    discrepancy_gained: 'THB suspense -50, THB funding 50',
  }
  t.same(Object.keys(books).sort(), [...names].sort())
  for (const name of names) t.equal(asText(name, SMALL), books[name], name)
})

t.test('a fee that is kept or zero produces no line', async (t) => {
  const kept = { ...SMALL, isFeeRefunded: false }
  t.equal(asText('payout_reversed', kept), 'THB rail_clearing -100, THB prefund 100')
  const free = { ...SMALL, fee: 0n }
  t.equal(asText('payout_completed', free), 'THB reserved -100, THB rail_clearing 100')
})

t.test('every plan sums to zero in each currency, for any amounts', async () => {
  for (const name of names) {
    fc.assert(
      fc.property(amounts, (given) => {
        const sums = new Map<Currency, bigint>()
        for (const { account, amount } of linesOf(name, tenant, partsFrom(given))) {
          const { currency, tenant: owner } = partsOf(account)
          if (owner !== tenant || amount === 0n) return false
          sums.set(currency, (sums.get(currency) ?? 0n) + amount)
        }
        return [...sums.values()].every((sum) => sum === 0n)
      }),
    )
  }
})

/** The balances after a sequence of plans, without accounts at zero. */
function effectOf(given: Amounts, plans: readonly PlanName[]): Record<string, bigint> {
  const effect = new Map<string, bigint>()
  for (const plan of plans) {
    for (const { account, amount } of linesOf(plan, tenant, partsFrom(given))) {
      effect.set(account, (effect.get(account) ?? 0n) + amount)
    }
  }
  return Object.fromEntries([...effect].filter(([, amount]) => amount !== 0n))
}

t.test('a payment that is released or returned leaves no balance', async () => {
  const lives: readonly (readonly PlanName[])[] = [
    ['payout_accepted', 'payout_failed'],
    ['intent_confirmed', 'intent_failed'],
    ['intent_confirmed', 'intent_cancelled'],
    ['intent_confirmed', 'intent_captured', 'intent_refunded'],
    ['discrepancy_paid', 'discrepancy_returned'],
    ['discrepancy_charged', 'discrepancy_credited'],
    ['discrepancy_lost', 'discrepancy_gained'],
  ]
  for (const life of lives) {
    fc.assert(fc.property(amounts, (given) => Object.keys(effectOf(given, life)).length === 0))
  }
})

t.test('a settled discrepancy leaves suspense at zero', async () => {
  const suspense = accountKey(tenant, THB, 'suspense')
  const lives: readonly (readonly PlanName[])[] = [
    ['discrepancy_paid', 'discrepancy_charged'],
    ['discrepancy_paid', 'discrepancy_lost'],
    ['discrepancy_returned', 'discrepancy_credited'],
    ['discrepancy_returned', 'discrepancy_gained'],
  ]
  for (const life of lives) {
    fc.assert(fc.property(amounts, (given) => effectOf(given, life)[suspense] === undefined))
  }
})

t.test('a reversal returns the total, or the total without the fee', async (t) => {
  const life: readonly PlanName[] = ['payout_accepted', 'payout_completed', 'payout_reversed']
  const on = (kind: AccountKind) => accountKey(tenant, THB, kind)
  t.same(effectOf(SMALL, life), {})
  const kept = effectOf({ ...SMALL, isFeeRefunded: false }, life)
  t.strictSame(kept, { [on('prefund')]: -7n, [on('fees')]: 7n })
})

t.test('inconsistent parts throw', async (t) => {
  const parts = partsFrom(SMALL)
  const unequal = { ...parts, total: money(THB, 108n) }
  t.throws(() => linesOf('payout_completed', tenant, unequal), /sum to zero/)
  const mixed = { ...parts, fee: money(USD, 7n) }
  t.throws(() => linesOf('payout_completed', tenant, mixed), /sum to zero/)
  const negative = { ...parts, amount: money(THB, -1n) }
  t.throws(() => linesOf('deposit', tenant, negative), /not negative/)
})
