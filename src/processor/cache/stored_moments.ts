/**
 * Moments of rows that are kept in memory.
 *
 * - A view of memory is made after the change that it tells of, where nothing may fail. So no
 *   impossible moment is in memory: it is read as 0, and its row is corrupt.
 * - A corrupt row is named in operators' lists, as in those that read the books.
 */
import { instant, isMoment, type Instant } from '../../base/clock.js'

/** An impossible one is 0. */
export const storedMoment = (stored: number): Instant => instant(isMoment(stored) ? stored : 0)

/** Null stays null. */
export const storedMomentOrNull = (stored: number | null): Instant | null =>
  stored === null ? null : storedMoment(stored)

/** Whether no moment of a row is impossible. */
export const areMoments = (...stored: readonly (number | null)[]): boolean =>
  stored.every((each) => each === null || isMoment(each))
