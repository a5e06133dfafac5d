/** The strict JSON parser: what it accepts, and the field and rule of a rejection. */
import fc from 'fast-check'
import t from 'tap'
import { parseJson } from '../../gateway/decode/json.js'

const parse = (text: string): { ok: boolean } => parseJson(Buffer.from(text))

t.test('accepted texts parse as with JSON.parse', async (t) => {
  for (const text of [
    '{}',
    ' {"a":[1,-2,0,true,false,null,"x"]} ',
    '{"a":{"b":{"a":1}},"b":{"a":2}}',
    '{"a":"{\\"b\\":1,\\"b\\":2}"}',
    '{"a":"\\ud83d\\ude00 \\u00e9 é 😀"}',
    '{"e":"1e5 1.5 : :","E":true}',
    '{"a\\u003a":1}',
    '{"a":"\\\\","b":["\\\\"]}',
    '9007199254740993',
    '"x"',
  ]) {
    const value: unknown = JSON.parse(text)
    t.same(parseJson(Buffer.from(text)), { ok: true, value }, text)
  }
})

t.test('malformed texts are rejected', async (t) => {
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  const cases: Readonly<Record<string, string | Buffer>> = {
    empty: '',
    'not JSON': '{a:1}',
    'two values': '{} {}',
    'a trailing comma': '{"a":1,}',
    'a byte-order mark': '\ufeff{}',
    'a member twice': '{"a":1,"a":1}',
    'a member twice, spelled differently': '{"a":1,"\\u0061":1}',
    'a member twice, deep inside': '{"x":[{"y":{"a":1,"b":2,"a":3}}]}',
    'a member twice, with trees': '{"a":{"b":{"c":1}},"a":{}}',
    'an empty name twice': '{"":1,"":2}',
    __proto__: '{"__proto__":{"a":1}}',
    'escaped __proto__': '{"\\u005f_proto__":"x"}',
    'a backslash for a name': '{"\\\\":1}',
    'an escaped one': '{"x":{"\\u005c" :1}}',
    'an escaped one in capitals': '{"\\u005C":1}',
    'a backslash in a name': '{"a\\\\b":1}',
    'an escaped one in a name': '{"x":1,"ab\\u005c" : 1}',
    'an exponent': '{"a":1e2}',
    'an upper-case exponent': '{"a":1E2}',
    'a fraction': '{"a":100.0}',
    'NUL in a text': '{"a":"x\\u0000y"}',
    'NUL in a name': '{"\\u0000":1}',
    'a lone high surrogate': '{"a":"\\ud83d"}',
    'a lone low surrogate': '{"a":"\\ude00x"}',
    'surrogates the wrong way round': '{"a":"\\ude00\\ud83d"}',
    'a lone surrogate in a name': '{"\\ud83d":1}',
    'too deep': deep(33),
    'much too deep': deep(100_000),
    'invalid UTF-8': Buffer.from([0x22, 0xff, 0x22]),
    'an overlong form': Buffer.from([0x22, 0xc0, 0x80, 0x22]),
    'a surrogate in UTF-8': Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]),
    'half a character': Buffer.from([0x22, 0xf0, 0x9f, 0x98, 0x22]),
    'not even a start': '}',
    'an open text': '{"a":"',
    'an escape at the end': '"\\',
  }
  for (const [what, bytes] of Object.entries(cases)) {
    t.match(parseJson(Buffer.from(bytes as string)), { ok: false, code: 'invalid_request' }, what)
  }
  t.equal(parse(deep(32)).ok, true, 'as deep as allowed')
})

t.test('a rejection names field and rule', async (t) => {
  const integer = 'must be an integer, without fraction and exponent'
  const cases: readonly (readonly [text: string, pointer: string, rule: string])[] = [
    ['{"a":1,}', '', 'must be JSON'],
    ['{"x":[{"y":{"a":1,"b":2,"a":3}}]}', '/x/0/y/a', 'must not be repeated'],
    ['{"a":1,"\\u0061":1}', '/a', 'must not be repeated'],
    ['{"x":["{\\"x\\":1.5}",2,{"b":[3,1e2]}]}', '/x/2/b/1', integer],
    ['{"amount_usd_cents": 10.5}', '/amount_usd_cents', integer],
    ['1.5', '', integer],
    ['{"a":{"\\u005c":1}}', '/a', 'has a member that is not allowed as a name'],
    ['{"a":{"b":"\\ud83d"}}', '/a/b', 'must be Unicode text without NUL'],
    ['{"a":{"x\\\\":1,"b":"\\u0000"}}', '/a/b', 'must be Unicode text without NUL'],
    ['{"a":{"x\\\\":1,"b":1.5}}', '/a', 'has a member that is not allowed as a name'],
    ['{"a":{"4111111111111111":1.5}}', '/a', `has a member that ${integer}`],
    ['{"a":{"eyJh.bGci":1,"eyJh.bGci":2}}', '/a', 'has a member that must not be repeated'],
    [
      `{"a":${'['.repeat(40)}${']'.repeat(40)}}`,
      `/a${'/0'.repeat(31)}`,
      'must be nested at most 32 deep',
    ],
  ]
  for (const [text, pointer, rule] of cases) {
    t.match(parseJson(Buffer.from(text)), { violation: { pointer, rule } }, text)
  }
  t.match(parseJson(Buffer.from([0x22, 0xff])), {
    violation: { pointer: '', rule: 'must be UTF-8' },
  })
})

/** Names with a backslash that are how names of others are spelled, and these as they are read. */
const SPELLINGS: readonly (readonly [name: string, spelled: string, read: string])[] = [
  ['\\\\', '\\u0062', 'b'],
  ['\\u005c', '\\u0062', 'b'],
  ['ghi ch\\\\', 'ghi ch\\u00fa', 'ghi chú'],
  ['\\\\u0061mo', '\\u0061mount_x', 'amount_x'],
  ['a\\\\', 'a\\"', 'a"'],
]

t.test('no text changes how a name in another one is read', async (t) => {
  for (const [index, [name, spelled, read]] of SPELLINGS.entries()) {
    const named = (text: string): Buffer => Buffer.from(`{"x${index}":1,"${text}":1}`)
    for (let i = 0; i < 3; i++) parseJson(named(name))
    t.same(parseJson(named(spelled)), { ok: true, value: { [`x${index}`]: 1, [read]: 1 } }, spelled)
  }
})

/** A JSON text, and whether one of its objects has a duplicate name or one with a backslash. */
interface Written {
  readonly text: string
  readonly barred: boolean
}

const name = fc.oneof(
  fc.constantFrom('a', 'b', '', ':', '{"a":1}', '"', '\\', '\\\\', 'e1', '1e5'),
  fc.string({ maxLength: 4 }),
)
/** A name with every character escaped or none: one name in two spellings. */
function spellingOf(text: string, escaped: boolean): string {
  if (!escaped) return JSON.stringify(text)
  const units = text.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'))
  return `"${units.map((unit) => `\\u${unit}`).join('')}"`
}

const member = ([name, escaped, { text }]: [string, boolean, Written]): string =>
  `${spellingOf(name, escaped)} : ${text}`

const { tree } = fc.letrec<{ tree: Written; leaf: Written; list: Written; object: Written }>(
  (tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('leaf'),
      tie('list'),
      tie('object'),
    ),
    leaf: fc
      .oneof(fc.integer(), fc.boolean(), fc.constant(null), name)
      .map((value) => ({ text: JSON.stringify(value), barred: false })),
    list: fc.array(tie('tree'), { maxLength: 4 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(' ,')}]`,
      barred: items.some(({ barred }) => barred),
    })),
    object: fc
      .array(fc.tuple(name, fc.boolean(), tie('tree')), { maxLength: 5 })
      .map((members) => ({
        text: `{ ${members.map(member).join(',')}}`,
        barred:
          new Set(members.map(([key]) => key)).size < members.length ||
          members.some(([key]) => key.includes('\\')) ||
          members.some(([, , { barred }]) => barred),
      })),
  }),
)

t.test(
  'of random texts exactly those with a duplicate name or a backslash in a name are rejected',
  async (t) => {
    let refused = 0
    fc.assert(
      fc.property(tree, ({ text, barred }) => {
        fc.pre(!/\\u0000|\\ud[89a-f]/.test(text) && !text.includes('__proto__'))
        refused += Number(barred)
        return parse(text).ok === !barred
      }),
      { numRuns: 2_000 },
    )
    t.ok(refused > 100, `${refused} of the texts had one`)
  },
)

t.test('arbitrary bytes never throw', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      parseJson(Buffer.from(bytes))
    }),
    { numRuns: 2_000 },
  )
  t.pass()
})
