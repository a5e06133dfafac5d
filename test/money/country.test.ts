/** The table of ISO 3166 country codes. */
import t from 'tap'
import { isCountry } from '../../src/money/country.js'

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const known = letters.flatMap((a) => letters.map((b) => a + b)).filter(isCountry)

/** An independent table. It also has codes that ISO reserves or leaves to users. */
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
const NOT_ISO = ['AC', 'CP', 'CQ', 'DG', 'EA', 'EU', 'EZ', 'IC', 'TA', 'UN', 'XA', 'XB', 'XK', 'ZZ']

t.test('the table has every assigned code', async (t) => {
  t.equal(known.length, 249)
  for (const code of known) t.type(names.of(code), 'string', code)
})

t.test('reserved and user-assigned codes and other texts are rejected', async (t) => {
  for (const code of [...NOT_ISO, 'XX', 'QQ', 'UK', 'vn', 'VNM', 'V', '', ' VN']) {
    t.notOk(isCountry(code), code)
  }
})
