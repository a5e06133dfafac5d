/** Canonical JSON (RFC 8785) and request hashes. */
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { canonicalize } from 'json-canonicalize'
import t from 'tap'
import { canonicalJson, requestHash, type JsonValue } from '../../src/auth/digest.js'
import { createMac } from '../../src/auth/mac.js'

const KEY = createMac(Buffer.alloc(32, 7))
const OTHER_KEY = createMac(Buffer.alloc(32, 8))

t.test('canonicalizes the sample of RFC 8785, section 3.2.3', async (t) => {
  const sample = JSON.parse(
    String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`,
  ) as JsonValue
  t.equal(
    canonicalJson(sample),
    '{"literals":[null,true,false],' +
      '"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
      String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  )
})

t.test(
  'names are ordered by UTF-16 units, as in the sample of RFC 8785, section 3.2.3',
  async (t) => {
    const names = ['€', '\r', '\ufb33', '1', '😀', '\u0080', 'ö']
    const value = Object.fromEntries(names.map((name) => [name, 0]))
    const sorted = ['\r', '1', '\u0080', 'ö', '€', '😀', '\ufb33']
    t.same(Object.keys(JSON.parse(canonicalJson(value)) as object).sort(), sorted)
    t.equal(
      canonicalJson(value),
      `{${sorted.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`,
    )
  },
)

t.test(
  'canonical JSON equals that of json-canonicalize and parses to the same value',
  async (t) => {
    fc.assert(
      fc.property(fc.jsonValue(), (any) => {
        const value = JSON.parse(JSON.stringify(any)) as JsonValue
        t.equal(canonicalJson(value), canonicalize(value))
        t.same(JSON.parse(canonicalJson(value)), value)
      }),
      { numRuns: 300 },
    )
  },
)

t.test('members named toJSON or __proto__ are plain members', async (t) => {
  const one = JSON.parse('{"toJSON": "a", "b": 1, "__proto__": 2}') as JsonValue
  const other = JSON.parse('{"__proto__": 2, "b": 1, "toJSON": "a"}') as JsonValue
  t.equal(canonicalJson(one), '{"__proto__":2,"b":1,"toJSON":"a"}')
  t.equal(canonicalJson(other), canonicalJson(one))
})

const shuffled = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(shuffled)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).map(([name, member]) => [name, shuffled(member)] as const)
  return Object.fromEntries(members.reverse())
}

t.test('equal requests have equal hashes whatever the order of members', async (t) => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const one = JSON.parse(JSON.stringify(a)) as JsonValue
      const other = JSON.parse(JSON.stringify(b)) as JsonValue
      t.equal(requestHash(KEY, one), requestHash(KEY, shuffled(one)))
      const same = requestHash(KEY, one) === requestHash(KEY, other)
      t.equal(same, canonicalJson(one) === canonicalJson(other))
    }),
    { numRuns: 200 },
  )
  t.not(requestHash(KEY, { amount: '1' }), requestHash(KEY, { amount: 1 }))
  t.not(requestHash(KEY, [1, 2]), requestHash(KEY, [2, 1]))
})

t.test('hashes are HMAC-SHA256 under the key', async (t) => {
  const expected = createHmac('sha256', Buffer.alloc(32, 7))
    .update('{"a":2,"b":1}')
    .digest('base64url')
  t.equal(requestHash(KEY, { b: 1, a: 2 }), expected)
  t.not(requestHash(OTHER_KEY, { b: 1, a: 2 }), expected)
})
