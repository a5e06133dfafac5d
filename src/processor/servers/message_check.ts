/**
 * Messages of internal services, checked by the schemas of the partner API's requests, so that both
 * fronts refuse the same and name the same member and rule.
 *
 * - A field without presence cannot be absent: its empty text or zero is checked as sent.
 */
import { invalid, refused, type Outcome, type Refusal } from '../../base/errors.js'
import type { Check, Schema } from '../../requests/check.js'
import { keyFault } from '../../requests/idempotency_key.js'
import { isAllowedName, NAME_RULE, violationAt } from '../../requests/schema_violation.js'

/** The fault of a message; null: it is valid. */
export type MessageFault = Refusal | null

/** The first fault of several. */
export const firstFault = (...faults: readonly MessageFault[]): MessageFault =>
  faults.find((fault) => fault !== null) ?? null

/** The fault of the message's members that the schema describes. */
export const faultIn = (message: object, check: Check<unknown>): MessageFault =>
  faultOf(check(bodyOf(message, check.schema)))

export const faultOf = (outcome: Outcome<unknown>): MessageFault => (outcome.ok ? null : outcome)

export const optionalKeyFault = (key: string | undefined, maxLength: number): MessageFault =>
  key === undefined ? null : keyFault(key, maxLength)

/** The members of the message that the schema names, without absent ones. */
export function bodyOf(message: object, schema: Schema): object {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, Schema>> }
  const members = message as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, member]) => {
      const value = members[name]
      if (value === undefined || value === null) return []
      const isMessage = typeof value === 'object' && 'properties' in member
      return [[name, isMessage ? bodyOf(value, member) : value]]
    }),
  )
}

/** The fault of a name in a map, as of a member in a JSON body. */
export function nameFault(place: string, map: object): MessageFault {
  const name = Object.keys(map).find((each) => !isAllowedName(each))
  return name === undefined
    ? null
    : refused('invalid_request', violationAt([place, name], NAME_RULE))
}

interface PageFields {
  readonly limit?: number
  readonly created_after?: string
  readonly created_before?: string
}

/** The fault of a list's page and filters. Time bounds are milliseconds here, texts in a query. */
export function listFault(list: PageFields, check: Check<unknown>): MessageFault {
  const { limit, created_after: after, created_before: before, ...filters } = list
  const isOrdered = after === undefined || before === undefined || Number(before) > Number(after)
  return firstFault(
    faultIn({ ...filters, ...(limit === undefined ? {} : { limit: String(limit) }) }, check),
    isOrdered ? null : invalid('/created_before', 'must be later than created_after'),
  )
}
