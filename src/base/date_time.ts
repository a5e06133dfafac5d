/**
 * Moments as text: RFC 3339 date-times in, instants out.
 *
 * - Every moment names its offset from UTC and a day that the calendar has.
 * - The leap second is refused, as no clock of ours shows it.
 */
import { MINUTE, type Instant } from './clock.js'

export interface Moment {
  /** Epoch milliseconds, the rest cut off; negative only by an offset at the epoch's first day. */
  readonly ms: number
  /** What was cut off, in nanoseconds. */
  readonly ns: number
}

const LOCAL = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?/
const OFFSET = /(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))$/
const DATE_TIME = new RegExp(LOCAL.source + OFFSET.source)

/**
 * A moment inside a body or a query: RFC 3339 from 1970 on, with up to 9 fraction digits. Seconds
 * may be missing, and so may the colon of the offset.
 */
export function parseDateTime(text: string): Moment | undefined {
  const parts = DATE_TIME.exec(text)
  if (parts === null) return undefined
  const [, day, minute, second = '00', fraction = '', sign, offsetHours, offsetMinutes] = parts
  const at = instantAt(`${day}T${minute}:${second}.${fraction}`)
  if (at === undefined) return undefined
  const offset = (Number(offsetHours ?? 0) * 60 + Number(offsetMinutes ?? 0)) * MINUTE
  return {
    ms: sign === '-' ? at + offset : at - offset,
    ns: Number(fraction.padEnd(9, '0').slice(3)),
  }
}

/** The character. */
const ZERO = 0x30

/**
 * The instant that a text of the shape `YYYY-MM-DDTHH:MM:SS`, perhaps followed by a fraction and an
 * offset, names in UTC. Digits beyond the millisecond are cut; undefined: no calendar has it.
 */
export function instantAt(text: string): Instant | undefined {
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 7)
  const day = digits(text, 8, 10)
  const hour = digits(text, 11, 13)
  const minute = digits(text, 14, 16)
  const second = digits(text, 17, 19)
  if (year < 1970 || hour > 23 || minute > 59 || second > 59) return undefined
  if (day < 1 || day > daysOfMonth(year, month)) return undefined
  const millisecond = digits(text, 20, 23)
  return Date.UTC(year, month - 1, day, hour, minute, second, millisecond) as Instant
}

/**
 * The number at these places; what is no digit counts as 0, as the missing end of a fraction does.
 * Texts cut out by the match would cost more than the match.
 */
function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO
    value = value * 10 + (digit >= 0 && digit <= 9 ? digit : 0)
  }
  return value
}

const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** 0 for a month that does not exist, which no day fits. */
function daysOfMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && leap ? 29 : (MONTH_DAYS[month - 1] ?? 0)
}
