/** Units and enumerations that answers share (gateway/guide/units.md). */
import { EVENT_TYPES } from '../base/event_types.js'
import { CORRIDOR_NAMES, CORRIDORS } from '../qr/corridor.js'
import { INTENT_STATUSES } from './intent_messages.js'
import { PAYOUT_STATUSES } from './payouts.js'
import { objectOf, ref, text, type Schema } from './schema.js'

/** Codes of `failure`; their texts are in actors/failure_texts.ts. */
export const FAILURE_CODES = [
  'rejected',
  'account_closed',
  'account_not_found',
  'name_mismatch',
  'destination_refused',
  'unsupported_destination',
  'amount_refused',
  'compliance_rejected',
  'expired',
  'rail_unavailable',
  'review_rejected',
  'payment_review_rejected',
  'review_expired',
  'returned_by_bank',
  'not_carried_out',
  'returned',
]

const CORRIDOR_FACTS = Object.values(CORRIDORS)
const titles = CORRIDOR_FACTS.map(({ title }) => title)
const numbers = CORRIDOR_FACTS.map(
  ({ currencyNumeric, currencyAlpha }) => `\`${currencyNumeric}\` is ${currencyAlpha}`,
)

export const UNITS: Readonly<Record<string, Schema>> = {
  UsdCents: { type: 'integer', minimum: 0, description: 'Whole US cents.', examples: [1250] },
  MinorUnits: text(
    'Minor units of the currency: a signed 64-bit integer as decimal text, without plus sign or ' +
      'leading zeros. Do not parse it into a floating-point number.',
    { format: 'int64', pattern: '^(?:0|-?[1-9][0-9]{0,18})$', examples: ['125000'] },
  ),
  Timestamp: text('RFC 3339, UTC, with milliseconds.', {
    format: 'date-time',
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$',
    examples: ['2026-11-21T04:35:40.123Z'],
  }),
  EpochSeconds: { type: 'integer', description: 'Seconds since 1970.', examples: [1795235740] },
  EpochMilliseconds: {
    type: 'integer',
    description: 'Milliseconds since 1970.',
    examples: [1795235740123],
  },
  Currency: text('ISO 4217, three capital letters.', {
    pattern: '^[A-Z]{3}$',
    examples: ['THB'],
  }),
  NumericCurrency: text(`ISO 4217, three digits: ${numbers.join(', ')}.`, {
    pattern: '^[0-9]{3}$',
    examples: ['764'],
  }),
  Corridor: {
    enum: CORRIDOR_NAMES,
    type: 'string',
    description: `Country and QR scheme: ${titles.slice(0, -1).join(', ')}, or ${titles.at(-1)}.`,
  },
  IntentStatus: {
    enum: INTENT_STATUSES,
    type: 'string',
    description:
      '`created`: no money has moved. `authorized`: confirmed, USD reserved. `captured`: the ' +
      'merchant has the money. `failed`: the USD are available again. `cancelled`, `expired`: ' +
      'ended before any payment. `refunded`: the money came back.',
  },
  PayoutStatus: {
    enum: PAYOUT_STATUSES,
    type: 'string',
    description:
      '`created`: held for review. `processing`: queued, sent, or with an outcome that is not ' +
      'known yet. `completed`: the recipient has the money. `failed`: it will not be paid. ' +
      '`reversed`: completed, then returned.',
  },
  EventType: { enum: EVENT_TYPES, type: 'string', description: 'More types can be added.' },
  EventSubscription: {
    enum: ['*', ...EVENT_TYPES],
    type: 'string',
    description: 'An event type; `*` selects all that are not opt-in.',
  },
  Failure: objectOf('Why a payment failed or came back. Texts are constant.', {
    code: text('Branch on it. More codes can be added.', { enum: FAILURE_CODES }),
    message: text('For people.'),
    source: text('Where the failure arose.', { enum: ['rail', 'review', 'service'] }),
    retryable: {
      type: 'boolean',
      description: 'Whether a new payment to the same account can succeed.',
    },
    occurred_at: ref('Timestamp'),
  }),
}
