/**
 * Parameters of lists (gateway/guide/operations.md, Lists). Cursors are opaque here; the processor
 * reads them.
 */
import { accepted, invalid, type Outcome } from '../base/errors.js'
import { checkOf, refined, type Check } from './checks/check.js'
import {
  isLater,
  roundDown,
  roundUp,
  timeAsJson,
  timestampOf,
  type Moment,
} from './checks/timestamp.js'

interface PageQuery {
  readonly limit?: string | undefined
  readonly cursor?: string | undefined
}

/** A page request; the processor supplies defaults. */
export interface PageParameters {
  limit?: number
  cursor?: string
}

/** Parameters of every list. */
export const page = {
  limit: {
    type: 'string',
    pattern: '^(?:[1-9][0-9]?|100)$',
    description: 'The most items of a page.',
  },
  cursor: {
    type: 'string',
    description: '`next_cursor` of the previous page, with the same filters.',
  },
}

export const readPage: Check<PageParameters> = refined(
  checkOf<PageQuery>({ type: 'object', additionalProperties: false, properties: page }),
  (query) => accepted(pageOf(query)),
)

const pageOf = ({ limit, cursor }: PageQuery): PageParameters => ({
  ...(limit === undefined ? {} : { limit: Number(limit) }),
  ...(cursor === undefined ? {} : { cursor }),
})

/** The parameters of a page in a message: a number there, a text in a query. */
export const pageAsJson = ({ limit, ...others }: { readonly limit?: number }): object => ({
  ...others,
  ...(limit === undefined ? {} : { limit: String(limit) }),
})

/** Both bounds are parsed later: see `timestampOf`. */
export interface CreatedQuery extends PageQuery {
  readonly created_after?: string
  readonly created_before?: string
}

interface ReadCreatedQuery extends PageParameters {
  created_after?: number
  created_before?: number
}

export const created = {
  created_after: { type: 'string', description: 'Exclusive. RFC 3339 with an offset.' },
  created_before: {
    type: 'string',
    description: 'Exclusive, later than `created_after`. RFC 3339 with an offset.',
  },
}

/** The list request: numbers as numbers, and both bounds in the store's milliseconds. */
export function readCreated<Query extends CreatedQuery>(
  query: Query,
): Outcome<Omit<Query, keyof CreatedQuery> & ReadCreatedQuery> {
  const { limit, cursor, created_after, created_before, ...filters } = query
  const after = boundOf('created_after', created_after)
  const before = boundOf('created_before', created_before)
  if (!after.ok) return after
  if (!before.ok) return before
  if (after.value && before.value && !isLater(before.value, after.value)) {
    return invalid('/created_before', 'must be later than created_after')
  }
  return accepted({
    ...filters,
    ...pageOf({ limit, cursor }),
    ...(after.value && { created_after: roundDown(after.value) }),
    ...(before.value && { created_before: roundUp(before.value) }),
  })
}

function boundOf(name: string, text: string | undefined): Outcome<Moment | undefined> {
  if (text === undefined) return accepted(undefined)
  const moment = timestampOf(text)
  if (moment !== undefined) return accepted(moment)
  return invalid(`/${name}`, 'must be an RFC 3339 timestamp with an offset')
}

interface CreatedMessage {
  readonly limit?: number
  readonly created_after?: unknown
  readonly created_before?: unknown
}

/** As `pageAsJson`, with both bounds as texts. */
export const createdListAsJson = ({
  created_after: after,
  created_before: before,
  ...others
}: CreatedMessage): object => ({
  ...pageAsJson(others),
  ...(after === undefined ? {} : { created_after: timeAsJson(after) }),
  ...(before === undefined ? {} : { created_before: timeAsJson(before) }),
})
