/** HMAC-SHA256: RFC 4231, equality with Node's, comparison in constant time. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { createMac, sameText } from '../../src/auth/mac.js'

const hex = (base64: string): string => Buffer.from(base64, 'base64').toString('hex')

t.test('the MAC matches the test cases of RFC 4231', async (t) => {
  const cases: readonly (readonly [key: Buffer, text: string, mac: string])[] = [
    [
      Buffer.alloc(20, 0x0b),
      'Hi There',
      'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
    ],
    [
      Buffer.from('Jefe'),
      'what do ya want for nothing?',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    [
      Buffer.alloc(131, 0xaa),
      'Test Using Larger Than Block-Size Key - Hash Key First',
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ]
  for (const [key, text, mac] of cases) t.equal(hex(createMac(key)(text, 'base64')), mac, text)
})

t.test('the MAC equals createHmac for any key and sequence of texts', async (t) => {
  const key = fc.uint8Array({ maxLength: 150 })
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 100 }),
    fc.nat({ max: 3_000 }).map((length) => 'a'.repeat(length)),
    fc.nat({ max: 3_000 }).map((length) => 'ส'.repeat(length)),
  )
  fc.assert(
    fc.property(key, fc.array(text, { maxLength: 5 }), (bytes, texts) => {
      const mac = createMac(bytes)
      for (const each of texts) {
        const expected = createHmac('sha256', bytes).update(each)
        t.equal(mac(each, 'base64url'), expected.digest('base64url'))
      }
    }),
    { numRuns: 200 },
  )
})

t.test('two keys share no buffers', async (t) => {
  const [one, other] = [createMac(Buffer.from('one')), createMac(Buffer.from('other'))]
  const before = one('text', 'base64')
  t.not(other('text', 'base64'), before)
  t.equal(one('text', 'base64'), before)
})

t.test('sameText compares all bytes', async (t) => {
  t.ok(sameText('AAAA', 'AAAA'))
  t.ok(sameText('', ''))
  for (const given of ['', 'AAA', 'AAAB', 'BAAA', 'AAAAA', 'AAA\u0141', 'aaaa']) {
    t.notOk(sameText('AAAA', given), JSON.stringify(given))
  }
})
