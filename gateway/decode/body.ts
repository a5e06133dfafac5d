/** Request bodies: strict JSON checked against a schema (src/api). */
import { accepted, type Outcome } from '../../src/base/errors.js'
import { checkOf } from '../../src/api/checks/check.js'
import { parseJson } from './json.js'

export function readBody<T>(body: Buffer, check: (value: unknown) => Outcome<T>): Outcome<T> {
  const json = parseJson(body)
  return json.ok ? check(json.value) : json
}

/** An absent body counts as `{}`. */
export function readOptionalBody<T>(
  body: Buffer,
  check: (value: unknown) => Outcome<T>,
): Outcome<T> {
  return body.length === 0 ? check({}) : readBody(body, check)
}

const checkNothing = checkOf<object>({ type: 'object', maxProperties: 0 })

/** For operations without a body, which take nothing or `{}`: the value, or the error code. */
export function withoutBody<T>(body: Buffer, value: T): Outcome<T> {
  const nothing = readOptionalBody(body, checkNothing)
  return nothing.ok ? accepted(value) : nothing
}
