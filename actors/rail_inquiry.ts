/**
 * The schedule of status inquiries about submitted instructions without a final report.
 *
 * A missing report is an unknown outcome, never a failure: inquiries go on, at growing intervals,
 * until the rail answers.
 */
import { DAY, HOUR, MINUTE, SECOND, plus, type Instant } from '../src/base/clock.js'

const INQUIRE_AFTER_MS = [5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR]
/** Without a report by then, the outcome counts as unknown. */
export const UNKNOWN_AFTER_MS = INQUIRE_AFTER_MS[0]!
/** Without a report by then, an alarm is raised. */
export const ALARM_AFTER_MS = DAY

/** @param inquiries how many were sent since the submission */
function scheduledInquiry(submittedAt: Instant, inquiries: number): Instant {
  const scheduled = INQUIRE_AFTER_MS[inquiries]
  if (scheduled !== undefined) return plus(submittedAt, scheduled)
  return plus(submittedAt, (inquiries - INQUIRE_AFTER_MS.length + 1) * DAY)
}

/**
 * The next scheduled time, but not sooner than the first interval after `now`: after an outage of
 * the rail the times that have passed do not follow each other at once.
 *
 * @param inquiries how many were sent since the submission
 */
export function nextInquiryAt(submittedAt: Instant, inquiries: number, now: Instant): Instant {
  const scheduled = scheduledInquiry(submittedAt, inquiries)
  const soonest = plus(now, INQUIRE_AFTER_MS[0]!)
  return scheduled > soonest ? scheduled : soonest
}

/** When the last of `inquiries` was sent; its scheduled time when a delay cannot be seen. */
export function lastInquiryAt(
  submittedAt: Instant,
  inquiries: number,
  nextAt: Instant | null,
): Instant {
  const isLate = nextAt !== null && nextAt > scheduledInquiry(submittedAt, inquiries)
  if (isLate) return plus(nextAt, -INQUIRE_AFTER_MS[0]!)
  return scheduledInquiry(submittedAt, inquiries - 1)
}

/**
 * The instant of the next inquiry about a payment that an operator resolved at `resolvedAt`;
 * null means no further one. The first inquiry leaves with the resolve; a timer repeats it, each
 * time at three times the age, for a day.
 */
export function nextInquiryAfterResolve(resolvedAt: Instant, now: Instant): Instant | null {
  const age = Math.max(now - resolvedAt, INQUIRE_AFTER_MS[0]! / 3)
  return age >= DAY ? null : plus(resolvedAt, Math.ceil(age * 3))
}

/** Members of the context that mark the submission and schedule the first inquiry. */
export const submitted = (
  at: Instant,
): { readonly submittedAt: Instant; readonly inquiries: number; readonly dueAt: Instant } => ({
  submittedAt: at,
  inquiries: 0,
  dueAt: nextInquiryAt(at, 0, at),
})
