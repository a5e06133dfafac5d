/** 64-bit amounts: parsing, formatting, bounds. */
import fc from 'fast-check'
import t from 'tap'
import { currencyOf, IDR, THB, USD, VND } from '../../src/money/currency.js'
import {
  fitsInt64,
  formatMajor,
  INT64_MAX,
  INT64_MIN,
  money,
  parseInt64,
  parsePositiveInt64,
  toWholeUnits,
  toWire,
  usdCents,
} from '../../src/money/money.js'

const int64 = fc.bigInt({ min: INT64_MIN, max: INT64_MAX })

t.test('the bounds are those of a signed 64-bit integer', async (t) => {
  t.equal(INT64_MAX, 2n ** 63n - 1n)
  t.equal(INT64_MIN, -(2n ** 63n))
  t.ok(fitsInt64(INT64_MAX) && fitsInt64(INT64_MIN))
  t.notOk(fitsInt64(INT64_MAX + 1n) || fitsInt64(INT64_MIN - 1n))
})

t.test('every int64 survives the wire', async (t) => {
  fc.assert(fc.property(int64, (value) => parseInt64(toWire(value)) === value))
  t.throws(() => toWire(INT64_MAX + 1n))
  t.throws(() => toWire(INT64_MIN - 1n))
})

t.test('an int64 has exactly one text form', async (t) => {
  const good = { '0': 0n, '-1': -1n, '9223372036854775807': INT64_MAX }
  for (const [text, value] of Object.entries(good)) t.equal(parseInt64(text), value, text)
  t.equal(parseInt64('-9223372036854775808'), INT64_MIN)
  const tooLarge = ['9223372036854775808', '-9223372036854775809', '9'.repeat(19), '1'.repeat(20)]
  const blank = ['', ' ', '1 ', ' 1', '1\n', '\t1', '1 000']
  const otherForms = ['-0', '+1', '01', '-01', '00', '1.0', '1.', '1e3', '0x10', '1_000', '1,000']
  const others = ['-', '--1', 'NaN', 'Infinity', 'null', '1n', '１２', '١']
  for (const text of [...tooLarge, ...blank, ...otherForms, ...others]) {
    t.equal(parseInt64(text), undefined, JSON.stringify(text))
  }
})

t.test('every parsed text is written back unchanged', async () => {
  const text = fc.oneof(
    fc.string({ maxLength: 22 }),
    fc.string({ unit: fc.constantFrom(...'0123456789-+.e '), maxLength: 21 }),
  )
  fc.assert(
    fc.property(text, (given) => {
      const value = parseInt64(given)
      return value === undefined || toWire(value) === given
    }),
  )
})

t.test('a positive amount is an int64 above zero', async (t) => {
  fc.assert(
    fc.property(int64, (value) => {
      const parsed = parsePositiveInt64(toWire(value))
      return value > 0n ? parsed === value : parsed === undefined
    }),
  )
  t.equal(parsePositiveInt64('0'), undefined)
  t.equal(parsePositiveInt64('1'), 1n)
  t.equal(parsePositiveInt64('125000.00'), undefined)
})

t.test('amounts are formatted for people', async (t) => {
  const KWD = currencyOf('KWD')
  t.ok(KWD)
  const table = [
    [THB, 12_345n, 'THB 123.45', '123'],
    [THB, 199n, 'THB 1.99', '1'],
    [THB, 5n, 'THB 0.05', '0'],
    [THB, -5n, 'THB -0.05', '0'],
    [IDR, -12_345n, 'IDR -123.45', '-123'],
    [VND, 125_000n, 'VND 125000', '125000'],
    [VND, 0n, 'VND 0', '0'],
    [KWD ?? USD, 1_005n, 'KWD 1.005', '1'],
    [USD, INT64_MAX, 'USD 92233720368547758.07', '92233720368547758'],
    [USD, INT64_MIN, 'USD -92233720368547758.08', '-92233720368547758'],
  ] as const
  for (const [currency, minor, major, whole] of table) {
    t.equal(formatMajor(money(currency, minor)), major)
    t.equal(toWholeUnits(money(currency, minor)), whole)
  }
})

t.test('cents convert to a number only within the safe integers', async (t) => {
  const greatest = BigInt(Number.MAX_SAFE_INTEGER)
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: greatest }), (c) => BigInt(usdCents(c)) === c))
  t.throws(() => usdCents(greatest + 1n))
  t.throws(() => usdCents(-1n))
})
