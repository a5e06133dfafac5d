/** Parsing and formatting of amounts in major units. */
import fc from 'fast-check'
import t from 'tap'
import { THB, USD, VND, type Currency } from '../../src/money/currency.js'
import { INT64_MAX, money } from '../../src/money/money.js'
import { amountForms, formatAmount, parseMajor } from '../../src/operations/cli/amounts.js'

t.test('an amount is parsed exactly or rejected', async (t) => {
  const cases: [string, Currency, bigint | undefined][] = [
    ['1000', USD, 100_000n],
    ['1000.5', USD, 100_050n],
    ['1,000.50', USD, 100_050n],
    ['10,000,000.00', THB, 1_000_000_000n],
    ['125000', VND, 125_000n],
    ['92,233,720,368,547,758.07', USD, INT64_MAX],
    ['92,233,720,368,547,758.08', USD, undefined],
    ['1000.505', USD, undefined],
    ['1000.0', VND, undefined],
    ['1,000', VND, 1_000n],
    ['1,000', USD, undefined],
    ['1,000.5', USD, undefined],
    ['0,500', USD, undefined],
    ['0,500.00', USD, undefined],
    ['1.000,00', USD, undefined],
    ['1.000', VND, undefined],
    ['1 000', USD, undefined],
    ['+5', USD, undefined],
    ['٥', USD, undefined],
    ['1,00', USD, undefined],
    ['1000,000', USD, undefined],
    ['0', USD, undefined],
    ['-5', USD, undefined],
    ['.5', USD, undefined],
    ['5.', USD, undefined],
    ['1e3', USD, undefined],
    [' 5', USD, undefined],
    ['', USD, undefined],
  ]
  for (const [text, currency, minor] of cases) t.equal(parseMajor(text, currency), minor, text)
})

t.test('a formatted amount parses to the same amount', async () => {
  const amount = fc.bigInt({ min: 1n, max: INT64_MAX })
  fc.assert(
    fc.property(amount, fc.constantFrom(USD, VND), (minor, currency) => {
      const shown = formatAmount(money(currency, minor))
      return parseMajor(shown.slice(currency.length + 1), currency) === minor
    }),
  )
})

t.test('the forms that are named parse to one amount', async (t) => {
  t.equal(amountForms(USD), '1000.50 or 1,000.50')
  t.equal(amountForms(VND), '1000 or 1,000')
  for (const currency of [USD, VND]) {
    const [first, second] = amountForms(currency).split(' or ')
    t.equal(parseMajor(first!, currency), parseMajor(second!, currency))
  }
})

t.test('digits are grouped in threes', async (t) => {
  t.equal(formatAmount(money(USD, 1_000_000_000n)), 'USD 10,000,000.00')
  t.equal(formatAmount(money(USD, -123n)), 'USD -1.23')
  t.equal(formatAmount(money(VND, 999n)), 'VND 999')
  t.equal(formatAmount(money(VND, -1_000n)), 'VND -1,000')
})
