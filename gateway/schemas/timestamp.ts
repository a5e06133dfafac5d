/**
 * Moments as filters name them, finer than our clock.
 *
 * Owns: reading them without loss, their order, rounding to milliseconds. Does not own: which texts
 * are moments (base/date_time).
 *
 * - Two moments within one millisecond are still told apart; rounding comes after comparing.
 */
import { parseDateTime, type Moment } from '../../src/base/date_time.js'

export type { Moment }

/** A plus that was sent as it is arrives as a blank, and a moment has no blank elsewhere. */
const BARE_PLUS = / (?=\d\d:?\d\d$)/

export const timestampOf = (text: string): Moment | undefined =>
  parseDateTime(text.replace(BARE_PLUS, '+'))

export const isLater = (one: Moment, other: Moment): boolean =>
  one.ms > other.ms || (one.ms === other.ms && one.ns > other.ns)

export const roundDown = ({ ms }: Moment): number => ms
export const roundUp = ({ ms, ns }: Moment): number => (ns > 0 ? ms + 1 : ms)
