/**
 * Removes what is long settled, a little at a time.
 *
 * - What may still come again stays: an event that is forgotten and comes again is delivered
 *   again.
 * - Dead letters stay longer than delivered events, because somebody may want them redriven.
 * - A sweep goes on where the last one ended; only once an hour it begins with the oldest. So
 *   a million events that are held for a disabled endpoint are not looked at each time.
 */
import { DAY, HOUR, instant, MINUTE, plus, type Clock } from '../../../src/base/clock.js'
import type { ReceiptPlace, WebhookStore } from './store.js'

/** Longer than any message can lie in the stream. */
const DELIVERED_KEPT_MS = 8 * DAY
const DEAD_KEPT_MS = 30 * DAY
const SWEEP_EVERY_MS = MINUTE
const BEGIN_ANEW_EVERY_MS = HOUR

const OLDEST: ReceiptPlace = { receivedAt: instant(0), position: 0 }

export function startRetention(
  store: Pick<WebhookStore, 'forget'>,
  clock: Clock,
  sweepEveryMs = SWEEP_EVERY_MS,
) {
  let sweeping: Promise<void> = Promise.resolve()
  let place = OLDEST
  let begunAt = clock.now()
  let stopped = false

  const sweep = async (): Promise<void> => {
    const now = clock.now()
    const before = { delivered: plus(now, -DELIVERED_KEPT_MS), dead: plus(now, -DEAD_KEPT_MS) }
    if (now < begunAt || now - begunAt >= BEGIN_ANEW_EVERY_MS) {
      place = OLDEST
      begunAt = now
    }
    let looked
    do {
      looked = await store.forget(before, place)
      place = looked.upTo
    } while (!looked.isEnd && !stopped)
  }

  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep)
  }, sweepEveryMs)

  return {
    stop: async (): Promise<void> => {
      clearInterval(timer)
      stopped = true
      await sweeping
    },
  }
}
