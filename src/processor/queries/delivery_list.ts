/** Webhook deliveries of an endpoint with their attempts, newest event first. */
import type { AttemptRecord__Output as AttemptRecord } from '../../../protos/types/causeway/internal/v1/AttemptRecord.js'
import type { DeliveryRecord__Output as DeliveryRecord } from '../../../protos/types/causeway/internal/v1/DeliveryRecord.js'
import { instant, isMoment, toRfc3339 } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import { mergePages, positionIn, positionOf } from './delivery_pages.js'
import { answer, refuse } from '../cycle/answer.js'
import {
  firstOf,
  INVALID_PAGE,
  jsonBytes,
  pageOf,
  type CheckedPage,
  type PageRequest,
} from './page.js'
import type { Query } from './query.js'
import type { WebhookPools } from './webhook_pools.js'
import type { Vault } from '../keys/vault.js'

export function listDeliveries(
  pools: WebhookPools,
  tenant: TenantId,
  request: PageRequest & { readonly endpoint_id: string },
): Query {
  const { endpoint_id: endpoint } = request
  return {
    name: 'list_deliveries',
    queueKey: tenant,
    run: async ({ vault }) => {
      const page = pageOf(vault, `deliveries ${tenant} ${endpoint}`, request)
      if (page === null) return INVALID_PAGE
      if (pools.missingPools.length > 0) return refuse('configuration_error')
      const { event } = positionIn(page.after)
      const wanted = { endpoint_id: endpoint, below_event: event, limit: page.limit }
      const found = await pools.requestAll('deliveries', wanted, tenant)
      if (!found.ok) return refuse(found.code)
      return answer(pageView(vault, page, found.value, deliveryView))
    },
  }
}

/** A page can hold fewer than `limit` deliveries without being the last one. */
export function pageView(
  vault: Vault,
  { list, limit }: CheckedPage,
  pages: Parameters<typeof mergePages>[0],
  view: (record: DeliveryRecord) => object,
): object {
  const { deliveries, more } = mergePages(pages, limit)
  const data = firstOf(deliveries.map(view), jsonBytes)
  const last = deliveries[data.length - 1]
  const hasNext = (more || data.length < deliveries.length) && last !== undefined
  return { data, next_cursor: hasNext ? vault.cursors.make(list, positionOf(last)) : null }
}

const deliveryView = (record: DeliveryRecord): object => ({
  ...briefView(record),
  next_attempt_at: momentOrNull(record.due_at),
  ended_at: momentOrNull(record.ended_at),
  reason: record.reason === '' ? null : record.reason,
  request_id: record.request_id === '' ? null : record.request_id,
  attempts: record.attempts.filter(({ at }) => isMoment(Number(at))).map(attemptView),
})

export const briefView = (record: DeliveryRecord): object => ({
  id: record.id,
  event_id: record.event_id,
  event_type: record.event_type,
  endpoint_id: record.endpoint_id,
  status: record.state,
})

const attemptView = (attempt: AttemptRecord): object => ({
  number: attempt.number,
  at: toRfc3339(instant(Number(attempt.at))),
  status: attempt.status ?? null,
  reason: attempt.reason,
  latency_ms: attempt.latency_ms,
  reply: attempt.reply,
})

const momentOrNull = (at: string): string | null =>
  at !== '0' && isMoment(Number(at)) ? toRfc3339(instant(Number(at))) : null
