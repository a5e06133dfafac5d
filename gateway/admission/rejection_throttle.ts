/**
 * Refusals of what is too much, at a pace.
 *
 * Owns: when they are answered. Does not own: what is refused (limits), what it is told
 * (request_handler).
 *
 * - Who is refused asks again. Answered at once, a flood would come as fast as it can be refused
 *   and leave little for those who are served: so PER_SECOND are answered, first come, first
 *   answered. Until then nothing more comes through their connections.
 * - Below that pace a refusal waits for EVERY_MS. Beyond WAITING_MAX it is answered at once.
 */
import type { Clock } from '../../src/base/clock.js'

/** To read and to refuse so many takes a fifth of a core. */
export const PER_SECOND = 7_500
const EVERY_MS = 5
/** What came first has waited for a second. */
export const WAITING_MAX = PER_SECOND
/** What a pause of the process has held up is not answered in one turn. */
export const AT_ONCE_MAX = PER_SECOND / 20

export interface RejectionThrottle {
  /** `answer` is called once, as a rule later. */
  add(answer: () => void): void
}

export function createRejectionThrottle(clock: Clock): RejectionThrottle {
  const waiting: (() => void)[] = []
  let since = clock.now()

  const answerSome = (): void => {
    const now = clock.now()
    const allowed = ((now - since) * PER_SECOND) / 1_000
    since = now
    const some = waiting.splice(0, Math.min(AT_ONCE_MAX, Math.max(1, allowed)))
    for (const answer of some) answer()
    if (waiting.length > 0) setTimeout(answerSome, EVERY_MS)
  }

  return {
    add: (answer) => {
      if (waiting.length >= WAITING_MAX) return answer()
      waiting.push(answer)
      if (waiting.length > 1) return
      since = clock.now()
      setTimeout(answerSome, EVERY_MS)
    },
  }
}
