/**
 * What an answer says about its endpoint.
 *
 * Owns: trust, breaker, the long memory of failures. Does not own: the delivery itself
 * (webhook/delivery_machine).
 *
 * H1. Only failures in the sense of the schedule (5xx, network, timeout) open the breaker: a
 *     refusal is an answer.
 * H2. Only a 2xx ends the time of failing. After five days without one the endpoint is to be
 *     disabled.
 * H3. 410 asks for it at once.
 * H4. Refused connections of an endpoint that has never answered, as far as this process knows,
 *     pause it for seconds only.
 * H5. An answer that comes late is an answer, but the next try is expected to be late as well.
 */
import { DAY, type Instant } from '../../src/base/clock.js'
import type { EndpointId } from '../../src/base/ids.js'
import { afterFailure, CLOSED } from './breaker.js'
import { suspect, trust, type Lane } from './lane.js'
import type { SendOutcome } from './sender.js'

const DISABLE_AFTER_FAILING_MS = 5 * DAY

export type DisableReason = 'gone' | 'failing'

export interface Verdict {
  /** Rows to be kept over a restart. */
  readonly failing: readonly { readonly endpointId: EndpointId; readonly since: Instant }[]
  readonly recovered: readonly EndpointId[]
  readonly disable: DisableReason | null
}

/** As far as it says something about its endpoint. */
export interface LaneAnswer {
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

export function learn(
  lane: Lane,
  { kind, status, reason, late }: LaneAnswer,
  now: Instant,
  probes: ProbePauses,
): Verdict {
  if (status !== null) lane.hasAnswered = true
  const isUnheard = !lane.hasAnswered && reason === 'ECONNREFUSED'
  const probeEveryMs = isUnheard ? probes.unheardEveryMs : probes.everyMs
  if (kind === 'retry') suspect(lane)
  else trust(lane, late)
  lane.breaker = kind === 'retry' ? afterFailure(lane.breaker, now, probeEveryMs) : CLOSED
  if (kind === 'delivered') return { failing: [], recovered: recover(lane), disable: null }
  const began = lane.failingSince === null
  const since = (lane.failingSince ??= now)
  const tooLong = now - since >= DISABLE_AFTER_FAILING_MS
  return {
    failing: began ? [{ endpointId: lane.endpointId, since }] : [],
    recovered: [],
    disable: kind === 'gone' ? 'gone' : tooLong ? 'failing' : null,
  }
}

/** Forgets that it was failing. @returns the row to remove, if there is one */
export function recover(lane: Lane): readonly EndpointId[] {
  if (lane.failingSince === null) return []
  lane.failingSince = null
  return [lane.endpointId]
}
