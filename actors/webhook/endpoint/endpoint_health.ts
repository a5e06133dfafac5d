/**
 * What an answer says about its endpoint.
 *
 * Owns: trust, circuit_breaker, the long memory of failures. Does not own: the delivery itself
 * (delivery/machine).
 *
 * - Only failures in the sense of the schedule (5xx, network, timeout) open the breaker: a
 *   refusal is an answer.
 * - Only a 2xx ends the time of failing. After five days without one the endpoint is to be
 *   disabled.
 * - 410 asks for it at once.
 * - Refused connections of an endpoint that has never answered, as far as this process knows,
 *   pause it for seconds only.
 * - An answer that comes late is an answer, but the next try is expected to be late as well.
 */
import { DAY, type Instant } from '../../../src/base/clock.js'
import type { EndpointId } from '../../../src/base/ids.js'
import { afterFailure, CLOSED } from './circuit_breaker.js'
import { resetConcurrency, raiseConcurrency, type EndpointQueue } from './endpoint_queue.js'
import type { SendOutcome } from '../sending/sender.js'

const DISABLE_AFTER_FAILING_MS = 5 * DAY

export type DisableReason = 'gone' | 'failing'

export interface HealthChange {
  /** Rows to be kept over a restart. */
  readonly failing: readonly { readonly endpointId: EndpointId; readonly since: Instant }[]
  readonly recovered: readonly EndpointId[]
  readonly disable: DisableReason | null
}

/** As far as it says something about its endpoint. */
export interface EndpointAnswer {
  readonly kind: SendOutcome['kind']
  readonly status: SendOutcome['status']
  readonly reason: SendOutcome['reason']
  /** It took longer than a prompt one does. */
  readonly late: boolean
}

/** Between two tries at an endpoint whose breaker is open. */
export interface ProbePauses {
  readonly everyMs: number
  /** Nothing has ever answered there, and connections are refused. */
  readonly unheardEveryMs: number
}

export function recordOutcome(
  queue: EndpointQueue,
  { kind, status, reason, late }: EndpointAnswer,
  now: Instant,
  probes: ProbePauses,
): HealthChange {
  if (status !== null) queue.hasAnswered = true
  const isUnheard = !queue.hasAnswered && reason === 'ECONNREFUSED'
  const probeEveryMs = isUnheard ? probes.unheardEveryMs : probes.everyMs
  if (kind === 'retry') resetConcurrency(queue)
  else raiseConcurrency(queue, late)
  queue.breaker = kind === 'retry' ? afterFailure(queue.breaker, now, probeEveryMs) : CLOSED
  if (kind === 'delivered') return { failing: [], recovered: recover(queue), disable: null }
  const began = queue.failingSince === null
  const since = (queue.failingSince ??= now)
  const tooLong = now - since >= DISABLE_AFTER_FAILING_MS
  return {
    failing: began ? [{ endpointId: queue.endpointId, since }] : [],
    recovered: [],
    disable: kind === 'gone' ? 'gone' : tooLong ? 'failing' : null,
  }
}

/** Forgets that it was failing. @returns the row to remove, if there is one */
export function recover(queue: EndpointQueue): readonly EndpointId[] {
  if (queue.failingSince === null) return []
  queue.failingSince = null
  return [queue.endpointId]
}
