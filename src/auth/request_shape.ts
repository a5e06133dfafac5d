/**
 * Shapes of what a signed call carries, checked before any cryptography.
 *
 * Owns: the text forms of timestamps, nonces, key ids and quarters. Does not own: windows and
 * existence (auth/verify).
 *
 * D1. A text that passes has no newline and no character outside of its shape.
 * D2. A timestamp names an instant that the calendar has; the leap second is refused, as no clock
 *     of ours shows it.
 */
import type { Instant } from '../base/clock.js'
import type { Environment, KeyId, PartnerId } from '../base/ids.js'

const TIMESTAMP_SHAPE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|\+00:00)$/
/** The character. */
const ZERO = 0x30

/** RFC 3339 in UTC from 1970 on. Digits beyond the millisecond are cut. */
export function parseTimestamp(text: string): Instant | undefined {
  if (!TIMESTAMP_SHAPE.test(text)) return undefined
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

const NONCE_SHAPE = /^[0-9a-f]{64}$/

export const isNonce = (text: string): boolean => NONCE_SHAPE.test(text)

/** `YYYYqN`, e.g. `2026q4`. */
export type Quarter = string & { readonly __brand: 'Quarter' }

export interface KeyIdParts {
  readonly partner: PartnerId
  readonly environment: Environment
  readonly quarter: Quarter
}

const PARTNER_SHAPE = /^[a-z0-9-]{2,32}$/
const KEY_ID_SHAPE = /^([a-z0-9-]{2,32})_(sandbox|production)_([0-9]{4}q[1-4])$/

export const isPartnerId = (text: string): text is PartnerId => PARTNER_SHAPE.test(text)

export function parseKeyId(text: string): KeyIdParts | undefined {
  const parts = KEY_ID_SHAPE.exec(text)
  if (parts === null) return undefined
  return {
    partner: parts[1] as PartnerId,
    environment: parts[2] as Environment,
    quarter: parts[3] as Quarter,
  }
}

export const keyIdOf = ({ partner, environment, quarter }: KeyIdParts): KeyId =>
  `${partner}_${environment}_${quarter}` as KeyId

export function quarterAt(at: Instant): Quarter {
  const date = new Date(at)
  return quarter(date.getUTCFullYear(), Math.floor(date.getUTCMonth() / 3) + 1)
}

export function nextQuarter(current: Quarter): Quarter {
  const year = Number(current.slice(0, 4))
  const number = Number(current.slice(5))
  return number === 4 ? quarter(year + 1, 1) : quarter(year, number + 1)
}

const quarter = (year: number, number: number): Quarter =>
  `${String(year).padStart(4, '0')}q${number}` as Quarter
