/** Answers of the webhook endpoint and event routes, and the body of a webhook. */
import { EVENT_TYPES } from '../../src/base/event_types.js'
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

const nextKey = ref('NextWebhookKey', 'Present while a new secret is scheduled.')

const NEXT_WEBHOOK_KEY = objectOf('A secret that does not sign yet.', {
  key_id: text('The id of the new secret.'),
  activate_at: ref('Timestamp', 'From then on the new secret signs.'),
})

const secret = text('Verifies webhooks. Shown only here.', { pattern: '^whsec_' })

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

/** What events are about: their member of `data` and its schema. */
const SUBJECTS = [
  subjectOf('payment_intent', 'PaymentIntentEvent', 'PaymentIntent', 'A payment changed.'),
  subjectOf('payout', 'PayoutEvent', 'Payout', 'A payout changed.'),
  subjectOf('balance', 'BalanceEvent', 'LowBalance', 'A balance fell below its threshold.'),
  subjectOf('webhook_endpoint', 'WebhookEndpointEvent', 'WebhookEndpoint', 'About an endpoint.'),
] as const

interface Subject {
  readonly member: string
  /** Names of schemas. */
  readonly event: string
  readonly object: string
  readonly about: string
  readonly types: readonly string[]
}

function subjectOf(member: string, event: string, object: string, about: string): Subject {
  return { member, event, object, about, types: EVENT_TYPES.filter(isAbout(member)) }
}

function isAbout(member: string): (type: string) => boolean {
  return (type) => type.startsWith(`${member}.`)
}

const eventOf = ({ member, object, about, types }: Subject): Schema =>
  objectOf(about, {
    id: text('`evt_…`', { pattern: '^evt_' }),
    type: text('What happened.', { enum: types }),
    webhook_event_id: text('The same as `id`: deduplicate by it.', { pattern: '^evt_' }),
    webhook_event_type: text('The same as `type`.', { enum: types }),
    api_version: text('Version of this body.', { examples: ['2026-11-01'] }),
    created_at: ref('Timestamp'),
    data: objectOf('The object as it was then.', { [member]: ref(object) }),
  })

export const WEBHOOK_ANSWERS: Readonly<Record<string, Schema>> = {
  NextWebhookKey: NEXT_WEBHOOK_KEY,
  WebhookEndpoint: objectOf('A URL that receives events.', endpoint, { next_key: nextKey }),
  CreatedWebhookEndpoint: objectOf('The endpoint with its secret.', { ...endpoint, secret }),
  RotatedWebhookEndpoint: objectOf(
    'The endpoint with its new secret. `key_id` is the id of the new secret.',
    { ...endpoint, secret, activate_at: ref('Timestamp', 'From then on the new secret signs.') },
    { next_key: nextKey },
  ),
  WebhookEndpointList: objectOf('All endpoints; there is no next page.', {
    data: listOf(ref('WebhookEndpoint'), 'At most 16.'),
  }),
  Event: {
    description:
      'What happened. The body of a webhook, and the `event` of a listed event, byte for byte. ' +
      'More types can be added: ignore those that you do not know.',
    oneOf: SUBJECTS.map(({ event }) => ref(event)),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(
        SUBJECTS.flatMap(({ event, types }) => types.map((type) => [type, ref(event)['$ref']])),
      ),
    },
  },
  ...Object.fromEntries(SUBJECTS.map((subject) => [subject.event, eventOf(subject)])),
  LowBalance: objectOf('A balance that fell below its threshold.', {
    currency: ref('Currency'),
    available: ref('MinorUnits'),
    reserved: ref('MinorUnits'),
    threshold: ref('MinorUnits'),
  }),
  NumberedEvent: objectOf('An event with its number.', {
    sequence: { type: 'integer', minimum: 1, description: 'Numbers your events without gaps.' },
    event: ref('Event'),
  }),
  EventList: objectOf('Events after a number, oldest first.', {
    data: listOf(ref('NumberedEvent'), 'Oldest first.'),
    next_after: { type: 'integer', minimum: 0, description: 'Pass it as `after`.' },
    has_more: { type: 'boolean', description: 'False: poll again later.' },
  }),
  Delivery: objectOf('The delivery of one event to one endpoint, with its attempts.', {
    ...delivery,
    next_attempt_at: orNull(ref('Timestamp'), '`null` when no attempt is planned.'),
    ended_at: orNull(ref('Timestamp'), 'When it was delivered or given up.'),
    reason: { type: ['string', 'null'], description: 'Why it is `waiting` or `dead`.' },
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
