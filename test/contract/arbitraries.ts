/** Generates values from the JSON Schemas of the document: valid ones, and ones with a fault. */
import fc from 'fast-check'

export type Schema = Readonly<Record<string, unknown>>

/** Where endpoints may point to: nothing listens there. */
const URLS = ['http://127.0.0.1:1/', 'http://127.0.0.1:1/hooks?a=b', 'https://127.0.0.1:1/x']
const LONGEST = 600
const INT64_MAX = 2n ** 63n - 1n

export interface Arbitraries {
  /** @returns values that the schema allows */
  valid(schema: Schema): fc.Arbitrary<unknown>
  /** A value of the schema with one fault somewhere, or any JSON at all. */
  faulty(schema: Schema): fc.Arbitrary<unknown>
}

export function createArbitraries(schemas: Readonly<Record<string, Schema>>): Arbitraries {
  const resolved = (schema: Schema): Schema => {
    const { $ref } = schema
    return typeof $ref === 'string' ? (schemas[$ref.split('/').at(-1) ?? ''] ?? {}) : schema
  }

  const valid = (given: Schema): fc.Arbitrary<unknown> => {
    const schema = resolved(given)
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]))
    if ('const' in schema) return fc.constant(schema['const'])
    const types = [schema['type']].flat()
    return fc.oneof(...types.map((type) => ofType(String(type), schema)))
  }

  const ofType = (type: string, schema: Schema): fc.Arbitrary<unknown> => {
    switch (type) {
      case 'string':
        return textOf(schema)
      case 'integer':
        return fc.integer(numbersOf(schema))
      case 'boolean':
        return fc.boolean()
      case 'array':
        return fc.uniqueArray(valid((schema['items'] ?? {}) as Schema), { maxLength: 3 })
      case 'object':
        return objectOf(schema)
      default:
        return fc.constant(null)
    }
  }

  const objectOf = (schema: Schema): fc.Arbitrary<unknown> => {
    const properties = (schema['properties'] ?? {}) as Readonly<Record<string, Schema>>
    const rest = schema['additionalProperties']
    const named = Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, valid(member)]),
    )
    const requiredKeys = (schema['required'] ?? []) as string[]
    const members = fc.record(named, { requiredKeys })
    if (typeof rest === 'object') {
      return fc.dictionary(fc.string({ minLength: 1, maxLength: 9 }), valid(rest as Schema))
    }
    const alternatives = (schema['oneOf'] ?? []) as { readonly required: readonly string[] }[]
    if (alternatives.length === 0) return members
    return fc.tuple(members, fc.nat(alternatives.length - 1)).chain(([value, chosen]) => {
      const without = alternatives.flatMap(({ required }, i) => (i === chosen ? [] : required))
      const needed = (alternatives[chosen]?.required ?? []).map(
        (name) => [name, named[name] ?? fc.constant(null)] as const,
      )
      const kept = Object.entries(value).filter(([name]) => !without.includes(name))
      return fc
        .record(Object.fromEntries(needed))
        .map((added) => ({ ...Object.fromEntries(kept), ...added }))
    })
  }

  const faulty = (schema: Schema): fc.Arbitrary<unknown> =>
    fc.oneof(
      { weight: 4, arbitrary: fc.tuple(valid(schema), FAULT, fc.nat()).map(withFault) },
      { weight: 1, arbitrary: fc.jsonValue() },
    )

  return { valid, faulty }
}

function numbersOf({ minimum = 0, maximum = 2 ** 31 - 1 }: Schema): { min: number; max: number } {
  return { min: Number(minimum), max: Math.min(Number(maximum), 2 ** 31 - 1) }
}

function textOf({
  format,
  pattern,
  minLength = 0,
  maxLength = LONGEST,
}: Schema): fc.Arbitrary<string> {
  if (format === 'date-time')
    return fc.date({ noInvalidDate: true, min: FIRST, max: LAST }).map((at) => at.toISOString())
  if (format === 'uri') return fc.constantFrom(...URLS)
  if (format === 'int64') return fc.bigInt({ min: 1n, max: INT64_MAX }).map(String)
  const max = Math.min(Number(maxLength), LONGEST)
  if (typeof pattern === 'string' && pattern.startsWith('^')) {
    return fc.stringMatching(new RegExp(pattern)).filter((text) => [...text].length <= max)
  }
  const units = fc.constantFrom('grapheme' as const, 'grapheme-ascii' as const, 'binary' as const)
  return units.chain((unit) => fc.string({ unit, minLength: Number(minLength), maxLength: max }))
}

const FIRST = new Date('0001-01-01T00:00:00Z')
const LAST = new Date('9999-12-31T00:00:00Z')

/** Replacements of a member. */
const FAULT = fc.oneof(
  fc.constantFrom<unknown>(null, '', ' ', 0, -1, 1.5, 1e21, true, [], {}, '\0', '\ud800', '٣'),
  fc.constant('x'.repeat(70_000)),
  fc.constant(String(INT64_MAX + 1n)),
  fc.jsonValue(),
)

/** Removes, replaces or adds one member, at any depth. */
function withFault([value, fault, at]: readonly [unknown, unknown, number]): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fault
  const members: [string, unknown][] = Object.entries(value)
  const [name, member] = members[at % (members.length + 1)] ?? ['unknown_member', undefined]
  switch (at % 3) {
    case 0:
      return Object.fromEntries(members.filter(([other]) => other !== name))
    case 1:
      return { ...value, [name]: withFault([member, fault, Math.floor(at / 3)]) }
    default:
      return { ...value, [name]: fault }
  }
}
