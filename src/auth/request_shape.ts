/**
 * The formats of a signed request's headers, checked before any cryptography.
 *
 * Owns: timestamps, nonces, key ids and quarters as text. Does not own: the timestamp window and
 * whether a key exists (auth/verify).
 *
 * - A text that passes contains no newline and no character outside its format.
 * - A timestamp is a valid calendar date and time (base/date_time).
 */
import type { Instant } from '../base/clock.js'
import { instantAt } from '../base/date_time.js'
import type { Environment, KeyId, PartnerId } from '../base/ids.js'

const TIMESTAMP_SHAPE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]00:00)$/
/** RFC 3339 in UTC from 1970 on. Digits beyond the millisecond are cut. */
export const parseTimestamp = (text: string): Instant | undefined =>
  TIMESTAMP_SHAPE.test(text) ? instantAt(text) : undefined

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
