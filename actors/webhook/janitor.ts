/**
 * Removes what is long settled, a little at a time.
 *
 * J1. What may still come again stays: an event that is forgotten and comes again is delivered
 *     again.
 * J2. Dead letters stay longer than delivered events, because somebody may want them redriven.
 */
import { DAY, MINUTE, plus, type Clock } from '../../src/base/clock.js'
import type { WebhookStore } from './store.js'

/** Longer than any message can lie in the stream. */
const DELIVERED_KEPT_MS = 8 * DAY
const DEAD_KEPT_MS = 30 * DAY
const SWEEP_EVERY_MS = MINUTE

export function startJanitor(store: Pick<WebhookStore, 'forget'>, clock: Clock) {
  let sweeping: Promise<void> = Promise.resolve()

  const sweep = async (): Promise<void> => {
    const now = clock.now()
    const before = { delivered: plus(now, -DELIVERED_KEPT_MS), dead: plus(now, -DEAD_KEPT_MS) }
    let removed
    do removed = await store.forget(before)
    while (removed > 0)
  }

  const timer = setInterval(() => {
    sweeping = sweeping.then(sweep)
  }, SWEEP_EVERY_MS)

  return {
    stop: async (): Promise<void> => {
      clearInterval(timer)
      await sweeping
    },
  }
}
