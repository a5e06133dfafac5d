/** Webhooks of the document: one for each event type. */
import { EVENT_TYPES, OPT_IN_EVENTS } from '../../src/base/event_types.js'
import { ref, text, type Schema } from '../../src/api/schema.js'
import type { Examples } from './examples.js'
import { SIGNED } from './security.js'

type EventType = (typeof EVENT_TYPES)[number]

const SUMMARIES: Readonly<Record<EventType, string>> = {
  'payment_intent.authorized': 'A payment was confirmed',
  'payment_intent.captured': 'A merchant was paid',
  'payment_intent.failed': 'A payment failed',
  'payment_intent.expired': 'An intent expired unpaid',
  'payment_intent.cancelled': 'An intent was cancelled',
  'payment_intent.refunded': 'A payment came back',
  'payment_intent.refund_failed': 'The bank declined a refund',
  'payout.created': 'A payout was accepted',
  'payout.processing': 'A payout is processed',
  'payout.completed': 'A payout was delivered',
  'payout.failed': 'A payout failed',
  'payout.reversed': 'A completed payout came back',
  'balance.low': 'A balance fell below its threshold',
  'webhook_endpoint.disabled': 'Another endpoint was disabled',
  'webhook_endpoint.deliveries_dead': 'Deliveries to another endpoint died',
  'webhook_endpoint.test': 'A test event',
}

/** The member of `data`, and its schema, by the part of the type before the period. */
const SUBJECTS: Readonly<Record<string, string>> = {
  payment_intent: 'PaymentIntent',
  payout: 'Payout',
  balance: 'LowBalance',
  webhook_endpoint: 'WebhookEndpoint',
}

function dataOf(type: EventType): Schema {
  const subject = type.split('.', 1).join()
  return { required: [subject], properties: { [subject]: ref(SUBJECTS[subject] ?? '') } }
}

const PARAMETERS: readonly Schema[] = [
  {
    name: 'X-Service-Webhook-Event-Id',
    in: 'header',
    required: true,
    description: 'The `id` of the event.',
    schema: text('`evt_…`', { pattern: '^evt_' }),
  },
  {
    name: 'X-Service-Webhook-Event-Type',
    in: 'header',
    required: true,
    description: 'The `type` of the event.',
    schema: ref('EventType'),
  },
  {
    name: 'traceparent',
    in: 'header',
    required: false,
    description:
      'W3C Trace Context of the payment, when one of its requests had one. It is not signed.',
    schema: text('`00-` trace id `-` span id `-` flags', {
      pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$',
    }),
  },
]

const DESCRIPTION =
  'Verify the signature over the raw body and the path of your endpoint **with** its query, with ' +
  'the endpoint secret that the key id names. Answer 2xx after the event is stored; deduplicate ' +
  'by `webhook_event_id`. Events can repeat and arrive in any order.'

const OPT_IN = 'Opt-in: only endpoints that list it get it. '

const operationIdOf = (type: EventType): string =>
  `on${type.replaceAll(/(?:^|[._])([a-z])/g, (_match, letter: string) => letter.toUpperCase())}`

export function webhooks(examples: Examples['webhooks']): Schema {
  return Object.fromEntries(
    EVENT_TYPES.map((type) => [type, { post: webhookOf(type, examples[type]?.body) }]),
  )
}

const webhookOf = (type: EventType, example: unknown): Schema => ({
  operationId: operationIdOf(type),
  tags: ['Webhooks'],
  summary: SUMMARIES[type],
  description: (OPT_IN_EVENTS.has(type) ? OPT_IN : '') + DESCRIPTION,
  security: [SIGNED],
  parameters: PARAMETERS,
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: {
          allOf: [ref('Event'), { properties: { type: { const: type }, data: dataOf(type) } }],
        },
        ...(example === undefined ? {} : { examples: { recorded: { value: example } } }),
      },
    },
  },
  responses: {
    '2XX': { description: 'The event is stored.' },
    '4XX': {
      description: 'Final: it is not retried until you ask for it. 410 disables the endpoint.',
    },
    '5XX': { description: 'Retried, twelve times in about two days.' },
  },
})
