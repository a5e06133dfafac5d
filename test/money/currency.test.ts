/** The table of ISO 4217 currencies. */
import t from 'tap'
import { currencyOf, exponentOf, IDR, numericOf, THB, USD, VND } from '../../src/money/currency.js'
import { CORRIDORS } from '../../src/qr/corridor.js'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const everyCode = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)))
const known = everyCode.flatMap((code) => currencyOf(code) ?? [])

t.test('the table is complete and its numeric codes are unique', async (t) => {
  t.equal(known.length, 155)
  for (const code of known) t.match(numericOf(code), /^[0-9]{3}$/, code)
  t.equal(new Set(known.map(numericOf)).size, known.length)
})

t.test('minor units have two digits except where ISO 4217 says otherwise', async (t) => {
  const withExponent = (exponent: number) =>
    known.filter((code) => exponentOf(code) === exponent).join(' ')
  t.equal(
    withExponent(0),
    'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF',
    'none',
  )
  t.equal(withExponent(3), 'BHD IQD JOD KWD LYD OMR TND', 'thousandths')
  t.equal(known.filter((code) => ![0, 2, 3].includes(exponentOf(code))).length, 0)
})

t.test('the constants are codes of the table', async (t) => {
  const facts = [USD, THB, VND, IDR].map((code) => [code, numericOf(code), exponentOf(code)])
  t.same(facts, [
    ['USD', '840', 2],
    ['THB', '764', 2],
    ['VND', '704', 0],
    ['IDR', '360', 2],
  ])
})

t.test('the table contains the currency of each corridor', async (t) => {
  for (const { currencyAlpha, currencyNumeric, exponent } of Object.values(CORRIDORS)) {
    const currency = currencyOf(currencyAlpha)
    t.ok(currency)
    if (currency === undefined) continue
    t.equal(numericOf(currency), currencyNumeric)
    t.equal(exponentOf(currency), exponent)
  }
})

t.test('any other text is rejected', async (t) => {
  const withdrawn = ['HRK', 'ANG', 'ZWL', 'SLL', 'CUC', 'BGN']
  const notForPaying = ['XAU', 'XTS', 'X'.repeat(3), 'USN', 'CLF']
  const malformed = ['', 'usd', 'Usd', ' USD', 'USD ', 'US', 'USDT', '840', '\n', 'USD 840 2']
  for (const text of [...withdrawn, ...notForPaying, ...malformed, '__proto__', 'constructor']) {
    t.equal(currencyOf(text), undefined, JSON.stringify(text))
  }
})
