/** A clock that stands until a test moves it, so that no deadline passes on a busy machine. */
import { instant, type Clock } from '../../src/base/clock.js'

export function heldClock(): Clock & { pass(milliseconds: number): void } {
  let now = Date.now()
  return {
    now: () => instant(now),
    pass: (milliseconds) => {
      now += milliseconds
    },
  }
}
