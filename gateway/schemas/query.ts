/**
 * Strict parser of list queries.
 *
 * - Form encoding: `%` and two hex digits are one byte of UTF-8, `+` is a space. Invalid escapes,
 *   bytes beyond ASCII, NUL and invalid UTF-8 are rejected.
 * - Duplicate and unknown names are rejected: a misspelled filter would silently widen the result.
 */
import { accepted, refused, type Outcome } from '../../src/base/errors.js'
import type { Check } from '../decode/body.js'

export function readQuery<T>(query: string, check: Check<T>): Outcome<T> {
  const parameters = parseQuery(query)
  return parameters.ok ? check(Object.fromEntries(parameters.value)) : parameters
}

type Parameters = ReadonlyMap<string, string>

const AS_SENT = /^[!-~]*$/
const INVALID = refused('invalid_request')

function parseQuery(query: string): Outcome<Parameters> {
  const parameters = new Map<string, string>()
  if (query === '') return accepted(parameters)
  if (!AS_SENT.test(query)) return INVALID
  for (const pair of query.split('&')) {
    const [name = '', ...rest] = pair.split('=')
    const decodedName = decoded(name)
    const value = decoded(rest.join('='))
    if (decodedName === undefined || value === undefined) return INVALID
    if (parameters.has(decodedName)) return INVALID
    parameters.set(decodedName, value)
  }
  return accepted(parameters)
}

function decoded(text: string): string | undefined {
  try {
    const plain = decodeURIComponent(text.replaceAll('+', ' '))
    return plain.includes('\0') ? undefined : plain
  } catch {
    return undefined
  }
}
