import t from 'tap'
import { isCountry } from '../../src/money/country.js'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const known = letters.flatMap((a) => letters.map((b) => a + b)).filter(isCountry)

/** A table of somebody else's. It has more: what ISO only reserves, or leaves to its users. */
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
const NOT_ISO = ['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ']

void t.test('the table has every assigned code', (t) => {
  t.equal(known.length, 249)
  for (const code of known) t.type(names.of(code), 'string', code)
  t.end()
})

void t.test('what is reserved, left to users or not a code is no country', (t) => {
  for (const code of [...NOT_ISO, 'XX', 'QQ', 'UK', 'vn', 'VNM', 'V', '', ' VN']) {
    t.notOk(isCountry(code), code)
  }
  t.end()
})
