/** Masked account numbers. */
import fc from 'fast-check'
import t from 'tap'
import { masked, visibleEnd } from '../../src/qr/mask.js'

t.test('a masked account shows its end, and less of a short one', async (t) => {
  const table: readonly (readonly [account: string, shown: string])[] = [
    ['0066812345678', '****5678'],
    ['1234567890123', '****0123'],
    ['140000801111111', '****1111'],
    ['123456789', '****6789'],
    ['12345678', '****78'],
    ['12345', '****45'],
    ['1234', '****'],
    ['1', '****'],
    ['', '****'],
  ]
  for (const [account, shown] of table) t.equal(masked(account), shown, account)
})

t.test('a masked account hides at least half of it, and its length', async () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[0-9A-Za-z]{1,40}$/), (account) => {
      const end = visibleEnd(account)
      return end.length * 2 < account.length && account.endsWith(end) && masked(account).length <= 8
    }),
  )
})
