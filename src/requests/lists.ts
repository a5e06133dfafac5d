/**
 * Parameters of lists (gateway/README.md, Lists). Cursors are opaque here; the processor
 * reads them.
 */
import type { ListIntents } from '../../protos/types/causeway/v1/ListIntents.js'
import type { ListPayouts } from '../../protos/types/causeway/v1/ListPayouts.js'
import { PARTNER_USER_ID_MAX, REFERENCE_MAX } from '../base/constants.js'
import { accepted, invalid, type Outcome } from '../base/errors.js'
import { checkOf } from './check.js'
import { isLater, timestampOf, roundDown, roundUp, type Moment } from './timestamp.js'
import { CORRIDORS } from './intents.js'

interface PageQuery {
  readonly limit?: string | undefined
  readonly cursor?: string | undefined
}

/** A page request; the processor supplies defaults. */
export interface Page {
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

export const checkPage = checkOf<PageQuery>({
  type: 'object',
  additionalProperties: false,
  properties: page,
})

export function readPage(parameters: object): Outcome<Page> {
  const read = checkPage(parameters)
  return read.ok ? accepted(pageOf(read.value)) : read
}

const pageOf = ({ limit, cursor }: PageQuery): Page => ({
  ...(limit === undefined ? {} : { limit: Number(limit) }),
  ...(cursor === undefined ? {} : { cursor }),
})

/** Both bounds are parsed later: see `timestampOf`. */
interface CreatedQuery extends PageQuery {
  readonly created_after?: string
  readonly created_before?: string
}

interface ReadCreatedQuery extends Page {
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

interface PayoutsQuery extends CreatedQuery {
  readonly status?: string
  readonly reference?: string
  readonly beneficiary_id?: string
}

export const PAYOUT_STATUSES = ['created', 'processing', 'completed', 'failed', 'reversed']
const BENEFICIARY_ID_MAX = 128

export const checkPayouts = checkOf<PayoutsQuery>({
  type: 'object',
  additionalProperties: false,
  properties: {
    ...page,
    ...created,
    status: { enum: PAYOUT_STATUSES, description: 'Only payouts in this status.' },
    reference: { type: 'string', maxLength: REFERENCE_MAX, description: 'Exact match.' },
    beneficiary_id: {
      type: 'string',
      maxLength: BENEFICIARY_ID_MAX,
      description: 'Exact match.',
    },
  },
})

export const readPayouts = (parameters: object): Outcome<ListPayouts> =>
  filtered(checkPayouts(parameters))

interface IntentsQuery extends CreatedQuery {
  readonly status?: string
  readonly corridor?: string
  readonly partner_user_id?: string
}

export const INTENT_STATUSES = [
  'created',
  'authorized',
  'captured',
  'failed',
  'expired',
  'refunded',
  'cancelled',
]

export const checkIntents = checkOf<IntentsQuery>({
  type: 'object',
  additionalProperties: false,
  properties: {
    ...page,
    ...created,
    status: { enum: INTENT_STATUSES, description: 'Only intents in this status.' },
    corridor: { enum: CORRIDORS, description: 'Only intents of this corridor.' },
    partner_user_id: {
      type: 'string',
      minLength: 1,
      maxLength: PARTNER_USER_ID_MAX,
      description: 'Only intents of this user.',
    },
  },
})

export const readIntents = (parameters: object): Outcome<ListIntents> =>
  filtered(checkIntents(parameters))

/** The list request: numbers as numbers, and both bounds in the store's milliseconds. */
function filtered<Query extends CreatedQuery>(
  read: Outcome<Query>,
): Outcome<Omit<Query, keyof CreatedQuery> & ReadCreatedQuery> {
  if (!read.ok) return read
  const { limit, cursor, created_after, created_before, ...filters } = read.value
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
