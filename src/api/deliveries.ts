/** Deliveries of events to webhook endpoints. */
import { accepted, invalid } from '../base/errors.js'
import { checkOf, refined } from './checks/check.js'
import { roundDown, timeAsJson, timestampOf } from './checks/timestamp.js'
import { pageAsJson, readPage } from './lists.js'
import { body, query, type OperationsOf } from './operation.js'
import {
  listOf,
  objectOf,
  orNull,
  pageOf,
  ref,
  text,
  type Properties,
  type Schema,
} from './schema.js'

const since = {
  type: 'string',
  format: 'date-time',
  description: 'Events created from then on.',
}

export interface RecoverBody {
  readonly since: string
}

const checkRecover = checkOf<RecoverBody>({
  type: 'object',
  additionalProperties: false,
  required: ['since'],
  properties: { since },
})

export const readRecover = refined(checkRecover, ({ since: text }) => {
  const since = timestampOf(text)
  if (since === undefined) return invalid('/since', 'must be a valid time')
  return accepted({ since: Math.max(roundDown(since), 0) })
})

const delivery: Properties = {
  id: text('`dlv_…`', { pattern: '^dlv_' }),
  event_id: text('`evt_…`', { pattern: '^evt_' }),
  event_type: ref('EventType'),
  endpoint_id: text('`we_…`', { pattern: '^we_' }),
  status: text(
    '`pending`: not attempted yet, or held. `waiting`: the last attempt failed. `dead`: no ' +
      'further attempts.',
    { enum: ['pending', 'waiting', 'delivered', 'dead'] },
  ),
}

export const DELIVERY_ANSWERS: Readonly<Record<string, Schema>> = {
  Delivery: objectOf('The delivery of one event to one endpoint, with its attempts.', {
    ...delivery,
    next_attempt_at: orNull(ref('Timestamp'), '`null` when no attempt is planned.'),
    ended_at: orNull(ref('Timestamp'), 'When it was delivered or given up.'),
    reason: { type: ['string', 'null'], description: 'Why it is `dead`; else `null`.' },
    request_id: {
      type: ['string', 'null'],
      description: 'The request that caused the event; `null` when none did.',
    },
    attempts: listOf(ref('DeliveryAttempt'), 'Oldest first.'),
  }),
  DeliveryAttempt: objectOf('One request to your endpoint.', {
    number: { type: 'integer', minimum: 1, description: 'Counts from 1.' },
    at: ref('Timestamp'),
    status: { type: ['integer', 'null'], description: 'HTTP status; `null` without an answer.' },
    reason: text('`http_` and the status, `timeout`, `target_refused` or a network error.'),
    latency_ms: { type: 'integer', minimum: 0, description: 'Milliseconds.' },
    reply: text('The first 4 KiB of your answer.'),
  }),
  DeliveryPage: pageOf('Delivery', 'Deliveries, newest events first.'),
  DeliveryBrief: objectOf('A delivery without its attempts.', delivery),
  ResentEvent: objectOf('The deliveries of an event that is sent again.', {
    event_id: text('`evt_…`', { pattern: '^evt_' }),
    deliveries: listOf(ref('DeliveryBrief'), 'One for each endpoint.'),
  }),
  RecoveredDeliveries: objectOf('What a recovery retries.', {
    endpoint_id: text('`we_…`', { pattern: '^we_' }),
    since: ref('Timestamp'),
    redriven: { type: 'integer', minimum: 0, description: 'The number of retried deliveries.' },
    has_more: { type: 'boolean', description: 'True: call again.' },
  }),
}

export const DELIVERIES: OperationsOf<'list_deliveries' | 'recover_webhook_endpoint'> = {
  list_deliveries: {
    method: 'GET',
    path: '/v1/webhook_endpoints/{endpoint_id}/deliveries',
    auth: 'hmac',
    content: query(readPage, (page, { id }) => ({ endpoint_id: id, ...page }), pageAsJson),
    success: 200,
    runsOutsideCycle: true,
    rpc: 'WebhookEndpoints.ListDeliveries',
    rpcField: 'list',
    client: 'webhookEndpoints.deliveries',
    id: 'listDeliveries',
    tag: 'Webhooks',
    summary: 'List deliveries of an endpoint',
    description:
      'Lists the deliveries of an endpoint with their attempts, newest events first. Delivered ' +
      'ones are kept for eight days, dead ones for thirty.',
    answer: 'DeliveryPage',
    answerText: 'A page of deliveries.',
    errors: ['webhook_endpoint_not_found'],
  },
  recover_webhook_endpoint: {
    method: 'POST',
    path: '/v1/webhook_endpoints/{endpoint_id}/recover',
    auth: 'hmac',
    content: body(
      'RecoverWebhookEndpointRequest',
      readRecover,
      ({ since }, { id }) => ({ endpoint_id: id, since }),
      { asJson: ({ since }) => ({ since: timeAsJson(since) }) },
    ),
    success: 202,
    runsOutsideCycle: true,
    recordedEntity: 'endpoint_id',
    rpc: 'WebhookEndpoints.Recover',
    rpcField: 'recovery',
    client: 'webhookEndpoints.recover',
    isRepeatable: true,
    id: 'recoverWebhookEndpoint',
    tag: 'Webhooks',
    summary: 'Retry failed deliveries',
    description:
      'Retries everything that is `waiting` or `dead` for events created since a time. While ' +
      '`has_more` is true, call again.',
    answer: 'RecoveredDeliveries',
    answerText: 'The number of retried deliveries.',
    errors: ['webhook_endpoint_not_found'],
  },
}
