/**
 * Moments as filters name them, finer than our clock.
 *
 * Owns: reading them without loss, their order, rounding to milliseconds. Does not own: which texts
 * are moments (decode/formats).
 *
 * M1. Two moments within one millisecond are still told apart; rounding comes after comparing.
 */
import { parseTimestamp } from '../../src/auth/request_shape.js'
import { MINUTE } from '../../src/base/clock.js'
import { isDateTime } from '../decode/formats.js'

export interface Moment {
  /** Epoch milliseconds, the rest cut off; negative only by an offset at the epoch's first day. */
  readonly ms: number
  /** What was cut off, in nanoseconds. */
  readonly ns: number
}

/** A plus that was sent as it is arrives as a blank, and a moment has no blank elsewhere. */
const BARE_PLUS = / (?=\d\d:\d\d$)/
const PARTS = /^(.{19}(?:\.(\d+))?)(?:Z|([+-])(\d\d):(\d\d))$/

export function momentOf(text: string): Moment | undefined {
  const mended = text.replace(BARE_PLUS, '+')
  if (!isDateTime(mended)) return undefined
  const [, local = '', fraction = '', sign, hours = '0', minutes = '0'] = PARTS.exec(mended) ?? []
  const at = parseTimestamp(`${local}Z`)
  if (at === undefined) return undefined
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE
  return {
    ms: sign === '-' ? at + offset : at - offset,
    ns: Number(fraction.padEnd(9, '0').slice(3)),
  }
}

export const isLater = (one: Moment, other: Moment): boolean =>
  one.ms > other.ms || (one.ms === other.ms && one.ns > other.ns)

export const roundDown = ({ ms }: Moment): number => ms
export const roundUp = ({ ms, ns }: Moment): number => (ns > 0 ? ms + 1 : ms)
