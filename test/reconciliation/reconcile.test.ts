/** Reconciliation finds every injected difference and no other, also at the ends of the period. */
import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { isIn, type BookedMovement } from '../../src/reconciliation/movement.js'
import { instant } from '../../src/base/clock.js'
import { booked, DAY_1, inWords, PERIOD, reconciled, stated, type Moved } from './sides.js'

const HOUR = 3_600_000
const NOON = DAY_1 + 12 * HOUR
const moved = (given: Partial<Moved> = {}): Moved => ({
  instruction: 'pout_1',
  movement: 'executed',
  currency: 'VND',
  amount: 100n,
  at: NOON,
  ...given,
})
const back = (given: Partial<Moved> = {}): Moved => moved({ movement: 'returned', ...given })

const PLANTS = ['none', 'not booked', 'not stated', 'amount', 'currency', 'movement'] as const
type Plant = (typeof PLANTS)[number]

interface Payment {
  readonly isReturned: boolean
  readonly currency: string
  readonly amount: bigint
  /** The rail's time, from a day before the period to its end. */
  readonly at: number
  /** The delay of each booking, at most a day. */
  readonly lags: readonly [number, number]
  /** The movement with the injected difference. */
  readonly kindIndex: 0 | 1
  readonly plant: Plant
}

const payments: fc.Arbitrary<Payment[]> = fc.array(
  fc.record({
    isReturned: fc.boolean(),
    currency: fc.constantFrom('VND', 'THB', 'USD'),
    amount: fc.bigInt({ min: 1n, max: 2n ** 63n - 2n }),
    at: fc.integer({ min: DAY_1 - 24 * HOUR, max: DAY_1 + 24 * HOUR - 1 }),
    lags: fc.tuple(fc.integer({ min: 0, max: 24 * HOUR }), fc.integer({ min: 0, max: 24 * HOUR })),
    kindIndex: fc.constantFrom(0 as const, 1 as const),
    plant: fc.constantFrom(...PLANTS),
  }),
  { maxLength: 40 },
)

interface Side {
  readonly lines: string[]
  readonly books: BookedMovement[]
  readonly expected: string[]
}

/** Adds a payment to both sides, and the findings it must cause. */
function addPayment(payment: Payment, index: number, { lines, books, expected }: Side): void {
  const instruction = `pout_${index}`
  const kinds = payment.isReturned ? (['executed', 'returned'] as const) : (['executed'] as const)
  for (const [index, movement] of kinds.entries()) {
    const ours = moved({
      instruction,
      movement,
      currency: payment.currency,
      amount: payment.amount,
    })
    const at = { rail: payment.at, booked: payment.at + payment.lags[index]! }
    const isHere = kinds.length === 1 || index === payment.kindIndex
    // With another movement of the same instruction, a swapped one could match that.
    const isSwapped = payment.plant === 'movement' && kinds.length === 2
    const plant = isHere && !isSwapped ? payment.plant : 'none'
    if (plant !== 'not booked') books.push(booked({ ...ours, at: at.booked }))
    if (plant !== 'not stated') lines.push(stated({ ...changed(ours, plant), at: at.rail }))
    const finding = findingOf(
      plant,
      isIn(PERIOD, instant(at.rail)),
      isIn(PERIOD, instant(at.booked)),
    )
    const told = finding?.startsWith('missing_there') === true ? ours : changed(ours, plant)
    if (finding !== null) expected.push(finding.replace('*', `${instruction} ${told.movement}`))
  }
}

function changed(ours: Moved, plant: Plant): Moved {
  if (plant === 'amount') return { ...ours, amount: ours.amount + 1n }
  if (plant === 'currency') return { ...ours, currency: 'JPY' }
  return plant === 'movement' ? { ...ours, movement: 'returned' } : ours
}

function findingOf(plant: Plant, isLineDue: boolean, isBookingDue: boolean): string | null {
  if (plant === 'none') return null
  if (plant === 'not booked') return isLineDue ? 'missing_here *' : null
  if (plant === 'not stated') return isBookingDue ? 'missing_there *' : null
  if (plant !== 'movement') return isLineDue || isBookingDue ? `different * ${plant}` : null
  if (isLineDue && isBookingDue) return 'different * movement'
  if (isLineDue) return 'missing_here *'
  return isBookingDue ? 'missing_there *' : null
}

t.test('every difference of any payments is found', async (t) => {
  t.testdir()
  const order = fc.array(fc.nat(), { minLength: 100, maxLength: 100 })
  await fc.assert(
    fc.asyncProperty(
      payments,
      order,
      fc.integer({ min: 0, max: 40 }),
      async (given, keys, badAt) => {
        const side: Side = { lines: [], books: [], expected: [] }
        for (const [index, payment] of given.entries()) addPayment(payment, index, side)
        const sorted = side.lines
          .map((line, index) => ({ line, key: keys[index] ?? 0 }))
          .sort((one, other) => one.key - other.key)
          .map(({ line }) => line)
        const at = Math.min(badAt, sorted.length)
        const lines = [...sorted.slice(0, at), 'nonsense\r\n', ...sorted.slice(at)]
        const {
          findings,
          badLines,
          totals,
          lines: counted,
        } = await reconciled(t, lines, side.books)
        t.same(inWords(findings), side.expected.sort())
        t.same(
          badLines.map(({ line }) => line),
          [at + 2],
        )
        t.equal(counted.good + counted.bad, lines.length, 'every line is counted')
        sumsAreWhole(t, side, totals.rows(), counted.good - counted.outside)
      },
    ),
    { numRuns: 60 },
  )
  t.same(
    readdirSync(t.testdirName).filter((name) => !name.endsWith('.csv')),
    [],
    'no temporary file is left',
  )
})

type Rows = Awaited<ReturnType<typeof reconciled>>['totals'] extends { rows(): infer R } ? R : never

/** The statuses of a side add up to the side's total for the period. */
function sumsAreWhole(
  t: { equal(found: unknown, wanted: unknown): boolean },
  { books }: Side,
  rows: Rows,
  statedLines: number,
): void {
  const lines = rows.reduce((sum, { stated }) => sum + stated.lines, 0)
  t.equal(lines, statedLines)
  for (const currency of ['VND', 'THB', 'USD']) {
    const ours = books.filter((one) => one.currency === currency && isIn(PERIOD, one.at))
    const net = ours.reduce(
      (sum, { movement, amount }) => sum + (movement === 'executed' ? amount : -amount),
      0n,
    )
    const told = rows
      .filter((row) => row.currency === currency)
      .reduce((sum, row) => sum + row.booked.amount, 0n)
    t.equal(told, net)
  }
}

t.test('several differences of an instruction are found', async (t) => {
  t.testdir()
  const cases: readonly (readonly [
    string,
    readonly Moved[],
    readonly BookedMovement[],
    string[],
  ])[] = [
    ['stated twice', [moved(), moved()], [booked(moved())], ['missing_here pout_1 executed']],
    [
      'booked twice',
      [moved()],
      [booked(moved()), booked(moved())],
      ['missing_there pout_1 executed'],
    ],
    [
      'paid twice, both booked',
      [moved(), moved()],
      [booked(moved()), booked(moved({ at: NOON + 48 * HOUR }))],
      [],
    ],
    [
      'reversed movement beside its return',
      [back(), back()],
      [booked(moved()), booked(back())],
      ['different pout_1 returned movement'],
    ],
    [
      'its return stated, and not booked',
      [moved({ at: NOON - 24 * HOUR }), back()],
      [booked(moved({ at: NOON - 24 * HOUR }))],
      ['missing_here pout_1 returned'],
    ],
    [
      'two differences at once',
      [moved({ amount: 1n, currency: 'THB' })],
      [booked(moved())],
      ['different pout_1 executed currency amount'],
    ],
    ['undone, and not stated', [], [booked(moved(), true)], ['undone pout_1 executed']],
    [
      'undone, and stated both ways',
      [moved(), back()],
      [booked(moved(), true), booked(back(), true)],
      [],
    ],
    [
      'undone, and stated with another amount',
      [moved({ amount: 1n })],
      [booked(moved(), true)],
      ['missing_here pout_1 executed', 'undone pout_1 executed'],
    ],
  ]
  for (const [what, statement, books, expected] of cases) {
    const { findings } = await reconciled(t, statement.map(stated), books)
    t.same(inWords(findings), expected, what)
  }
})

t.test('many lines, and many of one instruction, are reconciled', async (t) => {
  t.testdir()
  const many = Array.from({ length: 7_000 }, (_, i) =>
    moved({ instruction: `pout_${i % 2 === 0 ? 'same' : i}`, amount: BigInt(i + 1) }),
  )
  const books = many.map((one) => booked(one))
  const odd = moved({ instruction: 'pout_odd', amount: 5n })
  const bad = [odd, odd].map((one) => stated(one).replace('executed', 'taken'))
  const accepted = stated(odd).replace('executed', 'accepted')
  const { findings, badLines, totals, lines } = await reconciled(
    t,
    [...bad, ...[...many.reverse(), odd].map(stated), accepted],
    books,
  )
  t.equal(badLines.length, 2)
  t.same(inWords(findings), ['missing_here pout_odd executed'])
  t.equal(totals.count('matched'), 7_000)
  t.same(lines, { good: 7_001, accepted: 1, bad: 2, outside: 0 })
})
