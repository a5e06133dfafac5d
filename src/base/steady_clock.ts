/**
 * Whether this machine's clock has run evenly for an hour. What deletes or erases rows by their age
 * waits for that.
 *
 * - A clock that steps, such as that of a machine that was resumed or has not asked its time server
 *   yet, can make every row old, and what is deleted does not come back.
 * - A process that has just started does not know how its clock ran before.
 */
import { HOUR, MINUTE, type Clock } from './clock.js'

export const STEADY_AFTER_MS = HOUR
/** More than a time server corrects by slewing within an hour. */
const STEP_MS = MINUTE

export interface SteadyClock {
  /** Compares the clock with elapsed time since the last call. */
  isSteady(): boolean
}

/** @param elapsed monotonic, milliseconds */
export function createSteadyClock(clock: Clock, elapsed: () => number): SteadyClock {
  let since = elapsed()
  let offset = clock.now() - since
  return {
    isSteady: () => {
      const now = elapsed()
      const found = clock.now() - now
      if (Math.abs(found - offset) > STEP_MS) since = now
      offset = found
      return now - since >= STEADY_AFTER_MS
    },
  }
}
