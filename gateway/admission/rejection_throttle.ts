/**
 * Paces the rejections of requests over a limit.
 *
 * - A rejected client retries. Answered at once, a flood would arrive as fast as it can be rejected
 *   and starve accepted requests. So at most PER_SECOND rejections are sent, in order of arrival;
 *   until then nothing more is read from their connections.
 * - Below that rate a rejection waits for EVERY_MS. Beyond WAITING_MAX waiting rejections, one is
 *   sent at once.
 */
import type { Clock } from '../../src/base/clock.js'

/** Reading and rejecting this many takes a fifth of a core. */
export const PER_SECOND = 7_500
const EVERY_MS = 5
/** The oldest rejection has then waited for a second. */
export const WAITING_MAX = PER_SECOND
/** Bounds the rejections sent at once after a pause of the process. */
export const AT_ONCE_MAX = PER_SECOND / 20

export interface RejectionThrottle {
  /** Calls `answer` once, usually later. */
  add(answer: () => void): void
}

export function createRejectionThrottle(clock: Clock): RejectionThrottle {
  const waiting: (() => void)[] = []
  let since = clock.now()

  const flush = (): void => {
    const now = clock.now()
    const allowed = ((now - since) * PER_SECOND) / 1_000
    since = now
    const batch = waiting.splice(0, Math.min(AT_ONCE_MAX, Math.max(1, allowed)))
    for (const answer of batch) answer()
    if (waiting.length > 0) setTimeout(flush, EVERY_MS)
  }

  return {
    add: (answer) => {
      if (waiting.length >= WAITING_MAX) return answer()
      waiting.push(answer)
      if (waiting.length > 1) return
      since = clock.now()
      setTimeout(flush, EVERY_MS)
    },
  }
}
