/**
 * Internal callers' operations on webhook endpoints and events whose answers differ from those of
 * partners.
 */
import type { EventsHandlers } from '../../../protos/types/causeway/v1/Events.js'
import type { WebhookEndpointsHandlers } from '../../../protos/types/causeway/v1/WebhookEndpoints.js'
import { invalid } from '../../base/errors.js'
import { listEventRecords } from '../queries/event_list.js'
import { messageFault } from './message_check.js'
import { query } from './operations/action.js'
import { decoded, type PartnerCall } from './partner_call.js'

export const endpointCalls = (call: PartnerCall): Pick<WebhookEndpointsHandlers, 'Test'> => ({
  Test: call((request, ctx) => decoded('test_webhook_endpoint', request, ctx), testOf),
})

export const eventCalls = (call: PartnerCall): Pick<EventsHandlers, 'List'> => ({
  List: call(({ list }, { tenant }) => {
    if (list === null) return { refusal: invalid('/list', 'is required') }
    const refusal = messageFault('list_events', list)
    return refusal === null ? query(listEventRecords(tenant, list)) : { root: 'list', refusal }
  }),
})

function testOf(view: object): object {
  const { sequence, event } = view as { sequence: number; event: { id: string } }
  return { sequence, event_id: event.id }
}
