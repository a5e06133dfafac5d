/** Webhook endpoints. The processor checks what depends on the environment. */
import type { RotateWebhookSecret } from '../../protos/types/causeway/v1/RotateWebhookSecret.js'
import {
  ENDPOINT_DESCRIPTION_MAX,
  PAYOUT_IDEMPOTENCY_KEY_MAX,
  WEBHOOK_URL_MAX,
} from '../base/constants.js'
import { accepted } from '../base/errors.js'
import { EVENT_TYPES } from '../base/event_types.js'
import { checkOf, refined } from './checks/check.js'
import { roundUp, timeAsJson, timestampOf } from './checks/timestamp.js'
import { body, noContent, type OperationsOf } from './operation.js'
import { listOf, objectOf, ref, text, type Properties, type Schema } from './schema.js'

export interface CreateWebhookEndpointBody {
  readonly url: string
  readonly description?: string
  /** Absent or empty: every event that is not opt-in. */
  readonly enabled_events?: readonly string[]
  readonly api_version?: string
}

/** Absent members stay unchanged. */
export type UpdateWebhookEndpointBody = Partial<CreateWebhookEndpointBody>

export const eventSubscription = { enum: ['*', ...EVENT_TYPES] }

const members = {
  url: {
    type: 'string',
    maxLength: WEBHOOK_URL_MAX,
    format: 'webhook-url',
    description: 'Without user and fragment; in production https only.',
  },
  description: {
    type: 'string',
    maxLength: ENDPOINT_DESCRIPTION_MAX,
    description: 'Your own note.',
  },
  enabled_events: {
    type: 'array',
    uniqueItems: true,
    items: eventSubscription,
    description: '`["*"]`, an empty list or none selects all types that are not opt-in.',
  },
  // The processor checks whether the version exists.
  api_version: {
    type: 'string',
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$',
    description: 'Version of the bodies. There is one, `2026-11-01`.',
  },
}

export const checkCreateWebhookEndpoint = checkOf<CreateWebhookEndpointBody>({
  type: 'object',
  additionalProperties: false,
  required: ['url'],
  properties: members,
})

export const checkUpdateWebhookEndpoint = checkOf<UpdateWebhookEndpointBody>({
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: members,
})

const activate_at = {
  type: 'string',
  format: 'date-time',
  description: 'When the new secret begins to sign; at most 30 days ahead. Default: in an hour.',
}

export interface RotateSecretBody {
  /** Default: in an hour. */
  readonly activate_at?: string
}

const checkRotateSecret = checkOf<RotateSecretBody>({
  type: 'object',
  additionalProperties: false,
  properties: { activate_at },
})

export const readRotateSecret = refined(checkRotateSecret, ({ activate_at: text }) => {
  const at = timestampOf(text ?? '')
  return accepted(at === undefined ? {} : { activate_at: roundUp(at) })
})

const endpoint: Properties = {
  id: text('`we_…`', { pattern: '^we_' }),
  url: text('Where events are sent.', { format: 'uri' }),
  description: text('Your own note.'),
  enabled_events: listOf(ref('EventSubscription'), 'The types that are sent.'),
  api_version: text('Version of the bodies.', { examples: ['2026-11-01'] }),
  status: text('A disabled endpoint holds its events. `deleted` only in the answer to a delete.', {
    enum: ['enabled', 'disabled', 'deleted'],
  }),
  disabled_reason: {
    enum: ['by_partner', 'by_operator', 'gone', 'failing', null],
    type: ['string', 'null'],
    description: '`gone`: it answered 410. `failing`: no 2xx for five days.',
  },
  key_id: text('The secret that signs now.'),
  created_at: ref('Timestamp'),
}

const rotationAsJson = ({ activate_at: at }: RotateWebhookSecret): object =>
  at === undefined ? {} : { activate_at: timeAsJson(at) }

const nextKey = ref('NextWebhookKey', 'Present while a new secret is scheduled.')

/** Members of an endpoint in `webhook_endpoint.deliveries_dead`. */
const deadDeliveries: Properties = {
  dead_deliveries: {
    type: 'integer',
    minimum: 1,
    description: 'Dead deliveries. Only in `webhook_endpoint.deliveries_dead`.',
  },
  newest_dead_at: ref('Timestamp', 'When the newest died. Likewise.'),
  newest_dead_event_id: text('Their newest event. Likewise.', { pattern: '^evt_' }),
}

const NEXT_WEBHOOK_KEY = objectOf('A secret that does not sign yet.', {
  key_id: text('The id of the new secret.'),
  activate_at: ref('Timestamp', 'From then on the new secret signs.'),
})

const secret = text('Verifies webhooks. Shown only here.', { pattern: '^whsec_' })

export const WEBHOOK_ENDPOINT_ANSWERS: Readonly<Record<string, Schema>> = {
  NextWebhookKey: NEXT_WEBHOOK_KEY,
  WebhookEndpoint: objectOf('A URL that receives events.', endpoint, {
    next_key: nextKey,
    ...deadDeliveries,
  }),
  CreatedWebhookEndpoint: objectOf('The endpoint with its secret.', { ...endpoint, secret }),
  RotatedWebhookEndpoint: objectOf(
    'The endpoint with its new secret. `key_id` is the id of the new secret.',
    { ...endpoint, secret, activate_at: ref('Timestamp', 'From then on the new secret signs.') },
    { next_key: nextKey },
  ),
  WebhookEndpointList: objectOf('All endpoints; there is no next page.', {
    data: listOf(ref('WebhookEndpoint'), 'At most 16.'),
  }),
}

export const WEBHOOK_ENDPOINTS: OperationsOf<
  | 'create_webhook_endpoint'
  | 'list_webhook_endpoints'
  | 'get_webhook_endpoint'
  | 'update_webhook_endpoint'
  | 'delete_webhook_endpoint'
  | 'enable_webhook_endpoint'
  | 'disable_webhook_endpoint'
  | 'rotate_webhook_secret'
  | 'test_webhook_endpoint'
> = {
  create_webhook_endpoint: {
    method: 'POST',
    path: '/v1/webhook_endpoints',
    auth: 'hmac',
    key: { isRequired: false, maxLength: PAYOUT_IDEMPOTENCY_KEY_MAX },
    content: body('CreateWebhookEndpointRequest', checkCreateWebhookEndpoint, (endpoint) => ({
      ...endpoint,
      enabled_events: [...(endpoint.enabled_events ?? [])],
    })),
    success: 201,
    recordedEntity: 'created',
    rpc: 'WebhookEndpoints.Create',
    rpcField: 'endpoint',
    client: 'webhookEndpoints.create',
    clientBody: 'endpoint',
    id: 'createWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Create a webhook endpoint',
    description:
      'Registers a URL that receives your events as signed POSTs. The answer has the secret that ' +
      'verifies them: store it, it is not shown again but for a repetition with the same ' +
      '`Idempotency-Key`. You can have 16 endpoints.',
    answer: 'CreatedWebhookEndpoint',
    answerText: 'The endpoint with its secret.',
    errors: ['webhook_endpoint_limit', 'idempotency_conflict'],
  },
  list_webhook_endpoints: {
    method: 'GET',
    path: '/v1/webhook_endpoints',
    auth: 'hmac',
    content: noContent(() => ({}), true),
    success: 200,
    rpc: 'WebhookEndpoints.List',
    client: 'webhookEndpoints.list',
    id: 'listWebhookEndpoints',
    tag: 'Webhooks',
    summary: 'List webhook endpoints',
    description: 'Lists all endpoints, without pages and without a query.',
    answer: 'WebhookEndpointList',
    answerText: 'All endpoints.',
    errors: [],
  },
  get_webhook_endpoint: {
    method: 'GET',
    path: '/v1/webhook_endpoints/{endpoint_id}',
    auth: 'hmac',
    content: noContent(({ id }) => ({ endpoint_id: id })),
    success: 200,
    rpc: 'WebhookEndpoints.Get',
    client: 'webhookEndpoints.get',
    id: 'getWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Get a webhook endpoint',
    description: 'Returns the current endpoint, without its secret.',
    answer: 'WebhookEndpoint',
    answerText: 'The endpoint.',
    errors: ['webhook_endpoint_not_found'],
  },
  update_webhook_endpoint: {
    method: 'PATCH',
    path: '/v1/webhook_endpoints/{endpoint_id}',
    auth: 'hmac',
    content: body(
      'UpdateWebhookEndpointRequest',
      checkUpdateWebhookEndpoint,
      ({ enabled_events: types, ...terms }, { id }) => ({
        endpoint_id: id,
        ...terms,
        ...(types === undefined ? {} : { enabled_events: { types: [...types] } }),
      }),
      { asJson: (message) => ({ ...message, enabled_events: message.enabled_events?.types }) },
    ),
    success: 200,
    recordedEntity: 'endpoint_id',
    rpc: 'WebhookEndpoints.Update',
    rpcField: 'endpoint',
    client: 'webhookEndpoints.update',
    clientBody: 'changes',
    isRepeatable: true,
    id: 'updateWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Change a webhook endpoint',
    description:
      'Changes the members that the body names; at least one. A changed filter applies to later ' +
      'events.',
    answer: 'WebhookEndpoint',
    answerText: 'The changed endpoint.',
    errors: ['webhook_endpoint_not_found'],
  },
  delete_webhook_endpoint: {
    method: 'DELETE',
    path: '/v1/webhook_endpoints/{endpoint_id}',
    auth: 'hmac',
    content: noContent(({ id }) => ({ endpoint_id: id })),
    success: 200,
    recordedEntity: 'endpoint_id',
    rpc: 'WebhookEndpoints.Delete',
    client: 'webhookEndpoints.delete',
    id: 'deleteWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Delete a webhook endpoint',
    description: 'Stops all deliveries to it, permanently.',
    answer: 'WebhookEndpoint',
    answerText: 'The deleted endpoint.',
    errors: ['webhook_endpoint_not_found'],
  },
  enable_webhook_endpoint: {
    method: 'POST',
    path: '/v1/webhook_endpoints/{endpoint_id}/enable',
    auth: 'hmac',
    content: noContent(({ id }) => ({ endpoint_id: id })),
    success: 200,
    recordedEntity: 'endpoint_id',
    rpc: 'WebhookEndpoints.Enable',
    client: 'webhookEndpoints.enable',
    isRepeatable: true,
    id: 'enableWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Enable a webhook endpoint',
    description: 'Resumes deliveries; events that were held are delivered.',
    answer: 'WebhookEndpoint',
    answerText: 'The enabled endpoint.',
    errors: ['webhook_endpoint_not_found'],
  },
  disable_webhook_endpoint: {
    method: 'POST',
    path: '/v1/webhook_endpoints/{endpoint_id}/disable',
    auth: 'hmac',
    content: noContent(({ id }) => ({ endpoint_id: id })),
    success: 200,
    recordedEntity: 'endpoint_id',
    rpc: 'WebhookEndpoints.Disable',
    client: 'webhookEndpoints.disable',
    isRepeatable: true,
    id: 'disableWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Disable a webhook endpoint',
    description:
      'Holds its events until it is enabled. Your other endpoints get `webhook_endpoint.disabled`.',
    answer: 'WebhookEndpoint',
    answerText: 'The disabled endpoint.',
    errors: ['webhook_endpoint_not_found'],
  },
  rotate_webhook_secret: {
    method: 'POST',
    path: '/v1/webhook_endpoints/{endpoint_id}/rotate_secret',
    auth: 'hmac',
    content: body(
      'RotateWebhookSecretRequest',
      readRotateSecret,
      (rotation, { id }) => ({ endpoint_id: id, ...rotation }),
      { isRequired: false, asJson: rotationAsJson },
    ),
    success: 200,
    recordedEntity: 'endpoint_id',
    rpc: 'WebhookEndpoints.RotateSecret',
    rpcField: 'rotation',
    client: 'webhookEndpoints.rotateSecret',
    clientBody: 'rotation',
    id: 'rotateWebhookSecret',
    tag: 'Webhooks',
    summary: 'Rotate the secret of an endpoint',
    description:
      'Creates a secret that signs from `activate_at` on. Keep both secrets until then, and let ' +
      'the key id of each webhook choose. Another rotation before that replaces the new secret.',
    answer: 'RotatedWebhookEndpoint',
    answerText: 'The endpoint with its new secret.',
    errors: ['webhook_endpoint_not_found'],
  },
  test_webhook_endpoint: {
    method: 'POST',
    path: '/v1/webhook_endpoints/{endpoint_id}/test',
    auth: 'hmac',
    content: noContent(({ id }) => ({ endpoint_id: id })),
    success: 202,
    rpc: 'WebhookEndpoints.Test',
    client: 'webhookEndpoints.test',
    id: 'testWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Send a test event',
    description:
      'Sends `webhook_endpoint.test` to this endpoint alone, whatever its filter, along the path ' +
      'of all events.',
    answer: 'NumberedEvent',
    answerText: 'The test event.',
    errors: ['webhook_endpoint_not_found', 'webhook_endpoint_disabled'],
  },
}
