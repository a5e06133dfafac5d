/** Internal callers' operations on webhook endpoints and events. */
import type { EventsHandlers } from '../../../protos/types/causeway/v1/Events.js'
import type { WebhookEndpointsHandlers } from '../../../protos/types/causeway/v1/WebhookEndpoints.js'
import { isWebhookUrl } from '../../base/text.js'
import { listEventRecords } from '../queries/event_list.js'
import { given, operation, query, required, rule, type PartnerCall } from './partner_call.js'
import type { FieldViolation } from './status_details.js'

export const endpointCalls = (call: PartnerCall): WebhookEndpointsHandlers => ({
  Create: call(({ endpoint }, ctx) =>
    given(ctx, 'create_webhook_endpoint', 'endpoint', endpoint, urlOf(endpoint?.url)),
  ),
  Get: call(({ endpoint_id }, ctx) => operation(ctx, 'get_webhook_endpoint', { endpoint_id })),
  List: call((_, ctx) => operation(ctx, 'list_webhook_endpoints', {})),
  Update: call(({ endpoint }, ctx) =>
    given(ctx, 'update_webhook_endpoint', 'endpoint', endpoint, [
      ...urlOf(endpoint?.url),
      ...rule(endpoint !== null && hasChange(endpoint), 'endpoint', 'must change something'),
    ]),
  ),
  Delete: call(({ endpoint_id }, ctx) =>
    operation(ctx, 'delete_webhook_endpoint', { endpoint_id }),
  ),
  Enable: call(({ endpoint_id }, ctx) =>
    operation(ctx, 'enable_webhook_endpoint', { endpoint_id }),
  ),
  Disable: call(({ endpoint_id }, ctx) =>
    operation(ctx, 'disable_webhook_endpoint', { endpoint_id }),
  ),
  RotateSecret: call(({ rotation }, ctx) =>
    given(ctx, 'rotate_webhook_secret', 'rotation', rotation),
  ),
  Test: call(
    ({ endpoint_id }, ctx) => operation(ctx, 'test_webhook_endpoint', { endpoint_id }),
    testOf,
  ),
  ListDeliveries: call(({ list }, ctx) => given(ctx, 'list_deliveries', 'list', list)),
  Recover: call(({ recovery }, ctx) =>
    given(
      ctx,
      'recover_webhook_endpoint',
      'recovery',
      recovery,
      rule(Number(recovery?.since) >= 0, 'recovery.since', 'must not be negative'),
    ),
  ),
})

export const eventCalls = (call: PartnerCall): Pick<EventsHandlers, 'List' | 'Resend'> => ({
  List: call(({ list }, { tenant }) =>
    list === null ? [required('list')] : query(listEventRecords(tenant, list)),
  ),
  Resend: call(({ event }, ctx) =>
    given(
      ctx,
      'resend_event',
      'event',
      event,
      rule(event?.endpoint_id !== '', 'event.endpoint_id', 'must not be empty'),
    ),
  ),
})

/** An absent URL stays unchanged. */
const urlOf = (url: string | undefined): FieldViolation[] =>
  rule(
    url === undefined || isWebhookUrl(url),
    'endpoint.url',
    'must be an http or https URL without user and fragment',
  )

const hasChange = (endpoint: {
  readonly url?: string
  readonly description?: string
  readonly api_version?: string
  readonly enabled_events: unknown
}): boolean =>
  endpoint.url !== undefined ||
  endpoint.description !== undefined ||
  endpoint.api_version !== undefined ||
  endpoint.enabled_events !== null

function testOf(view: object): object {
  const { sequence, event } = view as { sequence: number; event: { id: string } }
  return { sequence, event_id: event.id }
}
