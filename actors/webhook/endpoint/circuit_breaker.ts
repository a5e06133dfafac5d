/**
 * The breaker of an endpoint: after failures in a row it is left alone, but for a try now and then.
 *
 * - Open: one try at a time, and none before `openUntil`. Closed: as many as the endpoint is
 *   trusted with.
 * - Any answer that is not a failure closes it.
 * - No pause is longer than PROBE_EVERY_MS. One that seems to be is over: the clock was set back.
 * - The pause is short while nothing has ever listened there: a refused connection costs little,
 *   and the receiver of a new endpoint is often started after it.
 * - What an open breaker holds back uses up no attempt.
 */
import { MINUTE, plus, SECOND, type Instant } from '../../../src/base/clock.js'

const OPEN_AFTER_FAILURES = 10
export const PROBE_EVERY_MS = MINUTE
export const PROBE_UNHEARD_EVERY_MS = 5 * SECOND

export interface Breaker {
  readonly failures: number
  /** Null: closed. */
  readonly openUntil: Instant | null
}

export const CLOSED: Breaker = { failures: 0, openUntil: null }

export function afterFailure({ failures }: Breaker, now: Instant, probeEveryMs: number): Breaker {
  const next = failures + 1
  return { failures: next, openUntil: next < OPEN_AFTER_FAILURES ? null : plus(now, probeEveryMs) }
}

export const isOpen = ({ openUntil }: Breaker): boolean => openUntil !== null

/** Open, and its pause is over. */
export const mayProbe = ({ openUntil }: Breaker, now: Instant): boolean =>
  openUntil !== null && (now >= openUntil || openUntil > plus(now, PROBE_EVERY_MS))
