/** Exchange rates: exact, rounded against the payer, never a gain by conversion. */
import fc from 'fast-check'
import t from 'tap'
import {
  currencyOf,
  exponentOf,
  IDR,
  THB,
  USD,
  VND,
  type Currency,
} from '../../src/money/currency.js'
import { INT64_MAX } from '../../src/money/money.js'
import {
  applySpread,
  centsFor,
  convert,
  changeBps,
  parseRate,
  rateToText,
  roundUp,
  type Rate,
} from '../../src/money/rate.js'

const KWD = currencyOf('KWD') ?? USD
const amount = fc.bigInt({ min: 1n, max: INT64_MAX })
const currency = fc.constantFrom(THB, VND, IDR, USD, KWD)
const rateText = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 12n - 1n }), fc.stringMatching(/^[0-9]{0,10}$/))
  .map(([whole, fraction]) => (fraction === '' ? `${whole}` : `${whole}.${fraction}`))
  .filter((text) => /[1-9]/.test(text))
const rate = rateText.map((text) => rateOf(text))
const bps = fc.integer({ min: 0, max: 9_999 })

function rateOf(text: string): Rate {
  const parsed = parseRate(text)
  if (parsed === undefined) throw new Error(`not a rate: ${text}`)
  return parsed
}

/** The local amount for US cents, rounded down. */
const localFor = (cents: bigint, of: Currency, at: Rate): bigint => convert(cents, USD, of, at)

/** Whether cents cover the local amount, computed in integers only. */
const covers = (
  cents: bigint,
  localMinor: bigint,
  of: Currency,
  { numerator, denominator }: Rate,
) => cents * numerator * 10n ** BigInt(exponentOf(of)) >= localMinor * 100n * denominator

t.test('a rate is decimal text above zero', async (t) => {
  t.same(rateOf('36.00'), { numerator: 3_600n, denominator: 100n })
  t.same(rateOf('26500'), { numerator: 26_500n, denominator: 1n })
  t.same(rateOf('0.0000000001'), { numerator: 1n, denominator: 10n ** 10n })
  t.same(rateOf('999999999999.9999999999').numerator, 10n ** 22n - 1n)
  const zero = ['0', '0.0', '0.0000000000']
  const tooLong = ['1234567890123', '1.12345678901']
  const otherForms = ['', '.5', '36.', '036', '00.5', '+36', '-36', '3.6e1', '36,00', ' 36', '36\n']
  for (const text of [...zero, ...tooLong, ...otherForms, '1/3', 'NaN', '٣٦']) {
    t.equal(parseRate(text), undefined, JSON.stringify(text))
  }
})

t.test('a rate is exact, with and without a spread', async (t) => {
  fc.assert(
    fc.property(rateText, (text) => {
      const [whole = '', fraction = ''] = text.split('.')
      const { numerator, denominator } = rateOf(text)
      return (
        numerator === BigInt(whole + fraction) &&
        denominator === 10n ** BigInt(fraction.length) &&
        rateToText({ numerator, denominator }) === text
      )
    }),
  )
  const lowered = applySpread(rateOf('36.00'), 100)
  t.same(lowered, { numerator: 35_640_000n, denominator: 1_000_000n })
  t.equal(rateToText(lowered), '35.640000')
  t.same(applySpread(rateOf('0.5'), 0), { numerator: 50_000n, denominator: 100_000n })
  t.equal(rateToText(applySpread(rateOf('0.5'), 0)), '0.50000')
})

t.test('centsFor matches hand-computed figures', async (t) => {
  const table = [
    // local minor, currency, rate, cents
    [36_00n, THB, '36.00', 100n],
    [36_01n, THB, '36.00', 101n],
    [1n, THB, '36.00', 1n],
    [100_00n, THB, '36.00', 278n],
    [26_500n, VND, '26500', 100n],
    [265n, VND, '26500', 1n],
    [266n, VND, '26500', 2n],
    [1_000n, VND, '26500', 4n],
    [5_000_000n, VND, '26500', 18_868n],
    [307n, KWD, '0.307', 100n],
    [0n, THB, '36.00', 0n],
  ] as const
  for (const [local, of, text, cents] of table) {
    t.equal(centsFor(local, of, rateOf(text)), cents, `${local} ${of} at ${text}`)
  }
})

t.test('cents cover the local amount, and one cent less would not', async () => {
  fc.assert(
    fc.property(amount, currency, rate, (local, of, at) => {
      const cents = centsFor(local, of, at)
      return covers(cents, local, of, at) && !covers(cents - 1n, local, of, at)
    }),
  )
})

t.test(
  'a round trip never gains: the cents cover the amount, the amount costs no more',
  async (t) => {
    fc.assert(
      fc.property(amount, currency, rate, (value, of, at) => {
        const boughtBack = localFor(centsFor(value, of, at), of, at)
        const costOfBought = centsFor(localFor(value, of, at), of, at)
        return boughtBack >= value && costOfBought <= value
      }),
    )
    t.equal(localFor(100n, THB, rateOf('36.00')), 36_00n)
    t.equal(localFor(1n, VND, rateOf('26550')), 265n, 'rounded down')
  },
)

t.test('a spread lowers the rate and never the price', async (t) => {
  fc.assert(
    fc.property(amount, currency, rate, bps, (local, of, at, spread) => {
      const lowered = applySpread(at, spread)
      const isLower = lowered.numerator * at.denominator <= at.numerator * lowered.denominator
      return isLower && centsFor(local, of, lowered) >= centsFor(local, of, at)
    }),
  )
  t.equal(centsFor(36_00n, THB, applySpread(rateOf('36.00'), 5_000)), 200n)
  t.equal(centsFor(36_00n, THB, applySpread(rateOf('36.00'), 0)), 100n)
  for (const wrong of [-1, 10_000, 1.5, Number.NaN]) {
    t.throws(() => applySpread(rateOf('36.00'), wrong), `${wrong} bps`)
  }
})

t.test('a conversion never exceeds the rate and rounds off less than one unit', async () => {
  fc.assert(
    fc.property(amount, currency, currency, rate, (value, from, to, at) => {
      const got = convert(value, from, to, at)
      const exactTop = value * at.numerator * 10n ** BigInt(exponentOf(to))
      const exactBottom = at.denominator * 10n ** BigInt(exponentOf(from))
      return got * exactBottom <= exactTop && (got + 1n) * exactBottom > exactTop
    }),
  )
})

t.test('converting back and forth never makes money', async () => {
  fc.assert(
    fc.property(amount, currency, currency, rate, (value, from, to, at) => {
      const inverse = { numerator: at.denominator, denominator: at.numerator }
      return convert(convert(value, from, to, at), to, from, inverse) <= value
    }),
  )
})

t.test('conversions match hand-computed figures', async (t) => {
  t.equal(convert(1_00n, USD, VND, rateOf('26500')), 26_500n)
  t.equal(convert(1n, USD, VND, rateOf('26550')), 265n)
  t.equal(convert(1_00n, USD, KWD, rateOf('0.307')), 307n)
  t.equal(convert(1n, VND, USD, { numerator: 1n, denominator: 26_500n }), 0n)
  t.throws(() => convert(-1n, USD, THB, rateOf('36')))
})

t.test('roundUp is the least integer that is not below the quotient', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: INT64_MAX }), amount, (dividend, divisor) => {
      const up = roundUp(dividend, divisor)
      return up * divisor >= dividend && (up - 1n) * divisor < dividend
    }),
  )
  t.throws(() => roundUp(-1n, 2n))
  t.throws(() => roundUp(1n, 0n))
})

t.test('changeBps is the difference of two rates, rounded up', async (t) => {
  const apart = (before: string, after: string): bigint =>
    changeBps(parseRate(before)!, parseRate(after)!)
  t.equal(apart('36.00', '36'), 0n)
  t.equal(apart('36.00', '37.8'), 500n)
  t.equal(apart('36.00', '34.20'), 500n)
  t.equal(apart('36.00', '37.8000000001'), 501n, 'a difference below 1 bps rounds up')
  t.equal(apart('36', '3.6'), 9_000n)
  t.equal(apart('3.6', '36'), 90_000n)
})
