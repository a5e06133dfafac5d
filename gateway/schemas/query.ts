/**
 * Queries of lists: the text behind the `?` in, checked parameters out.
 *
 * Owns: strict decoding of names and values. Does not own: which names a list takes
 * (schemas/lists).
 *
 * - As HTML forms write them: `%` and two hex digits are a byte of UTF-8, `+` is a blank. A
 *   faulty escape, a byte beyond ASCII, NUL and UTF-8 with faults are refused.
 * - No name comes twice, and an unknown one is a fault: a filter that was misspelt would widen
 *   the answer without a word.
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
