/**
 * A tenant's events by sequence number, for polling and for recovering missed webhooks.
 *
 * - Sequence numbers are gap-free and committed in order, so reading on from the last one misses
 *   none, also while new events arrive.
 * - Events are returned as delivered, from the stored text. One whose text is damaged is left out,
 *   and the next page goes on after it.
 * - A page of which earlier events are deleted names the last one of these: it begins after it.
 */
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../../base/constants.js'
import type { TenantId } from '../../base/ids.js'
import type { ListEvents__Output as ListEvents } from '../../../protos/types/causeway/v1/ListEvents.js'
import type { EventInPage } from '../../store/lists.js'
import { answer, refuse } from '../cycle/answer.js'
import { firstOf } from './page.js'
import type { Query } from './query.js'
import { RawJson } from './raw_json.js'

export function listEvents(tenant: TenantId, request: ListEvents): Query {
  return eventQuery(tenant, request, ({ rows, nextAfter, hasMore, beginsAfter }) => {
    const data = rows.map(({ sequence, body }) => `{"sequence":${sequence},"event":${body}}`)
    const begins = beginsAfter === undefined ? '' : `,"begins_after":${beginsAfter}`
    return new RawJson(
      `{"data":[${data.join()}],"next_after":${nextAfter},"has_more":${hasMore}${begins}}`,
    )
  })
}

/** The same page for callers that take the body as text. */
export const listEventRecords = (tenant: TenantId, request: ListEvents): Query =>
  eventQuery(tenant, request, ({ rows, nextAfter, hasMore, beginsAfter }) => ({
    data: rows.map(recordOf),
    next_after: nextAfter,
    has_more: hasMore,
    ...(beginsAfter === undefined ? {} : { begins_after: beginsAfter }),
  }))

export interface EventRecord {
  readonly sequence: number
  readonly id: string
  readonly type: string
  readonly created_at: string
  readonly body: string
}

export interface EventRecordPage {
  readonly data: readonly EventRecord[]
  readonly next_after: number
  readonly has_more: boolean
  readonly begins_after?: number
}

function recordOf({ sequence, body }: EventInPage): EventRecord {
  const { id, type, created_at } = JSON.parse(body) as Omit<EventRecord, 'sequence' | 'body'>
  return { sequence, id, type, created_at, body }
}

interface EventPage {
  readonly rows: readonly EventInPage[]
  readonly nextAfter: number
  readonly hasMore: boolean
  /**
   * The last deleted event after the ones that were asked for. Undefined means that none of them is
   * deleted.
   */
  readonly beginsAfter: number | undefined
}

function eventQuery(
  tenant: TenantId,
  request: ListEvents,
  viewOf: (page: EventPage) => object,
): Query {
  return {
    name: 'list_events',
    queueKey: tenant,
    run: async ({ lists, reportCorrupt }) => {
      const limit = request.limit ?? LIST_LIMIT_DEFAULT
      const after = Number(request.after)
      const isValid = limit >= 1 && limit <= LIST_LIMIT_MAX && Number.isSafeInteger(after)
      if (!isValid || after < 0) return refuse('invalid_request')
      const found = await lists.events(tenant, after, limit + 1)
      const rows = firstOf(found.slice(0, limit), ({ body }) => Buffer.byteLength(body))
      const isWhole = rows[0]?.sequence === after + 1
      const edge = isWhole ? undefined : (await lists.retention.eventEdge(tenant))?.sequence
      const beginsAfter = edge !== undefined && edge > after ? edge : undefined
      const nextAfter = rows.at(-1)?.sequence ?? after
      const hasMore = rows.length < found.length
      const whole = rows.filter(({ sequence, body }) => {
        const fault = jsonFault(body)
        if (fault !== null) reportCorrupt(`event ${sequence} of ${tenant}`, fault)
        return fault === null
      })
      return answer(viewOf({ rows: whole, nextAfter, hasMore, beginsAfter }))
    },
  }
}

function jsonFault(body: string): unknown {
  try {
    JSON.parse(body)
    return null
  } catch (error) {
    return error
  }
}
