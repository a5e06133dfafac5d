/**
 * One attempt of one delivery: the machine's step before it, the HTTP call, the step after it.
 *
 * Does not own: scheduling (webhook/pool), the call (sending/sender).
 *
 * - Each attempt uses the endpoint's current URL and secret, retries included.
 */
import { assert } from '../../../src/base/assert.js'
import type { Clock, Instant } from '../../../src/base/clock.js'
import { crashPoint } from '../../../src/base/crash_point.js'
import type { Random } from '../../../src/base/random.js'
import { isSampled, type Traceparent } from '../../../src/base/traceparent.js'
import type { Tracer } from '../../../src/tracing/tracer.js'
import { retryAt, type BackoffRules } from '../delivery/backoff.js'
import { deliveryTransitions, type DeliveryEvent } from '../delivery/machine.js'
import type { Endpoint } from '../endpoint/endpoint.js'
import type { AttemptRow } from '../store/schema.js'
import type { Sender } from './sender.js'
import type { SendOutcome } from '../delivery/send_outcome.js'
import type { Delivery } from '../store/store.js'

export interface AttemptResult {
  readonly outcome: SendOutcome
  /** The delivery after the attempt. */
  readonly delivery: Delivery
  readonly attempt: AttemptRow
}

export interface AttemptOptions {
  readonly sender: Pick<Sender, 'send'>
  readonly backoff: BackoffRules
  readonly clock: Clock
  readonly random: Random
  /** Undefined means that nothing is traced. */
  readonly tracer?: Tracer | undefined
}

export async function attemptDelivery(
  { sender, backoff, clock, random, tracer }: AttemptOptions,
  delivery: Delivery,
  endpoint: Endpoint,
): Promise<AttemptResult> {
  const delivering = step(delivery, beginning(delivery, clock.now()))
  assert(delivering.state === 'delivering', 'only an open delivery is attempted')

  const { eventId, eventType, body } = delivery
  const trace = tracer && beginTrace(tracer, delivery)
  const traceparent = trace?.self ?? null
  crashPoint('delivery.sending')
  const outcome = await sender.send({ endpoint, eventId, eventType, body, traceparent })
  crashPoint('delivery.answered')

  const at = clock.now()
  const next = retryAt(delivery.context.attempts + 1, at, backoff, random)
  const { state, context } = step(delivering, eventOf(outcome, at, next))
  const { status, reason, latencyMs, reply } = outcome
  trace?.end(outcome, context.tries)
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

interface AttemptTrace {
  /** What the receiver gets. */
  readonly self: Traceparent
  end(outcome: SendOutcome, number: number): void
}

/**
 * The span of an attempt is in the trace of its event. Undefined means that the event is not
 * traced.
 */
function beginTrace(tracer: Tracer, delivery: Delivery): AttemptTrace | undefined {
  const { id, eventId, eventType: name, endpointId, tenant, traceparent: parent } = delivery
  if (parent === null) return undefined
  if (!isSampled(parent)) return { self: parent, end: () => undefined }
  const self = tracer.spanIn(parent)
  const startedAt = tracer.now()
  return {
    self,
    end: ({ kind, status, reason }, number) =>
      tracer.record({
        ...{ name: `POST ${name}`, kind: 'client', self, parent, startedAt, endedAt: tracer.now() },
        attributes: {
          'http.request.method': 'POST',
          'http.response.status_code': status ?? undefined,
          'causeway.tenant': tenant,
          'causeway.event_id': eventId,
          'causeway.delivery_id': id,
          'causeway.endpoint_id': endpointId,
          'causeway.attempt': number,
          'causeway.reason': kind === 'delivered' ? undefined : reason,
        },
        isFailed: kind !== 'delivered',
      }),
  }
}

type Snapshot = Pick<Delivery, 'state' | 'context'>

/** The snapshot after this event, which changes nothing where the state does not take it. */
const step = (before: Snapshot, event: DeliveryEvent): Snapshot =>
  deliveryTransitions.step(before.state, before.context, event) ?? before

function beginning({ state, context }: Snapshot, at: Instant): DeliveryEvent {
  const isAhead = state !== 'pending' && context.dueAt !== null && context.dueAt > at
  return isAhead ? { type: 'probe' } : { type: 'attempt', at }
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

/** The dead delivery of a deleted endpoint. */
export function abandonDelivery(delivery: Delivery, at: Instant): Delivery {
  const { state, context } = step(delivery, { type: 'abandon', at, reason: 'endpoint_deleted' })
  return { ...delivery, state, context }
}
