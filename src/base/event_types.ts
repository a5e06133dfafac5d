/**
 * The registry of event types: what partners can be told.
 *
 * Owns: the names, and which of them must be asked for. Does not own: when one is published
 * (machines, commands), what it says (views).
 *
 * - A name is a contract with receivers: never renamed, never used for another meaning.
 */

/** Goes to the one endpoint that it names, whatever that endpoint has asked for. */
export const TEST_EVENT = 'webhook_endpoint.test'

/** Goes to the other endpoints of its partner. */
export const DISABLED_EVENT = 'webhook_endpoint.disabled'

export const EVENT_TYPES = [
  'payment_intent.authorized',
  'payment_intent.captured',
  'payment_intent.failed',
  'payment_intent.expired',
  'payment_intent.cancelled',
  'payment_intent.refunded',
  'payment_intent.refund_failed',
  'payout.created',
  'payout.processing',
  'payout.completed',
  'payout.failed',
  'payout.reversed',
  'balance.low',
  DISABLED_EVENT,
  TEST_EVENT,
] as const

/** `*` stands for all types but these. */
export const OPT_IN_EVENTS: ReadonlySet<string> = new Set(['payment_intent.authorized'])

const KNOWN: ReadonlySet<string> = new Set(['*', ...EVENT_TYPES])

/** What an endpoint may ask for. */
export const isEventFilter = (types: readonly string[]): boolean =>
  new Set(types).size === types.length && types.every((type) => KNOWN.has(type))
