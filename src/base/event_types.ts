/**
 * The registry of webhook event types.
 *
 * Does not own: when an event is published (machines, commands), its content (views).
 *
 * - A name is a contract with receivers: never renamed, never used for another meaning.
 */

/** Goes only to the endpoint that it names, whatever its subscription. */
export const TEST_EVENT = 'webhook_endpoint.test'

export const DISABLED_EVENT = 'webhook_endpoint.disabled'
export const DELIVERIES_DEAD_EVENT = 'webhook_endpoint.deliveries_dead'

/** Types that go only to the other endpoints of the partner. */
export const OTHERS_EVENTS: ReadonlySet<string> = new Set([DISABLED_EVENT, DELIVERIES_DEAD_EVENT])

/** The types about an endpoint; their dead deliveries are not announced. */
export const ENDPOINT_EVENTS = 'webhook_endpoint.'

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
  DELIVERIES_DEAD_EVENT,
  TEST_EVENT,
] as const

/** Types that `*` does not include. */
export const OPT_IN_EVENTS: ReadonlySet<string> = new Set(['payment_intent.authorized'])

/** Whether a filter selects the type; `*` selects all that are not opt-in. */
export const isSelected = (filter: readonly string[], type: string): boolean =>
  filter.includes(type) || (filter.includes('*') && !OPT_IN_EVENTS.has(type))
