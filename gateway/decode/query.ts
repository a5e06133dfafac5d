/**
 * Strict parser of list queries.
 *
 * - Form encoding: `%` and two hex digits are one byte of UTF-8, `+` is a space. Invalid escapes,
 *   bytes beyond ASCII, invalid UTF-8 and NUL are rejected.
 * - Duplicate and unknown names are rejected: a misspelled filter would silently widen the result.
 */
import { accepted, invalid, atPointer, refused, type Outcome } from '../../src/base/errors.js'
import { CLEAN_TEXT_RULE, isCleanText } from '../../src/base/text.js'
import { violationAt } from '../../src/api/checks/schema_violation.js'

/** @param read checks the parameters, by name */
export function readQuery<T>(query: string, read: (parameters: object) => Outcome<T>): Outcome<T> {
  const parameters = parseQuery(query)
  return atPointer('query', parameters.ok ? read(Object.fromEntries(parameters.value)) : parameters)
}

/** For lists without parameters. */
export const withoutQuery = (query: string): Outcome<null> =>
  query === '' ? accepted(null) : invalid('query', 'must be empty')

type Parameters = ReadonlyMap<string, string>

const AS_SENT = /^[!-~]*$/
const NOT_ENCODED = invalid('', 'must be form-encoded UTF-8')

function parseQuery(query: string): Outcome<Parameters> {
  const parameters = new Map<string, string>()
  if (query === '') return accepted(parameters)
  if (!AS_SENT.test(query)) return NOT_ENCODED
  for (const pair of query.split('&')) {
    const [name = '', ...rest] = pair.split('=')
    const decodedName = decoded(name)
    const value = decoded(rest.join('='))
    if (decodedName === undefined || value === undefined) return NOT_ENCODED
    if (!isCleanText(decodedName) || !isCleanText(value)) {
      return refused('invalid_request', violationAt([decodedName], CLEAN_TEXT_RULE))
    }
    if (parameters.has(decodedName)) {
      return refused('invalid_request', violationAt([decodedName], 'must not be repeated'))
    }
    parameters.set(decodedName, value)
  }
  return accepted(parameters)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
