/**
 * The circuit breaker of an endpoint: it opens after consecutive failures.
 *
 * - Open: one probe at a time, and none before `openUntil`. Closed: up to the endpoint's
 *   concurrency.
 * - Any answer that is not a failure closes it.
 * - No pause is longer than PROBE_EVERY_MS. A longer one means that the clock was set back, and
 *   counts as over.
 * - The pause is short while no receiver has ever answered: a refused connection costs little, and
 *   the receiver of a new endpoint is often started later.
 * - Deliveries held back by an open breaker use up no attempt.
 */
import { MINUTE, plus, SECOND, type Instant } from '../../../src/base/clock.js'

const OPEN_AFTER_FAILURES = 10
export const PROBE_EVERY_MS = MINUTE
export const PROBE_NEW_EVERY_MS = 5 * SECOND

export interface Breaker {
  readonly failures: number
  /** Null means that it is closed. */
  readonly openUntil: Instant | null
}

export const CLOSED: Breaker = { failures: 0, openUntil: null }

export function afterFailure({ failures }: Breaker, now: Instant, probeEveryMs: number): Breaker {
  const next = failures + 1
  return { failures: next, openUntil: next < OPEN_AFTER_FAILURES ? null : plus(now, probeEveryMs) }
}

export const isOpen = ({ openUntil }: Breaker): boolean => openUntil !== null

/** Whether the breaker is open and its pause is over. */
export const mayProbe = ({ openUntil }: Breaker, now: Instant): boolean =>
  openUntil !== null && (now >= openUntil || openUntil > plus(now, PROBE_EVERY_MS))
