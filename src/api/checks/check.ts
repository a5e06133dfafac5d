/**
 * Checks of values against JSON Schema 2020-12.
 *
 * - An unknown member is a fault.
 * - Lengths count Unicode code points, not UTF-16 units or bytes.
 * - A schema is compiled at its first check, and the compiler is loaded then: both would take a
 *   quarter of a second of each start.
 */
import { createRequire } from 'node:module'
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'
import { accepted, refused, type ErrorCode, type Outcome, type Refusal } from '../../base/errors.js'
import { isDateTime, isInt64, isPositiveInt64, isWebhookUrl } from './formats.js'
import { violationOf } from './schema_violation.js'

/** The typed value, or the error code with field and rule. */
export interface Check<T> {
  (value: unknown): Outcome<T>
  /** For the OpenAPI document. */
  readonly schema: Schema
}

export type Schema = Readonly<Record<string, unknown>>

export function checkOf<T>(schema: Schema, code: ErrorCode = 'invalid_request'): Check<T> {
  let compiled: ValidateFunction<T> | undefined
  const check = (value: unknown): Outcome<T> => {
    const valid = (compiled ??= compiler().compile<T>(schema))
    return valid(value) ? accepted(value) : refused(code, violationOf(valid.errors ?? []))
  }
  return Object.assign(check, { schema })
}

/** The check, followed by what a schema cannot say. */
export const refined = <T, Refined>(
  check: Check<T>,
  refine: (value: T) => Outcome<Refined>,
): Check<Refined> =>
  Object.assign(
    (value: unknown): Outcome<Refined> => {
      const read = check(value)
      return read.ok ? refine(read.value) : read
    },
    { schema: check.schema },
  )

/** The check, after one whose fault counts more than the shape. */
export const preceded = <T>(
  faultOf: (value: unknown) => Refusal | null,
  check: Check<T>,
): Check<T> =>
  Object.assign((value: unknown): Outcome<T> => faultOf(value) ?? check(value), {
    schema: check.schema,
  })

let loaded: Ajv2020 | undefined

function compiler(): Ajv2020 {
  if (loaded !== undefined) return loaded
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as {
    readonly Ajv2020: new (options: object) => Ajv2020
  }
  loaded = new Ajv2020({
    strict: true,
    strictRequired: false,
    // A test validates the schemas; compiling the meta-schema takes as long as all of them.
    meta: false,
    validateSchema: false,
    allowUnionTypes: true,
    // An error carries its schema, which violationOf reads.
    verbose: true,
  })
  loaded.addFormat('date-time', { type: 'string', validate: isDateTime })
  loaded.addFormat('int64', { type: 'string', validate: isInt64 })
  loaded.addFormat('positive-int64', { type: 'string', validate: isPositiveInt64 })
  loaded.addFormat('webhook-url', { type: 'string', validate: isWebhookUrl })
  return loaded
}
