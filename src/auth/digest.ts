/**
 * The keyed hash of a request, by which an idempotency record recognizes the same request.
 *
 * Owns: canonical JSON and its hash. Does not own: the key (auth/master_key), the MAC (auth/mac),
 * the stored idempotency record (store).
 *
 * - Equal JSON values have equal hashes whatever the order of their members (RFC 8785).
 * - The value is a validated JSON tree: no undefined, no bigint, no number beyond a double.
 */
import type { Mac } from './mac.js'

export type JsonValue =
  string | number | boolean | null | readonly JsonValue[] | { readonly [name: string]: JsonValue }

/** Keyed, because the account number in a plain digest could be found by exhaustive search. */
export const requestHash = (mac: Mac, value: JsonValue): string =>
  mac(canonicalJson(value), 'base64url')

/**
 * RFC 8785. JavaScript formats numbers and strings and compares names by UTF-16 units as the RFC
 * requires, so only members must be sorted. A member named `toJSON` is not called.
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
