/** Internal callers' operations on webhook endpoints and events. */
import type { EventsHandlers } from '../../../protos/types/causeway/v1/Events.js'
import type { WebhookEndpointsHandlers } from '../../../protos/types/causeway/v1/WebhookEndpoints.js'
import { PAYOUT_IDEMPOTENCY_KEY_MAX as KEY_MAX } from '../../base/constants.js'
import { invalid } from '../../base/errors.js'
import { listEventRecords } from '../queries/event_list.js'
import { readEvents } from '../../requests/events.js'
import { checkPage } from '../../requests/lists.js'
import {
  checkCreateWebhookEndpoint,
  checkResendEvent,
  checkUpdateWebhookEndpoint,
} from '../../requests/webhook_endpoints.js'
import { faultIn, faultOf, firstFault, listFault, optionalKeyFault } from './message_check.js'
import { given, operation, query, type PartnerCall } from './partner_call.js'

export const endpointCalls = (call: PartnerCall): WebhookEndpointsHandlers => ({
  Create: call(({ endpoint }, ctx) =>
    given(ctx, 'create_webhook_endpoint', 'endpoint', endpoint, (message) =>
      firstFault(
        optionalKeyFault(message.idempotency_key, KEY_MAX),
        faultIn(message, checkCreateWebhookEndpoint),
      ),
    ),
  ),
  Get: call(({ endpoint_id }, ctx) => operation(ctx, 'get_webhook_endpoint', { endpoint_id })),
  List: call((_, ctx) => operation(ctx, 'list_webhook_endpoints', {})),
  Update: call(({ endpoint }, ctx) =>
    given(ctx, 'update_webhook_endpoint', 'endpoint', endpoint, (message) =>
      faultIn(
        { ...message, enabled_events: message.enabled_events?.types },
        checkUpdateWebhookEndpoint,
      ),
    ),
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
  ListDeliveries: call(({ list }, ctx) =>
    given(ctx, 'list_deliveries', 'list', list, (message) => listFault(message, checkPage)),
  ),
  Recover: call(({ recovery }, ctx) =>
    given(ctx, 'recover_webhook_endpoint', 'recovery', recovery, ({ since }) =>
      Number(since) >= 0 ? null : invalid('/since', 'must not be negative'),
    ),
  ),
})

export const eventCalls = (call: PartnerCall): Pick<EventsHandlers, 'List' | 'Resend'> => ({
  List: call(({ list }, { tenant }) => {
    if (list === null) return { refusal: invalid('/list', 'is required') }
    const { after, limit } = list
    const parameters = { after, ...(limit === undefined ? {} : { limit: String(limit) }) }
    const refusal = faultOf(readEvents(parameters))
    return refusal === null ? query(listEventRecords(tenant, list)) : { root: 'list', refusal }
  }),
  Resend: call(({ event }, ctx) =>
    given(ctx, 'resend_event', 'event', event, (message) => faultIn(message, checkResendEvent)),
  ),
})

function testOf(view: object): object {
  const { sequence, event } = view as { sequence: number; event: { id: string } }
  return { sequence, event_id: event.id }
}
