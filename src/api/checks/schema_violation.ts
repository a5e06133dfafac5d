/**
 * Field and rule of a value that a schema rejects.
 *
 * - A text names members and limits of the schema, never the value.
 * - A name that the caller chose, i.e. an unknown member or a metadata key, is shown only if it
 *   looks like a field name: it could be a value in the wrong place.
 */
import type { ErrorObject } from 'ajv'
import type { Violation } from '../../base/errors.js'

/** @param errors of a failed validation, in the order in which ajv reports them */
export function violationOf(errors: readonly ErrorObject[]): Violation {
  // The errors inside of `oneOf` and `propertyNames` come before the error of the keyword itself.
  const error = errors.at(-1)
  if (error === undefined) return { pointer: '', rule: 'is not valid' }
  const names = error.instancePath.split('/').slice(1)
  const member = memberOf(error)
  return violationAt(
    member === undefined ? names : [...names, member],
    RULES[error.keyword]?.(error) ?? 'is not valid',
  )
}

/**
 * Whether a member may have this name. `__proto__` is not data in JavaScript, and after a name with
 * a backslash V8 13 (Node 24) misreads others.
 */
export const isAllowedName = (name: string): boolean => name !== '__proto__' && !name.includes('\\')

export const NAME_RULE = 'is not allowed as a name'

/** Letters only: secrets, tokens and account numbers have digits. */
const NAME = /^(?:[A-Za-z][A-Za-z_-]{0,39}|[0-9]{1,6})$/

/** The violation at this path, or at the parent of its first name that may not be shown. */
export function violationAt(path: readonly string[], rule: string): Violation {
  const end = path.findIndex((name) => !NAME.test(name))
  const shown = end === -1 ? path : path.slice(0, end)
  const pointer = shown.map((name) => `/${name}`).join('')
  return { pointer, rule: end === -1 ? rule : `has a member that ${rule}` }
}

/** Missing and unknown members are reported at their parent. */
function memberOf({ keyword, params }: ErrorObject): string | undefined {
  if (keyword === 'required') return String(params['missingProperty'])
  return keyword === 'additionalProperties' ? String(params['additionalProperty']) : undefined
}

const RULES: Readonly<Record<string, (error: ErrorObject) => string>> = {
  type: ({ params }) => `must be ${[params['type'] as string].flat().map(typeName).join(' or ')}`,
  required: () => 'is required',
  additionalProperties: () => 'is not a known name',
  minimum: ({ params }) => `must be at least ${params['limit']}`,
  maximum: ({ params }) => `must be at most ${params['limit']}`,
  minLength: ({ params }) =>
    params['limit'] === 1 ? 'must not be empty' : `must have ${params['limit']} characters or more`,
  maxLength: ({ params }) => `must have at most ${params['limit']} characters`,
  pattern: ({ params }) => patternRule(String(params['pattern'])),
  format: ({ params }) => FORMATS[String(params['format'])] ?? `must be ${params['format']}`,
  enum: ({ params }) => `must be one of: ${(params['allowedValues'] as string[]).join(', ')}`,
  const: ({ params }) => `must be ${params['allowedValue']}`,
  oneOf: ({ schema }) => `must have exactly one of: ${alternatives(schema).join(', ')}`,
  minProperties: () => 'must not be empty',
  maxProperties: ({ params }) =>
    params['limit'] === 0 ? 'must be empty' : `must have at most ${params['limit']} members`,
  propertyNames: ({ schema }) =>
    `must have names of at most ${(schema as { maxLength?: number }).maxLength} characters`,
  uniqueItems: () => 'must not repeat an item',
}

const TYPES: Readonly<Record<string, string>> = {
  integer: 'an integer',
  object: 'an object',
  array: 'a list',
  boolean: 'true or false',
}
const typeName = (type: string): string => TYPES[type] ?? `a ${type}`

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'must be an RFC 3339 timestamp with an offset',
  int64: 'must be a 64-bit integer in decimal digits',
  'positive-int64': 'must be a positive 64-bit integer in decimal digits, as a string',
  'webhook-url': 'must be an http or https URL without credentials and fragment',
}

/** Patterns that do not explain themselves. */
const PATTERNS: Readonly<Record<string, string>> = {
  '\\S': 'must not be blank',
  '^/': 'must begin with /',
  '^[A-Z]{2}$': 'must be two capital letters',
  '^[A-Z]{3}$': 'must be three capital letters',
  '^[A-Za-z]{2,3}$': 'must be two or three letters',
  '^[A-Za-z0-9]{5,34}$': 'must be 5 to 34 letters and digits',
  '^(?:[1-9][0-9]?|100)$': 'must be a whole number from 1 to 100',
  '^(?:0|[1-9][0-9]{0,14})$': 'must be a whole number of at most 15 digits',
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}$': 'must be a date: YYYY-MM-DD',
}
const patternRule = (pattern: string): string => PATTERNS[pattern] ?? `must match ${pattern}`

const alternatives = (schema: unknown): readonly string[] =>
  (schema as readonly { readonly required?: readonly string[] }[]).flatMap(
    ({ required = [] }) => required,
  )
