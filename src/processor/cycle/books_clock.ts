/**
 * The clock of decisions: this machine's, but never earlier than the newest moment of the books.
 *
 * - Moments do not fall, also when another machine takes the books over or this machine's clock is
 *   set back. So an id of today sorts after those of yesterday, and a confirmation is not earlier
 *   than its payment.
 * - While the books are ahead, time passes at half speed until the machine's clock has caught up:
 *   timers, deadlines and quotes still end.
 * - Books that are further ahead than HELD_MAX_MS were written under a wrong clock. The machine's
 *   clock counts then: a year of wrong moments is worse than one that falls.
 */
import { MINUTE, type Clock, type Instant } from '../../base/clock.js'

export const HELD_MAX_MS = 15 * MINUTE
const HELD_SPEED = 0.5

export interface BooksClock extends Clock {
  /** The books have this moment. */
  passed(moment: Instant): void
  /** How far it is ahead of the machine's clock, in milliseconds. */
  aheadMs(): number
}

export function createBooksClock(machine: Clock): BooksClock {
  let readAt: number = machine.now()
  let newest = readAt

  const now = (): Instant => {
    const at = machine.now()
    const held = newest + Math.max(0, at - readAt) * HELD_SPEED
    readAt = at
    newest = held - at > HELD_MAX_MS ? at : Math.max(at, held)
    return Math.floor(newest) as Instant
  }

  return {
    now,
    passed: (moment) => (newest = Math.max(newest, moment)),
    aheadMs: () => now() - readAt,
  }
}
