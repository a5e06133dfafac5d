/**
 * Keyed hashes: what must be compared later but not be readable from the database.
 *
 * Owns: the blind hash of a text and the hash of a request. Does not own: the keys
 * (auth/master_key), the stored idempotency record (store).
 *
 * J1. Requests that are equal as JSON values hash alike whatever the order of their members (RFC
 *     8785).
 * J2. The value is a plain JSON tree that was validated before: no undefined, no bigint, no number
 *     beyond a double.
 */
import { createHmac, type KeyObject } from 'node:crypto'

/** HMAC-SHA256, 32 bytes. Plain SHA-256 of an account number could be searched through. */
export function keyedHash(key: KeyObject, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/** The hash that says whether an idempotency key comes with the same request again. */
export function requestHash(key: KeyObject, value: JsonValue): Buffer {
  return keyedHash(key, canonicalJson(value))
}

/**
 * RFC 8785. JavaScript's own texts of numbers and strings are those of the RFC, and its sort orders
 * names by UTF-16 units as the RFC asks, so only the order is left to do. A member called `toJSON`
 * is a member like others.
 */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isList(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

/** Array.isArray does not narrow readonly arrays. */
const isList = (value: JsonValue): value is readonly JsonValue[] => Array.isArray(value)
