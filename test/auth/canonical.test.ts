/** The canonical request: its components, the body hash, and no two requests with one text. */
import fc from 'fast-check'
import t from 'tap'
import { bodyHash, canonicalRequest } from '../../src/auth/canonical.js'

t.test('a canonical request has five components, each ended by a newline', async (t) => {
  const text = canonicalRequest({
    method: 'POST',
    path: '/v1/payouts',
    timestamp: '2026-11-21T04:35:40Z',
    nonce: 'ab'.repeat(32),
    bodyHash: 'cd'.repeat(32),
  })
  const expected = ['POST', '/v1/payouts', '2026-11-21T04:35:40Z', 'ab'.repeat(32), 'cd'.repeat(32)]
  t.equal(text, expected.map((line) => `${line}\n`).join(''))
})

t.test('without a body the last line is empty', async (t) => {
  const parts = { method: 'GET', path: '/', timestamp: 't', nonce: 'n' }
  t.equal(canonicalRequest({ ...parts, bodyHash: bodyHash(Buffer.alloc(0)) }), 'GET\n/\nt\nn\n\n')
})

t.test('the body hash is lower-case SHA-256 hex of the bytes', async (t) => {
  const ofAbc = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  t.equal(bodyHash(Buffer.from('abc')), ofAbc)
  const inside = new Uint8Array(Buffer.from('xabcx')).subarray(1, 4)
  t.equal(bodyHash(inside), ofAbc, 'the body hash covers the bytes of a buffer view only')
  t.not(bodyHash(Buffer.from('abc\n')), ofAbc)
  t.equal(bodyHash(new Uint8Array(0)), '')
})

const hex = (length: number) =>
  fc.string({
    unit: fc.constantFrom(...'0123456789abcdef'),
    minLength: length,
    maxLength: length,
  })

/** Well-formed parts with any path, including newlines and texts of other components. */
const parts = fc.record({
  method: fc.constantFrom('GET', 'POST', 'DELETE'),
  path: fc
    .array(fc.constantFrom('/', 'a', '\n', 'GET', '2026-11-21T04:35:40Z', '0'.repeat(64)), {
      maxLength: 6,
    })
    .map((pieces) => pieces.join('')),
  timestamp: fc.constantFrom('2026-11-21T04:35:40Z', '2026-11-21T04:35:40.0Z'),
  nonce: fc.oneof(fc.constant('0'.repeat(64)), hex(64)),
  bodyHash: fc.oneof(fc.constant(''), fc.constant('0'.repeat(64)), hex(64)),
})

t.test('different requests have different canonical texts', async (t) => {
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const same = canonicalRequest(one) === canonicalRequest(other)
      return same === (JSON.stringify(one) === JSON.stringify(other))
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(parts, (one) => {
      const lines = canonicalRequest(one).split('\n')
      const [bodyLine, nonce, timestamp] = lines.slice(0, -1).reverse()
      const found = { ...one, path: lines.slice(1, -4).join('\n') }
      t.same(found, { ...one, nonce, timestamp, bodyHash: bodyLine, method: lines[0] })
    }),
    { numRuns: 300 },
  )
})
