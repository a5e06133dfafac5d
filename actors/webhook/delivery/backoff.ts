/**
 * The retry schedule of deliveries: exponential back-off with jitter.
 *
 * - Twelve attempts within about two days. Each pause varies by ±20 % at random, so a recovering
 *   receiver does not get all retries at once.
 */
import { DAY, HOUR, MINUTE, plus, SECOND, type Instant } from '../../../src/base/clock.js'
import type { Random } from '../../../src/base/random.js'

/** The pause before each attempt, in order; the first attempt is made at once. */
export const PAUSE_MS = [
  0,
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
  12 * HOUR,
  24 * HOUR,
] as const
export const JITTER = 0.2
/** Longer than any pause: what is due later was put off while the clock was ahead. */
const PUT_OFF_MS = 2 * DAY

export interface BackoffRules {
  /** At most as many as there are pauses. */
  readonly attemptsMax: number
  /** 100 in production; less shortens every pause for tests and local work. */
  readonly scalePct: number
}

/** @returns the time of the next attempt; null when `made` attempts are the maximum */
export function retryAt(
  made: number,
  now: Instant,
  rules: BackoffRules,
  random: Random,
): Instant | null {
  const pauseMs = made < rules.attemptsMax ? PAUSE_MS[made] : undefined
  if (pauseMs === undefined) return null
  const factor = 1 - JITTER + 2 * JITTER * random.fraction()
  return plus(now, Math.round(scaled(pauseMs, rules) * factor))
}

/** Whether no pause from now on ends so late: it is due now. */
export const isPutOff = (dueAt: Instant, now: Instant): boolean => dueAt - now > PUT_OFF_MS

export const scaled = (milliseconds: number, { scalePct }: Pick<BackoffRules, 'scalePct'>) =>
  (milliseconds * scalePct) / 100
