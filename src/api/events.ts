/**
 * Events by number, and the body of a webhook.
 *
 * - The position in the list is the tenant's own event number, which partners can store, so there
 *   is no cursor.
 */
import { accepted } from '../base/errors.js'
import { EVENT_TYPES } from '../base/event_types.js'
import { checkOf, refined } from './checks/check.js'
import { page, pageAsJson } from './lists.js'
import { body, query, type OperationsOf } from './operation.js'
import { listOf, objectOf, ref, text, type Schema } from './schema.js'

interface EventsQuery {
  readonly after?: string
  readonly limit?: string
}

const checkEvents = checkOf<EventsQuery>({
  type: 'object',
  additionalProperties: false,
  properties: {
    after: {
      type: 'string',
      pattern: '^(?:0|[1-9][0-9]{0,14})$',
      description: '`next_after` of the previous answer; 0 begins at the oldest event.',
    },
    limit: page.limit,
  },
})

export const readEvents = refined(checkEvents, ({ after = '0', limit }) =>
  accepted({ after, ...(limit === undefined ? {} : { limit: Number(limit) }) }),
)
export interface ResendEventBody {
  /** Default: every endpoint that received the event, or subscribes and is older than it. */
  readonly endpoint_id?: string
}

const ID_MAX = 128

export const checkResendEvent = checkOf<ResendEventBody>({
  type: 'object',
  additionalProperties: false,
  properties: {
    endpoint_id: {
      type: 'string',
      minLength: 1,
      maxLength: ID_MAX,
      description:
        'Default: every endpoint that received the event, or that subscribes to it and existed ' +
        'when it was created. Name a later one.',
    },
  },
})

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

export const EVENT_ANSWERS: Readonly<Record<string, Schema>> = {
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
  EventList: objectOf(
    'Events after a number, oldest first.',
    {
      data: listOf(ref('NumberedEvent'), 'Oldest first.'),
      next_after: { type: 'integer', minimum: 0, description: 'Pass it as `after`.' },
      has_more: { type: 'boolean', description: 'False: poll again later.' },
    },
    {
      begins_after: {
        type: 'integer',
        minimum: 1,
        description:
          'Present when events after the given number are no longer kept: the last one of these.',
      },
    },
  ),
}

export const EVENTS: OperationsOf<'list_events' | 'resend_event'> = {
  list_events: {
    method: 'GET',
    path: '/v1/events',
    auth: 'hmac',
    content: query(readEvents, (list) => list, pageAsJson),
    success: 200,
    runsOutsideCycle: true,
    rpc: 'Events.List',
    rpcField: 'list',
    client: 'events.list',
    id: 'listEvents',
    tag: 'Events',
    summary: 'List events by number',
    description:
      'Lists your events after a number, oldest first. Pass `next_after` of the answer as ' +
      '`after` of the next call and you miss no event, however many arrive meanwhile.',
    answer: 'EventList',
    answerText: 'Events with their numbers.',
    errors: [],
  },
  resend_event: {
    method: 'POST',
    path: '/v1/events/{event_id}/resend',
    auth: 'hmac',
    content: body(
      'ResendEventRequest',
      checkResendEvent,
      (to, { id }) => ({ event_id: id, ...to }),
      { isRequired: false },
    ),
    success: 202,
    runsOutsideCycle: true,
    recordedEntity: 'event_id',
    rpc: 'Events.Resend',
    rpcField: 'event',
    client: 'events.resend',
    clientBody: 'to',
    isRepeatable: true,
    id: 'resendEvent',
    tag: 'Events',
    summary: 'Deliver an event again',
    description:
      'Delivers an event again, whatever its outcome. Deliveries in progress are left alone, so ' +
      'a repeated call sends once.',
    answer: 'ResentEvent',
    answerText: 'The deliveries of the event.',
    errors: ['event_not_found', 'webhook_endpoint_not_found'],
  },
}
