/**
 * Delivers an event again on request.
 *
 * - The pool that holds the event resends it; when none does, one pool takes the event from the
 *   outbox.
 * - A delivery in flight or not yet attempted is left alone, so repeated requests send it once.
 */
import type { ControlEvent } from '../../../protos/types/causeway/internal/v1/ControlEvent.js'
import type { Resent__Output as Resent } from '../../../protos/types/causeway/internal/v1/Resent.js'
import type { ResendEvent__Output as ResendEvent } from '../../../protos/types/causeway/v1/ResendEvent.js'
import { accepted, type Outcome } from '../../base/errors.js'
import type { TenantId } from '../../base/ids.js'
import type { ListedEvent } from '../../store/lists.js'
import { mergePages } from './delivery_pages.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Query } from './query.js'
import type { WebhookPools } from './webhook_pools.js'
import { briefView } from './delivery_list.js'

export function resendEvent(pools: WebhookPools, tenant: TenantId, request: ResendEvent): Query {
  return {
    name: 'resend_event',
    queueKey: tenant,
    run: async ({ lists }) => {
      const event = await lists.event(tenant, request.event_id)
      if (event === undefined) return refuse('event_not_found')
      const resendRequest = {
        event: controlEvent(tenant, event),
        endpoint_id: request.endpoint_id ?? '',
      }
      const resent = await findHolder(pools, tenant, resendRequest)
      if (!resent.ok) return refuse(resent.code)
      const pages = resent.value.map(({ deliveries }) => ({ deliveries, more: false }))
      const { deliveries } = mergePages(pages, Number.POSITIVE_INFINITY)
      return answer({ event_id: event.id, deliveries: deliveries.map(briefView) })
    },
  }
}

async function findHolder(
  pools: WebhookPools,
  tenant: TenantId,
  resendRequest: { readonly event: ControlEvent; readonly endpoint_id: string },
): Promise<Outcome<readonly Resent[]>> {
  const isOnly = pools.connectedPools === 1
  const answers = await pools.requestAll('resend', { ...resendRequest, take: isOnly }, tenant)
  if (!answers.ok) return answers
  const known = answers.value.filter((each) => each.known)
  if (known.length > 0) return accepted(known)
  const taken = await pools.requestOne('resend', { ...resendRequest, take: true }, tenant)
  return taken.ok ? accepted([taken.value]) : taken
}

const controlEvent = (tenant: TenantId, event: ListedEvent): ControlEvent => ({
  id: event.id,
  tenant,
  type: event.type,
  sequence: event.sequence,
  created_at: event.createdAt,
  body: event.body,
  request_id: event.requestId ?? '',
  traceparent: event.traceparent ?? '',
  settled: event.settledAt !== null,
})
