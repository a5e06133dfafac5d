/**
 * Request bodies: strict JSON checked against a schema.
 *
 * - Schemas are JSON Schema 2020-12, compiled at startup. An unknown member is a fault.
 * - Lengths count Unicode code points, not UTF-16 units or bytes.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { accepted, refused, type ErrorCode, type Outcome } from '../../src/base/errors.js'
import { isDateTime, isInt64, isPositiveInt64, isWebhookUrl } from './formats.js'
import { parseJson } from './json.js'
import { violationOf } from './schema_violation.js'

const ajv = new Ajv2020({
  strict: true,
  strictRequired: false,
  // A test validates the schemas; compiling the meta-schema is a tenth of a start.
  validateSchema: false,
  allowUnionTypes: true,
  // An error carries its schema, which violationOf reads.
  verbose: true,
})
ajv.addFormat('date-time', { type: 'string', validate: isDateTime })
ajv.addFormat('int64', { type: 'string', validate: isInt64 })
ajv.addFormat('positive-int64', { type: 'string', validate: isPositiveInt64 })
ajv.addFormat('webhook-url', { type: 'string', validate: isWebhookUrl })

/** A compiled schema: the typed value, or the error code with place and rule. */
export interface Check<T> {
  (value: unknown): Outcome<T>
  /** For the OpenAPI document. */
  readonly schema: Schema
}

export type Schema = Readonly<Record<string, unknown>>

export function checkOf<T>(schema: Schema, code: ErrorCode = 'invalid_request'): Check<T> {
  const valid = ajv.compile<T>(schema)
  const check = (value: unknown): Outcome<T> =>
    valid(value) ? accepted(value) : refused(code, violationOf(valid.errors ?? []))
  return Object.assign(check, { schema })
}

export function readBody<T>(body: Buffer, check: Check<T>): Outcome<T> {
  const json = parseJson(body)
  return json.ok ? check(json.value) : json
}

/** An absent body counts as `{}`. */
export function readOptionalBody<T>(body: Buffer, check: Check<T>): Outcome<T> {
  return body.length === 0 ? check({}) : readBody(body, check)
}

const checkNothing = checkOf<object>({ type: 'object', maxProperties: 0 })

/** For operations without a body, which take nothing or `{}`: the value, or the error code. */
export function withoutBody<T>(body: Buffer, value: T): Outcome<T> {
  const nothing = readOptionalBody(body, checkNothing)
  return nothing.ok ? accepted(value) : nothing
}
