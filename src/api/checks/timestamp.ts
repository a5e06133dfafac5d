/**
 * Timestamps in filters: up to nanoseconds, rounded to the millisecond clock of the store.
 *
 * - Timestamps are compared before rounding, so two within one millisecond stay distinct.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import { parseDateTime, type Moment } from '../../base/date_time.js'

export type { Moment }

/** An unescaped `+` arrives as a space; a timestamp has no other space. */
const BARE_PLUS = / (?=\d\d:?\d\d$)/

export const timestampOf = (text: string): Moment | undefined =>
  parseDateTime(text.replace(BARE_PLUS, '+'))

export const isLater = (one: Moment, other: Moment): boolean =>
  one.ms > other.ms || (one.ms === other.ms && one.ns > other.ns)

export const roundDown = ({ ms }: Moment): number => ms
export const roundUp = ({ ms, ns }: Moment): number => (ns > 0 ? ms + 1 : ms)

const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/**
 * A time of a message, in milliseconds, as the text that a request has. Empty means that the text
 * is no time.
 */
export function timeAsJson(ms: unknown): string {
  const value = Number(ms)
  return value >= 0 && value <= LAST_MS ? toRfc3339(instant(value)) : ''
}
