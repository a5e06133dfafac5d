/**
 * The time of a candidate that runs ahead: its pauses between two looks pass at once, by its clock
 * as long as they are. So an owner without a heartbeat for some milliseconds counts as silent for
 * the timeout of a lease.
 *
 * - Only of a candidate: an owner in this time would send a heartbeat at each of its looks, and
 *   judge each answer late. So the first take-over ends it, known by its bound.
 */
import { setImmediate } from 'node:timers/promises'
import { systemPause, type Pause } from '../../src/base/clock.js'
import { LEASE_TIMEOUT_MS } from '../../src/store/postgres/lease.js'

export interface HurriedClock {
  readonly elapsed: () => number
  readonly pause: Pause
  /** Runs ahead until the first take-over of this work. */
  hurried<Result>(work: () => Promise<Result>): Promise<Result>
}

/** @param pause of the bounds, and while it does not run ahead */
export function hurriedClock(pause: Pause = systemPause): HurriedClock {
  let skipped = 0
  let isHurried = false
  return {
    elapsed: () => performance.now() + skipped,
    pause: async (ms, signal) => {
      if (ms >= LEASE_TIMEOUT_MS) isHurried = false
      if (!isHurried) return pause(ms, signal)
      skipped += ms
      return setImmediate()
    },
    hurried: async (work) => {
      isHurried = true
      try {
        return await work()
      } finally {
        isHurried = false
      }
    },
  }
}
