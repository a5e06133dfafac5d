/**
 * The hash of a request: what must be compared later but not be readable from the database.
 *
 * Owns: the one text that equal requests have, and its hash. Does not own: the key
 * (auth/master_key), the hash itself (mac), the stored idempotency record (store).
 *
 * - Requests that are equal as JSON values hash alike whatever the order of their members (RFC
 *   8785).
 * - The value is a plain JSON tree that was validated before: no undefined, no bigint, no number
 *   beyond a double.
 */
import type { Mac } from './mac.js'

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/**
 * Says whether an idempotency key comes with the same request again. Keyed, because a plain digest
 * of a request with an account number could be searched through.
 */
export const requestHash = (mac: Mac, value: JsonValue): string =>
  mac(canonicalJson(value), 'base64url')

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
