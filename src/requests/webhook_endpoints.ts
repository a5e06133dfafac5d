/** Bodies of the webhook endpoint and event routes. */
import { ENDPOINT_DESCRIPTION_MAX, WEBHOOK_URL_MAX } from '../base/constants.js'
import { EVENT_TYPES } from '../base/event_types.js'
import { checkOf } from './check.js'

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

export const checkRotateSecret = checkOf<RotateSecretBody>({
  type: 'object',
  additionalProperties: false,
  properties: { activate_at },
})

const since = {
  type: 'string',
  format: 'date-time',
  description: 'Events created from then on.',
}

export interface RecoverBody {
  readonly since: string
}

export const checkRecover = checkOf<RecoverBody>({
  type: 'object',
  additionalProperties: false,
  required: ['since'],
  properties: { since },
})

export interface ResendEventBody {
  /** Default: every endpoint that received the event or subscribes to it. */
  readonly endpoint_id?: string
}

const ID_MAX = 128

const endpoint_id = {
  type: 'string',
  minLength: 1,
  maxLength: ID_MAX,
  description: 'Default: every endpoint that received the event or subscribes to it.',
}

export const checkResendEvent = checkOf<ResendEventBody>({
  type: 'object',
  additionalProperties: false,
  properties: { endpoint_id },
})
