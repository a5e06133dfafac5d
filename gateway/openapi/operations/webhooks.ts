/** Webhook endpoints and events in the OpenAPI document. */
import { checkEvents } from '../../../src/requests/events.js'
import { checkPage } from '../../../src/requests/lists.js'
import {
  checkCreateWebhookEndpoint,
  checkRecover,
  checkResendEvent,
  checkRotateSecret,
  checkUpdateWebhookEndpoint,
} from '../../../src/requests/webhook_endpoints.js'
import type { Operations } from '../operation.js'

const tag = 'Webhooks'
const unknown = ['webhook_endpoint_not_found'] as const

export const WEBHOOK_OPERATIONS: Operations = {
  'POST /v1/webhook_endpoints': {
    id: 'createWebhookEndpoint',
    tag,
    summary: 'Create a webhook endpoint',
    description:
      'Registers a URL that receives your events as signed POSTs. The answer has the secret that ' +
      'verifies them: store it, it is not shown again but for a repetition with the same ' +
      '`Idempotency-Key`. You can have 16 endpoints.',
    body: { name: 'CreateWebhookEndpointRequest', schema: checkCreateWebhookEndpoint.schema },
    answer: 'CreatedWebhookEndpoint',
    answerText: 'The endpoint with its secret.',
    errors: ['webhook_endpoint_limit', 'idempotency_conflict'],
  },
  'GET /v1/webhook_endpoints': {
    id: 'listWebhookEndpoints',
    tag,
    summary: 'List webhook endpoints',
    description: 'Lists all endpoints, without pages and without a query.',
    answer: 'WebhookEndpointList',
    answerText: 'All endpoints.',
    errors: [],
  },
  'GET /v1/webhook_endpoints/{endpoint_id}': {
    id: 'getWebhookEndpoint',
    tag,
    summary: 'Get a webhook endpoint',
    description: 'Returns the current endpoint, without its secret.',
    answer: 'WebhookEndpoint',
    answerText: 'The endpoint.',
    errors: unknown,
  },
  'PATCH /v1/webhook_endpoints/{endpoint_id}': {
    id: 'updateWebhookEndpoint',
    tag,
    summary: 'Change a webhook endpoint',
    description:
      'Changes the members that the body names; at least one. A changed filter applies to later ' +
      'events.',
    body: { name: 'UpdateWebhookEndpointRequest', schema: checkUpdateWebhookEndpoint.schema },
    answer: 'WebhookEndpoint',
    answerText: 'The changed endpoint.',
    errors: unknown,
  },
  'DELETE /v1/webhook_endpoints/{endpoint_id}': {
    id: 'deleteWebhookEndpoint',
    tag,
    summary: 'Delete a webhook endpoint',
    description: 'Stops all deliveries to it, permanently.',
    answer: 'WebhookEndpoint',
    answerText: 'The deleted endpoint.',
    errors: unknown,
  },
  'POST /v1/webhook_endpoints/{endpoint_id}/enable': {
    id: 'enableWebhookEndpoint',
    tag,
    summary: 'Enable a webhook endpoint',
    description: 'Resumes deliveries; events that were held are delivered.',
    answer: 'WebhookEndpoint',
    answerText: 'The enabled endpoint.',
    errors: unknown,
  },
  'POST /v1/webhook_endpoints/{endpoint_id}/disable': {
    id: 'disableWebhookEndpoint',
    tag,
    summary: 'Disable a webhook endpoint',
    description:
      'Holds its events until it is enabled. Your other endpoints get `webhook_endpoint.disabled`.',
    answer: 'WebhookEndpoint',
    answerText: 'The disabled endpoint.',
    errors: unknown,
  },
  'POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret': {
    id: 'rotateWebhookSecret',
    tag,
    summary: 'Rotate the secret of an endpoint',
    description:
      'Creates a secret that signs from `activate_at` on. Keep both secrets until then, and let ' +
      'the key id of each webhook choose. Another rotation before that replaces the new secret.',
    body: { name: 'RotateWebhookSecretRequest', schema: checkRotateSecret.schema, required: false },
    answer: 'RotatedWebhookEndpoint',
    answerText: 'The endpoint with its new secret.',
    errors: unknown,
  },
  'POST /v1/webhook_endpoints/{endpoint_id}/test': {
    id: 'testWebhookEndpoint',
    tag,
    summary: 'Send a test event',
    description:
      'Sends `webhook_endpoint.test` to this endpoint alone, whatever its filter, along the path ' +
      'of all events.',
    answer: 'NumberedEvent',
    answerText: 'The test event.',
    errors: [...unknown, 'webhook_endpoint_disabled'],
  },
  'GET /v1/webhook_endpoints/{endpoint_id}/deliveries': {
    id: 'listDeliveries',
    tag,
    summary: 'List deliveries of an endpoint',
    description:
      'Lists the deliveries of an endpoint with their attempts, newest events first. Delivered ' +
      'ones are kept for eight days, dead ones for thirty.',
    query: checkPage.schema,
    answer: 'DeliveryPage',
    answerText: 'A page of deliveries.',
    errors: unknown,
  },
  'POST /v1/webhook_endpoints/{endpoint_id}/recover': {
    id: 'recoverWebhookEndpoint',
    tag,
    summary: 'Retry failed deliveries',
    description:
      'Retries everything that is `waiting` or `dead` for events created since a time. While ' +
      '`has_more` is true, call again.',
    body: { name: 'RecoverWebhookEndpointRequest', schema: checkRecover.schema },
    answer: 'RecoveredDeliveries',
    answerText: 'The number of retried deliveries.',
    errors: unknown,
  },
  'GET /v1/events': {
    id: 'listEvents',
    tag: 'Events',
    summary: 'List events by number',
    description:
      'Lists your events after a number, oldest first. Pass `next_after` of the answer as ' +
      '`after` of the next call and you miss no event, however many arrive meanwhile.',
    query: checkEvents.schema,
    answer: 'EventList',
    answerText: 'Events with their numbers.',
    errors: [],
  },
  'POST /v1/events/{event_id}/resend': {
    id: 'resendEvent',
    tag: 'Events',
    summary: 'Deliver an event again',
    description:
      'Delivers an event again, whatever its outcome. Deliveries in progress are left alone, so ' +
      'a repeated call sends once.',
    body: { name: 'ResendEventRequest', schema: checkResendEvent.schema, required: false },
    answer: 'ResentEvent',
    answerText: 'The deliveries of the event.',
    errors: ['event_not_found', ...unknown],
  },
}
