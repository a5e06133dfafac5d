/** Amounts in codes: formats and exact values. */
import fc from 'fast-check'
import t from 'tap'
import { readAmount } from '../../src/qr/amount.js'

const THB = 2
const VND = 0

const TABLE: readonly (readonly [text: string, exponent: number, result: bigint | string])[] = [
  ['100', THB, 10_000n],
  ['100.', THB, 10_000n],
  ['100.5', THB, 10_050n],
  ['100.50', THB, 10_050n],
  ['0.01', THB, 1n],
  ['000100.00', THB, 10_000n],
  ['9999999999.99', THB, 999_999_999_999n],
  ['9999999999999', THB, 999_999_999_999_900n],
  ['50000', VND, 50_000n],
  ['50000.', VND, 50_000n],
  ['50000.0', VND, 'amount_decimals'],
  ['50000.00', VND, 'amount_decimals'],
  ['100.005', THB, 'amount_decimals'],
  ['0.000', THB, 'amount_decimals'],
  ['0', THB, 'amount_zero'],
  ['0.00', THB, 'amount_zero'],
  ['0.', VND, 'amount_zero'],
  ['', THB, 'amount_malformed'],
  ['.', THB, 'amount_malformed'],
  ['.50', THB, 'amount_malformed'],
  ['1.2.3', THB, 'amount_malformed'],
  ['1,000.00', THB, 'amount_malformed'],
  ['98,73', THB, 'amount_malformed'],
  ['1 000', THB, 'amount_malformed'],
  [' 100', THB, 'amount_malformed'],
  ['100\n', THB, 'amount_malformed'],
  ['1e3', THB, 'amount_malformed'],
  ['0x10', VND, 'amount_malformed'],
  ['-1', THB, 'amount_malformed'],
  ['+1', THB, 'amount_malformed'],
  ['١٠٠', THB, 'amount_malformed'],
  ['๑๐๐', THB, 'amount_malformed'],
  ['***', THB, 'amount_malformed'],
  ['99999999999.99', THB, 'amount_malformed'],
]

t.test('an amount has exactly the formats of the standard', async (t) => {
  for (const [text, exponent, result] of TABLE) {
    const outcome = readAmount(text, exponent)
    t.equal(outcome.ok ? outcome.value : outcome.reason, result, `"${text}" of ${exponent}`)
  }
})

t.test('every amount in range is read exactly', async () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 10n ** 12n - 1n }), (minor) => {
      const digits = minor.toString().padStart(3, '0')
      const thb = readAmount(`${digits.slice(0, -2)}.${digits.slice(-2)}`, THB)
      const vnd = readAmount(minor.toString(), VND)
      return thb.ok && thb.value === minor && vnd.ok && vnd.value === minor
    }),
  )
})
