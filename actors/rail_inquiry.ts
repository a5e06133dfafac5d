/**
 * When to ask the rail about an instruction that is out and unanswered.
 *
 * An answer that does not come is an unknown outcome, never a failure: we ask, at growing
 * intervals, until it is known.
 */
import { DAY, HOUR, MINUTE, SECOND, plus, type Instant } from '../src/base/clock.js'

const INQUIRE_AFTER_MS = [5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR]
/** From here on silence is an unknown outcome. */
export const UNKNOWN_AFTER_MS = INQUIRE_AFTER_MS[0]!
/** From here on an operator is told. */
export const ALARM_AFTER_MS = DAY

/** The instant of the next question, when `asked` questions have been put since the submission. */
export function nextInquiryAt(submittedAt: Instant, inquiries: number): Instant {
  const scheduled = INQUIRE_AFTER_MS[inquiries]
  if (scheduled !== undefined) return plus(submittedAt, scheduled)
  return plus(submittedAt, (inquiries - INQUIRE_AFTER_MS.length + 1) * DAY)
}

/**
 * The instant of the next inquiry about a payment that an operator resolved at `resolvedAt`; null:
 * no further one. The first inquiry leaves with the resolve; a timer repeats it, each time at three
 * times the age, for a day.
 */
export function nextInquiryAfterResolve(resolvedAt: Instant, now: Instant): Instant | null {
  const age = Math.max(now - resolvedAt, INQUIRE_AFTER_MS[0]! / 3)
  return age >= DAY ? null : plus(resolvedAt, Math.ceil(age * 3))
}

/** How soon an entity tries again that could not be submitted, or not asked about: no rail. */
export const SUBMIT_RETRY_MS = SECOND

/** From here on the instruction is out, and the first question is on the calendar. */
export const submitted = (
  at: Instant,
): { readonly handedOverAt: Instant; readonly asked: number; readonly wakeAt: Instant } => ({
  handedOverAt: at,
  asked: 0,
  wakeAt: nextInquiryAt(at, 0),
})
