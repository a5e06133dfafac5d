/**
 * The calls of the partner clients, from the operations in src/api: what the methods of each
 * language are printed from.
 *
 * Does not own: calls of apps, polling, and calls without a signature, which the clients have by
 * hand; `HAND_WRITTEN` names them for the tables of the guides.
 */
import { ROUTES } from '../../../gateway/app.js'
import { shown } from '../../../gateway/openapi/request_schemas.js'
import type { AnyOperation } from '../../../src/api/operation.js'
import { ANSWERS } from '../../../src/api/operations.js'
import type { Properties, Schema } from '../../../src/api/schema.js'

/** `single`: the only member of the body, which is passed as its value. */
export interface BodyArgument {
  readonly name: string
  readonly schema: string
  readonly single: string | undefined
  readonly singleSchema: Schema
  readonly isRequired: boolean
}

/** How the answer is read: itself, the items of its only list, or a list of pages. */
export type Reading = 'answer' | 'items' | 'cursor_list' | 'numbered_list' | 'only_page'

export interface SignedCall {
  readonly id: string
  /** Undefined for a call of the client itself. */
  readonly noun: string | undefined
  readonly name: string
  readonly description: string
  readonly method: string
  /** The path before and after its id. */
  readonly path: readonly [before: string, after: string] | string
  readonly body: BodyArgument | undefined
  readonly isKeyed: boolean
  readonly isRepeatable: boolean
  readonly reading: Reading
  /** The schema of the answer, or of an item. Undefined if no call succeeds. */
  readonly result: string | undefined
  /** The schema of the page of a list. */
  readonly page: string
  readonly filters: Properties
}

const HAND_WRITTEN: Readonly<Record<string, readonly string[]>> = {
  client: ['request', 'session', 'receipts'],
  'client.paymentIntents': ['poll'],
  'client.payouts': ['poll'],
  'client.session(token)': ['get', 'poll'],
}

/** What every list has, after the filters of its own. */
const COMMON_FILTERS = ['created_after', 'created_before', 'limit', 'cursor']

export const SIGNED_CALLS: readonly SignedCall[] = ROUTES.flatMap((route) =>
  route.auth === 'none' || route.operation.client.includes('()') ? [] : [callOf(route.operation)],
)

function callOf(operation: AnyOperation): SignedCall {
  const { id, description, method, content, key, answer, client, isRepeatable } = operation
  const [noun, name] = client.includes('.') ? client.split('.') : [undefined, client]
  const [before = '', after] = operation.path.split(/\/\{[a-z_]+\}/)
  const answered = answer === null ? undefined : ANSWERS[answer]
  const reading = readingOf(method, name, answered)
  return {
    ...{ id, noun, name: name ?? '', description, method },
    path: after === undefined ? before : [before, after],
    body: content.in === 'body' ? argumentOf(operation, content) : undefined,
    isKeyed: key !== undefined,
    isRepeatable: isRepeatable === true,
    reading,
    result: reading === 'answer' ? (answer ?? undefined) : itemOf(answered),
    page: answer ?? '',
    filters: content.in === 'query' ? filtersOf(content.schema) : {},
  }
}

function propertiesOf(schema: Schema | undefined): Properties {
  return (schema?.['properties'] ?? {}) as Properties
}

function readingOf(method: string, name: string | undefined, answer: Schema | undefined): Reading {
  const members = Object.keys(propertiesOf(answer))
  if (method !== 'GET' || members[0] !== 'data') return 'answer'
  if (members.includes('next_cursor')) return 'cursor_list'
  if (members.includes('next_after')) return 'numbered_list'
  return name === 'list' ? 'only_page' : 'items'
}

function itemOf(answer: Schema | undefined): string | undefined {
  const { items } = propertiesOf(answer)['data'] as { readonly items: { readonly $ref: string } }
  return items.$ref.split('/').at(-1)
}

function argumentOf(
  { clientBody, client }: AnyOperation,
  { name, schema, isRequired }: { name: string; schema: Schema; isRequired: boolean },
): BodyArgument {
  const properties = propertiesOf(shown(schema))
  const members = Object.keys(properties)
  const required = (schema['required'] ?? []) as readonly string[]
  const single = members.length === 1 && required.length === 1 ? members[0] : undefined
  if (single === undefined && clientBody === undefined) throw new Error(`${client}: no clientBody`)
  const singleSchema = properties[single ?? ''] ?? {}
  return { name: clientBody ?? single ?? '', schema: name, single, singleSchema, isRequired }
}

/** Those of the list itself first: in Python they are also arguments by position. */
function filtersOf(schema: Schema): Properties {
  const filters = Object.entries(propertiesOf(shown(schema)))
  const rank = ([name]: readonly [string, unknown]): number => COMMON_FILTERS.indexOf(name)
  const isPage = filters.length === 2
  return Object.fromEntries(
    isPage ? filters : filters.toSorted((one, other) => rank(one) - rank(other)),
  )
}

/** The rows of the tables of calls: an object with the names of its calls. */
export function rowsOfCalls(
  named: (name: string) => string = (name) => name,
): readonly (readonly string[])[] {
  const rows = new Map<string, string[]>()
  const add = (of: string, name: string): void => {
    rows.set(of, [...(rows.get(of) ?? []), name])
  }
  for (const { operation } of ROUTES) {
    const [of, name] = operation.client?.split('.') ?? []
    if (of === undefined) continue
    if (name === undefined) add('client', of)
    else add(`client.${of.replace('()', '(token)')}`, name)
  }
  for (const [of, names] of Object.entries(HAND_WRITTEN)) names.forEach((name) => add(of, name))
  return [...rows].map(([of, names]) => [
    `\`${named(of)}\``,
    names.map((name) => `\`${named(name)}\``).join(', '),
  ])
}

export const snakeOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const classOf = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

/** The calls of each object of a client, in the order of the operations. */
export function callsByNoun(): ReadonlyMap<string | undefined, readonly SignedCall[]> {
  const nouns = new Map<string | undefined, SignedCall[]>()
  for (const call of SIGNED_CALLS) nouns.set(call.noun, [...(nouns.get(call.noun) ?? []), call])
  return nouns
}
