/**
 * When to ask the rail about an instruction that is out and unanswered.
 *
 * An answer that does not come is an unknown outcome, never a failure: we ask, at growing
 * intervals, until it is known.
 */
import { DAY, HOUR, MINUTE, SECOND, plus, type Instant } from '../src/base/clock.js'

const ASK_AFTER_MS = [5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR]
/** From here on silence is an unknown outcome. */
export const UNKNOWN_AFTER_MS = ASK_AFTER_MS[0]!
/** From here on an operator is told. */
export const ALARM_AFTER_MS = DAY

/** The instant of the next question, when `asked` questions have been put since the hand-over. */
export function nextQuestionAt(handedOverAt: Instant, asked: number): Instant {
  const scheduled = ASK_AFTER_MS[asked]
  if (scheduled !== undefined) return plus(handedOverAt, scheduled)
  return plus(handedOverAt, (asked - ASK_AFTER_MS.length + 1) * DAY)
}

/**
 * The instant of the next inquiry about a payment that an operator resolved at `resolvedAt`; null:
 * no further one. The first inquiry leaves with the resolve; a timer repeats it, each time at three
 * times the age, for a day.
 */
export function nextInquiryAfterResolve(resolvedAt: Instant, now: Instant): Instant | null {
  const age = Math.max(now - resolvedAt, ASK_AFTER_MS[0]! / 3)
  return age >= DAY ? null : plus(resolvedAt, Math.ceil(age * 3))
}

/** How soon an entity tries again that could not be handed over, or not asked about: no rail. */
export const HAND_OVER_AGAIN_MS = SECOND

/** From here on the instruction is out, and the first question is on the calendar. */
export const handedOver = (
  at: Instant,
): { readonly handedOverAt: Instant; readonly asked: number; readonly wakeAt: Instant } => ({
  handedOverAt: at,
  asked: 0,
  wakeAt: nextQuestionAt(at, 0),
})
