/**
 * Whether this machine's clock has run evenly for an hour. What deletes or erases rows by their age
 * waits for that.
 *
 * - A clock that steps, such as that of a machine that was resumed or has not asked its time server
 *   yet, can make every row old, and what is deleted does not come back.
 * - A process that has just started does not know how its clock ran before.
 */
import { DAY, HOUR, MINUTE, type Clock, type Instant } from './clock.js'

export const STEADY_AFTER_MS = HOUR
/** A clock that is wrong has been noticed by then: partners are refused, and alerts fire. */
export const TRUSTED_AFTER_MS = 7 * DAY
/** Work by age looks at the clock once an hour. */
const CONFIRMED_FOR_MS = 2 * HOUR
/** More than a time server corrects by slewing within an hour. */
const STEP_MS = MINUTE

export interface SteadyClock {
  /** Compares the clock with elapsed time since the last call. */
  isSteady(): boolean
  /**
   * Whether a steady clock is confirmed, by what others say of the time or by a week without a
   * step: one that was wrong before the start is as even as a right one.
   *
   * @param confirmedAt by this clock. Null if nothing has confirmed it
   */
  isTrusted(confirmedAt: Instant | null): boolean
}

/** @param elapsed monotonic, milliseconds */
export function createSteadyClock(clock: Clock, elapsed: () => number): SteadyClock {
  let since = elapsed()
  let offset = clock.now() - since
  const steadyForMs = (): number => {
    const now = elapsed()
    const found = clock.now() - now
    if (Math.abs(found - offset) > STEP_MS) since = now
    offset = found
    return now - since
  }
  return {
    isSteady: () => steadyForMs() >= STEADY_AFTER_MS,
    isTrusted: (confirmedAt) => {
      const steadyMs = steadyForMs()
      const isConfirmed =
        confirmedAt !== null && Math.abs(clock.now() - confirmedAt) <= CONFIRMED_FOR_MS
      return steadyMs >= (isConfirmed ? STEADY_AFTER_MS : TRUSTED_AFTER_MS)
    },
  }
}
