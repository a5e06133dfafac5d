/**
 * Checks of values against JSON Schema 2020-12, compiled at startup.
 *
 * - An unknown member is a fault.
 * - Lengths count Unicode code points, not UTF-16 units or bytes.
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { accepted, refused, type ErrorCode, type Outcome } from '../base/errors.js'
import { isDateTime, isInt64, isPositiveInt64, isWebhookUrl } from './formats.js'
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
