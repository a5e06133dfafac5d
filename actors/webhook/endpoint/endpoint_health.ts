/**
 * The effect of an attempt's outcome on its endpoint: concurrency, circuit breaker, failing since.
 *
 * Does not own: the delivery (delivery/machine).
 *
 * - Only retryable failures (5xx, network error, timeout) open the breaker; a 3xx or 4xx is an
 *   answer.
 * - Only a 2xx, another URL or QUIET_MS without an attempt ends `failingSince`: a time without
 *   attempts is none of failures. After five days the endpoint is disabled, after a 410 at once.
 * - Refused connections of an endpoint that has not answered since the start of this process pause
 *   it for seconds only.
 * - A slow answer counts as an answer and puts the endpoint in the slow tier.
 */
import { DAY, HOUR, type Instant } from '../../../src/base/clock.js'
import type { EndpointId } from '../../../src/base/ids.js'
import { afterFailure, CLOSED } from './circuit_breaker.js'
import { treatAsSlow, noteSuccess, type EndpointQueue } from './endpoint_queue.js'
import type { SendOutcome } from '../delivery/send_outcome.js'
import type { FailingRow } from '../store/schema.js'

const DISABLE_AFTER_FAILING_MS = 5 * DAY
/** Longer than the longest pause between two attempts of a delivery. */
const QUIET_MS = 2 * DAY
/** Each failure would be one more row of its commit. */
const STORED_EVERY_MS = HOUR

export type DisableReason = 'gone' | 'failing'

export interface HealthChange {
  /** Rows to store. */
  readonly failing: readonly FailingRow[]
  readonly noLongerFailing: readonly EndpointId[]
  readonly disable: DisableReason | null
}

/** For an endpoint that was disabled or given another URL during the attempt. */
export const UNCHANGED: HealthChange = { failing: [], noLongerFailing: [], disable: null }

export interface AttemptOutcome {
  readonly kind: SendOutcome['kind']
  readonly status: SendOutcome['status']
  readonly reason: SendOutcome['reason']
  /** It took longer than the fast tier allows. */
  readonly late: boolean
}

/** Pauses between probes of an endpoint with an open breaker. */
export interface ProbePauses {
  readonly everyMs: number
  /** While connections are refused and no receiver has ever answered. */
  readonly newEveryMs: number
}

export function recordOutcome(
  queue: EndpointQueue,
  { kind, status, reason, late }: AttemptOutcome,
  now: Instant,
  probes: ProbePauses,
): HealthChange {
  if (status !== null) queue.hasAnswered = true
  const isNew = !queue.hasAnswered && reason === 'ECONNREFUSED'
  const probeEveryMs = isNew ? probes.newEveryMs : probes.everyMs
  if (kind === 'retry') treatAsSlow(queue)
  else noteSuccess(queue, late)
  queue.breaker = kind === 'retry' ? afterFailure(queue.breaker, now, probeEveryMs) : CLOSED
  if (kind === 'delivered') return { ...UNCHANGED, noLongerFailing: clearFailing(queue) }
  const failing = recordFailure(queue, now)
  const tooLong = now - (queue.failingSince ?? now) >= DISABLE_AFTER_FAILING_MS
  return {
    failing,
    noLongerFailing: [],
    disable: kind === 'gone' ? 'gone' : tooLong ? 'failing' : null,
  }
}

/** @returns the row to store, if any. An earlier version has stored no `failedAt` */
function recordFailure(queue: EndpointQueue, now: Instant): readonly FailingRow[] {
  const sinceLastMs = queue.failedAt === null ? null : now - queue.failedAt
  const isFirst = queue.failingSince === null || (sinceLastMs ?? 0) > QUIET_MS
  if (!isFirst && sinceLastMs !== null && Math.abs(sinceLastMs) < STORED_EVERY_MS) return []
  const since = isFirst ? now : (queue.failingSince ?? now)
  queue.failingSince = since
  queue.failedAt = now
  return [{ endpointId: queue.endpointId, since, failedAt: now }]
}

/** Clears `failingSince`. @returns the endpoint whose row is to be removed, if any */
export function clearFailing(queue: EndpointQueue): readonly EndpointId[] {
  if (queue.failingSince === null) return []
  queue.failingSince = null
  queue.failedAt = null
  return [queue.endpointId]
}
