/**
 * One try of one delivery: its actor before and after, and the HTTP call between.
 *
 * Owns: which events the actor gets, the rows that follow. Does not own: when (webhook/pool), the
 * call (sending/sender).
 *
 * - The endpoint is taken as it is now: a new address or a new secret holds for the retries too.
 */
import { assert } from '../../../src/base/assert.js'
import type { Clock, Instant } from '../../../src/base/clock.js'
import type { Random } from '../../../src/base/random.js'
import { retryAt, type BackoffRules } from './backoff.js'
import { firstTry, openDelivery, snapshotOf, stepDelivery, type DeliverySnapshot } from './actor.js'
import type { DeliveryEvent } from './machine.js'
import type { Endpoint } from '../endpoint/endpoint.js'
import type { AttemptRow } from '../store/schema.js'
import type { Sender, SendOutcome } from '../sending/sender.js'
import type { Delivery } from '../store/store.js'

export interface Tried {
  readonly outcome: SendOutcome
  /** The delivery as it is after the try. */
  readonly delivery: Delivery
  readonly attempt: AttemptRow
}

export interface AttemptOptions {
  readonly sender: Pick<Sender, 'send'>
  readonly backoff: BackoffRules
  readonly clock: Clock
  readonly random: Random
}

export async function tryDelivery(
  { sender, backoff, clock, random }: AttemptOptions,
  delivery: Delivery,
  endpoint: Endpoint,
): Promise<Tried> {
  const delivering = begin(delivery, clock.now())
  assert(delivering.value === 'delivering', 'only an open delivery is tried')

  const { eventId, eventType, body } = delivery
  const outcome = await sender.send({ endpoint, eventId, eventType, body })

  const at = clock.now()
  const next = retryAt(delivery.context.attempts + 1, at, backoff, random)
  const { value: state, context } = stepDelivery(delivering, eventOf(outcome, at, next))
  const { status, reason, latencyMs, reply } = outcome
  return {
    outcome,
    delivery: { ...delivery, state, context },
    attempt: {
      deliveryId: delivery.id,
      number: context.tries,
      at,
      status,
      reason,
      latencyMs,
      reply,
    },
  }
}

function begin({ state, context }: Delivery, at: Instant): DeliverySnapshot {
  if (state === 'pending') return firstTry(context)
  const isAhead = context.dueAt !== null && context.dueAt > at
  return stepDelivery(
    snapshotOf(state, context),
    isAhead ? { type: 'probe' } : { type: 'attempt', at },
  )
}

function eventOf({ kind, reason }: SendOutcome, at: Instant, next: Instant | null): DeliveryEvent {
  switch (kind) {
    case 'delivered':
      return { type: 'succeeded', at }
    case 'permanent':
    case 'gone':
      return { type: 'refused', at, reason }
    case 'retry':
      return { type: 'failed', at, retryAt: next, reason }
  }
}

/** What becomes of a delivery whose endpoint was deleted. */
export function abandonDelivery(delivery: Delivery, at: Instant): Delivery {
  const actor = openDelivery(delivery.state, delivery.context)
  actor.send({ type: 'abandon', at, reason: 'endpoint_deleted' })
  const { value: state, context } = actor.getSnapshot()
  return { ...delivery, state, context }
}
