/**
 * A tenant's events by sequence number, for polling and for recovering missed webhooks.
 *
 * - Sequence numbers are gap-free and committed in order, so reading on from the last one misses
 *   none, also while new events arrive.
 * - Events are returned as delivered, from the stored text.
 */
import { LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX } from '../../base/constants.js'
import type { TenantId } from '../../base/ids.js'
import type { ListEvents__Output as ListEvents } from '../../../protos/types/causeway/v1/ListEvents.js'
import { answer, refuse } from '../cycle/answer.js'
import { firstOf } from './page.js'
import type { Query } from './query.js'
import { RawJson } from './raw_json.js'

export function listEvents(tenant: TenantId, request: ListEvents): Query {
  return {
    name: 'list_events',
    queueKey: tenant,
    run: async ({ lists }) => {
      const limit = request.limit ?? LIST_LIMIT_DEFAULT
      const after = Number(request.after)
      const isValid = limit >= 1 && limit <= LIST_LIMIT_MAX && Number.isSafeInteger(after)
      if (!isValid || after < 0) return refuse('invalid_request')
      const rows = await lists.events(tenant, after, limit + 1)
      const shown = firstOf(rows.slice(0, limit), ({ body }) => Buffer.byteLength(body))
      const data = shown.map(({ sequence, body }) => `{"sequence":${sequence},"event":${body}}`)
      const nextAfter = shown.at(-1)?.sequence ?? after
      const hasMore = shown.length < rows.length
      return answer(
        new RawJson(`{"data":[${data.join()}],"next_after":${nextAfter},"has_more":${hasMore}}`),
      )
    },
  }
}
