/** Postings: new balances, overdrafts, bounds. */
import fc from 'fast-check'
import t from 'tap'
import { assert } from '../../src/base/assert.js'
import type { TenantId } from '../../src/base/ids.js'
import {
  ACCOUNT_KINDS,
  accountKey,
  partsOf,
  type AccountKey,
  type AccountKind,
} from '../../src/ledger/accounts.js'
import { linesOf, type Parts, type PlanName, type PostingLine } from '../../src/ledger/plans.js'
import { post } from '../../src/ledger/posting.js'
import { USD, VND } from '../../src/money/currency.js'
import { fitsInt64, INT64_MAX, INT64_MIN, money } from '../../src/money/money.js'

const tenant = 'demo_sandbox' as TenantId
const on = (kind: AccountKind): AccountKey => accountKey(tenant, VND, kind)
const line = (kind: AccountKind, amount: bigint): PostingLine => ({ account: on(kind), amount })
const from =
  (balances: Partial<Record<AccountKind, bigint>>) =>
  (account: AccountKey): bigint =>
    balances[partsOf(account).kind] ?? 0n

const isGuarded = (account: AccountKey): boolean =>
  ['prefund', 'reserved'].includes(partsOf(account).kind)

t.test('a posting returns the new balances of the accounts it changes only', async (t) => {
  const outcome = post(from({ prefund: 100n, reserved: 5n, fees: 9n }), [
    line('prefund', -100n),
    line('reserved', 100n),
  ])
  t.ok(outcome.ok)
  if (!outcome.ok) return
  t.strictSame(
    [...outcome.after],
    [
      [on('prefund'), 0n],
      [on('reserved'), 105n],
    ],
  )
})

t.test('an overdraft by one unit is refused and names the account', async (t) => {
  const lines = [line('prefund', -101n), line('reserved', 101n)]
  t.same(post(from({ prefund: 100n }), lines), {
    ok: false,
    reason: 'insufficient_balance',
    account: on('prefund'),
  })
})

t.test('lines on one account count together, in any order', async (t) => {
  const lines = [line('prefund', -70n), line('prefund', -40n), line('fees', 110n)]
  t.notOk(post(from({ prefund: 100n }), lines).ok)
  t.ok(post(from({ prefund: 110n }), lines).ok)
  const returning = [line('prefund', -150n), line('prefund', 100n), line('fees', 50n)]
  t.ok(post(from({ prefund: 50n }), returning).ok, 'a negative balance within a posting is allowed')
})

t.test('each account is bounded', async (t) => {
  const table = [
    ['fees', INT64_MAX - 1n, 1n, null],
    ['fees', INT64_MAX, 1n, 'overflow'],
    ['fx', INT64_MIN + 1n, -1n, null],
    ['fx', INT64_MIN, -1n, 'overflow'],
    ['suspense', 1n - 2n ** 52n, -1n, null],
    ['suspense', -(2n ** 52n), -1n, 'overflow'],
    ['suspense', 2n ** 52n, 1n, 'overflow'],
    ['prefund', INT64_MAX, 1n, 'overflow'],
    ['prefund', 0n, -1n, 'insufficient_balance'],
    ['reserved', INT64_MAX, -INT64_MAX, null],
    ['reserved', 0n, INT64_MIN, 'insufficient_balance'],
    ['funding', 2n ** 53n - INT64_MAX + 1n, -1n, null],
    ['funding', 2n ** 53n - INT64_MAX, -1n, 'overflow'],
  ] as const
  for (const [kind, before, amount, reason] of table) {
    const outcome = post(from({ [kind]: before }), [line(kind, amount)])
    t.equal(outcome.ok ? null : outcome.reason, reason, `${kind} ${before} ${amount}`)
  }
})

t.test('any posting on any balances keeps every account within its bounds', async (t) => {
  const kinds = Object.keys(ACCOUNT_KINDS) as AccountKind[]
  const near = (end: bigint) => fc.bigInt({ min: end - 100n, max: end + 100n })
  const any = fc.oneof(
    fc.bigInt({ min: -100n, max: 100n }),
    near(INT64_MAX - 100n),
    near(INT64_MIN + 100n),
    fc.bigInt({ min: INT64_MIN, max: INT64_MAX }),
  )
  const lines = fc.array(fc.tuple(fc.constantFrom(...kinds), any), { maxLength: 8 })
  const books = fc.dictionary(fc.constantFrom(...kinds), any)
  let posted = 0
  let refused = 0
  fc.assert(
    fc.property(books, lines, (before, given) => {
      const outcome = post(
        from(before),
        given.map(([kind, amount]) => line(kind, amount)),
      )
      const expected = new Map<AccountKey, bigint>()
      for (const [kind, amount] of given) {
        expected.set(on(kind), (expected.get(on(kind)) ?? before[kind] ?? 0n) + amount)
      }
      if (!outcome.ok) {
        refused += 1
        const { account, reason } = outcome
        const balance = expected.get(account)
        if (balance === undefined) return false
        if (reason === 'insufficient_balance') return isGuarded(account) && balance < 0n
        if (account === on('suspense')) return balance > 2n ** 52n || balance < -(2n ** 52n)
        return !fitsInt64(balance) || (account === on('funding') && balance < 0n)
      }
      posted += 1
      const isAllowed = ([account, balance]: [AccountKey, bigint]) =>
        fitsInt64(balance) && (balance >= 0n || !isGuarded(account))
      const isExpected = [...expected].every(([a, balance]) => outcome.after.get(a) === balance)
      return (
        isExpected && outcome.after.size === expected.size && [...outcome.after].every(isAllowed)
      )
    }),
    { numRuns: 1_000 },
  )
  t.ok(posted > 100 && refused > 100, `${posted} posted, ${refused} refused`)
})

/** Books that post plans like the processor: reservations may be refused, settlements may not. */
function createBooks() {
  const balances = new Map<AccountKey, bigint>()
  const balanceOf = (account: AccountKey) => balances.get(account) ?? 0n
  const tryPost = (plan: PlanName, parts: Partial<Parts>): boolean => {
    const outcome = post(balanceOf, linesOf(plan, tenant, parts as Parts))
    if (!outcome.ok) return false
    for (const [account, balance] of outcome.after) balances.set(account, balance)
    return true
  }
  return { balances, balanceOf, tryPost }
}

/** Deposits the largest amount that is accepted. */
function fill({ tryPost }: ReturnType<typeof createBooks>): void {
  const largestFirst = [INT64_MAX, INT64_MAX - 2n ** 53n]
  const taken = largestFirst.some((minor) => tryPost('deposit', { amount: money(VND, minor) }))
  assert(taken, 'an empty account accepts a deposit')
}

interface Open {
  readonly parts: Partial<Parts>
  readonly kind: 'payout' | 'intent'
  state: 'accepted' | 'paid'
}

const payoutParts = (total: bigint, feeMinor: bigint): Partial<Parts> => {
  const fee = money(VND, feeMinor)
  const recipient = money(VND, total - feeMinor)
  return { total: money(VND, total), recipient, fee, refundedFee: fee }
}

t.test(
  'an accepted payment can always be settled, even when accounts are at their bounds',
  async () => {
    const huge = fc.oneof(
      fc.bigInt({ min: 1n, max: INT64_MAX }),
      fc.bigInt({ min: 1n, max: 1_000_000n }),
    )
    const step = fc.record({
      what: fc.constantFrom('deposit', 'payout', 'drain', 'intent', 'settle', 'refuse', 'return'),
      amount: huge,
      pick: fc.nat(),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 20, maxLength: 80 }), (steps) => {
        const books = createBooks()
        const open: Open[] = []
        books.tryPost('deposit', { amount: money(USD, 1_000_000_00n) })
        fill(books)
        for (const { what, amount, pick } of steps) {
          const before = open[pick % Math.max(open.length, 1)]
          if (what === 'deposit') books.tryPost('deposit', { amount: money(VND, amount) })
          if (what === 'payout' || what === 'drain') {
            const total = what === 'drain' ? books.balanceOf(on('prefund')) : amount
            const parts = payoutParts(total, what === 'drain' ? 0n : total / 10n)
            if (total > 0n && books.tryPost('payout_accepted', parts)) {
              open.push({ parts, kind: 'payout', state: 'accepted' })
            }
          }
          if (what === 'intent') {
            const parts = { quote: money(USD, 188_68n), local: money(VND, 5_000_000n) }
            if (books.tryPost('intent_confirmed', parts)) {
              open.push({ parts, kind: 'intent', state: 'accepted' })
            }
          }
          if (before === undefined) continue
          const plan = followUp(before, what)
          if (plan !== null && !books.tryPost(plan, before.parts)) return false
          if (plan !== null && what === 'settle') before.state = 'paid'
          else if (plan !== null) open.splice(open.indexOf(before), 1)
        }
        return isBalanced(books.balances)
      }),
    )
  },
)

function followUp({ kind, state }: Open, what: string): PlanName | null {
  if (state === 'accepted' && what === 'settle') {
    return kind === 'payout' ? 'payout_completed' : 'intent_captured'
  }
  if (state === 'accepted' && what === 'refuse') {
    return kind === 'payout' ? 'payout_failed' : 'intent_failed'
  }
  if (state === 'paid' && what === 'return') {
    return kind === 'payout' ? 'payout_reversed' : 'intent_refunded'
  }
  return null
}

function isBalanced(balances: ReadonlyMap<AccountKey, bigint>): boolean {
  const sums = new Map<string, bigint>()
  for (const [account, balance] of balances) {
    const { currency } = partsOf(account)
    sums.set(currency, (sums.get(currency) ?? 0n) + balance)
  }
  return [...sums.values()].every((sum) => sum === 0n)
}
