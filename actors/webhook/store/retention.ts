/**
 * Retention: removes settled events after their time, page by page.
 *
 * - Events are kept longer than the stream keeps messages, because a removed event that arrives
 *   again is delivered again.
 * - Nothing is removed within an hour of a start or of a step of the clock (base/steady_clock).
 * - Dead letters are kept longer than delivered events, so they can be redriven.
 * - A sweep continues where the last one ended and restarts with the oldest event once an hour, so
 *   events held for a disabled endpoint are not scanned each time.
 */
import { DAY, HOUR, instant, MINUTE, plus, type Clock } from '../../../src/base/clock.js'
import type { SteadyClock } from '../../../src/base/steady_clock.js'
import type { ReceiptPosition, WebhookStore } from './store.js'

/** In days. */
export interface KeptDays {
  /** Longer than the maximum age of a message in the stream, which the setting ensures. */
  readonly delivered: number
  readonly dead: number
}

const SWEEP_EVERY_MS = MINUTE
const RESTART_EVERY_MS = HOUR

const OLDEST: ReceiptPosition = { receivedAt: instant(0), position: 0 }

/** @param failed called with a fault of ours; the process must exit */
export function startRetention(
  store: Pick<WebhookStore, 'removeSettled'>,
  clock: Clock,
  isSteady: SteadyClock['isSteady'],
  kept: KeptDays,
  failed: (fault: unknown) => void,
  sweepEveryMs = SWEEP_EVERY_MS,
) {
  let sweeping: Promise<void> = Promise.resolve()
  let position = OLDEST
  let begunAt = clock.now()
  let stopped = false

  const sweep = async (): Promise<void> => {
    if (!isSteady()) return
    const now = clock.now()
    const before = {
      delivered: plus(now, -kept.delivered * DAY),
      dead: plus(now, -kept.dead * DAY),
    }
    if (now < begunAt || now - begunAt >= RESTART_EVERY_MS) {
      position = OLDEST
      begunAt = now
    }
    let page
    do {
      page = await store.removeSettled(before, position)
      position = page.upTo
    } while (!page.isEnd && !stopped)
  }

  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep).catch(failed)
  }, sweepEveryMs)

  return {
    stop: async (): Promise<void> => {
      clearInterval(timer)
      stopped = true
      await sweeping
    },
  }
}
