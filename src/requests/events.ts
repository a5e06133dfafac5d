/**
 * Parameters of the event list. Its position is the tenant's own event number, which partners can
 * store, so there is no cursor.
 */
import type { ListEvents } from '../../protos/types/causeway/v1/ListEvents.js'
import { accepted, type Outcome } from '../base/errors.js'
import { checkOf } from './check.js'
import { page } from './lists.js'

interface EventsQuery {
  readonly after?: string
  readonly limit?: string
}

export const checkEvents = checkOf<EventsQuery>({
  type: 'object',
  additionalProperties: false,
  properties: {
    after: {
      type: 'string',
      pattern: '^(?:0|[1-9][0-9]{0,14})$',
      description: '`next_after` of the previous answer; 0 begins at the oldest event.',
    },
    limit: page.limit,
  },
})

export function readEvents(parameters: object): Outcome<ListEvents> {
  const read = checkEvents(parameters)
  if (!read.ok) return read
  const { after = '0', limit } = read.value
  return accepted({ after, ...(limit === undefined ? {} : { limit: Number(limit) }) })
}
