/**
 * Parses RFC 3339 date-times.
 *
 * - An offset from UTC and a valid calendar day are required.
 * - A leap second (`:60`) is rejected.
 */
import { MINUTE, type Instant } from './clock.js'

export interface Moment {
  /** Epoch milliseconds, rounded down; negative only on 1970-01-01 with a positive offset. */
  readonly ms: number
  /** Nanoseconds within the millisecond. */
  readonly ns: number
}

const LOCAL = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?/
const OFFSET = /(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))$/
const DATE_TIME = new RegExp(LOCAL.source + OFFSET.source)

/**
 * Parses a timestamp of a body or a query: RFC 3339 from 1970 on, up to 9 fraction digits. Seconds
 * and the colon of the offset are optional.
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

/** In UTC with seconds, as nearly all programs write it. */
const USUAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/

/** Whether `parseDateTime` takes it; the usual form is checked without capture groups. */
export const isDateTime = (text: string): boolean =>
  (USUAL.test(text) ? instantAt(text) : parseDateTime(text)) !== undefined

/** Character code of `0`. */
const ZERO = 0x30

/**
 * The instant of a text of the shape `YYYY-MM-DDTHH:MM:SS`, read as UTC. A fraction and an offset
 * may follow; digits beyond the millisecond are ignored. Undefined means that it is no date or
 * time.
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
 * The number at these positions; missing characters and non-digits count as 0. Capture groups would
 * cost more than the match itself.
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

/** 0 for an invalid month, so every day in it is invalid. */
function daysOfMonth(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && leap ? 29 : (MONTH_DAYS[month - 1] ?? 0)
}
