/**
 * Session and receipt tokens: compact JWS (RFC 7515), HS256.
 *
 * Owns: their claims, minting, verifying. Does not own: whether a session token was consumed and
 * whether its intent or user matches (processor), the origin of the keys (auth/master_key).
 *
 * - A token is a function of (kid, claims): a replay returns the first token although only its id
 *   and expiry are stored.
 * - The header is not parsed: it must equal one of the headers we make, which pins algorithm, type
 *   and key together.
 * - The payload is read only after its signature matched, in constant time.
 * - A set of claims has exactly one encoding: any other payload is rejected.
 * - A token verifies while now < exp.
 */
import { assert } from '../base/assert.js'
import { SECOND, type Instant } from '../base/clock.js'
import type { IntentId, TenantId } from '../base/ids.js'
import { createMac, sameText, type Mac } from './mac.js'
import type { TokenId } from './secret_generation.js'

export interface TokenKey {
  readonly kid: string
  readonly mac: Mac
  /** The first segment of this key's tokens, with its dot. */
  readonly header: string
}

export interface TokenKeys {
  /** The key id that signs new tokens. */
  readonly current: string
  readonly byKid: ReadonlyMap<string, TokenKey>
  readonly byHeader: ReadonlyMap<string, TokenKey>
}

export interface TokenSecret {
  readonly kid: string
  readonly secret: Uint8Array
}

/** The first secret signs, all of them verify. */
export function createTokenKeys(secrets: readonly TokenSecret[]): TokenKeys {
  const keys = secrets.map(({ kid, secret }) => {
    const header = `${base64url(`{"alg":"HS256","kid":${JSON.stringify(kid)},"typ":"JWT"}`)}.`
    return { kid, mac: createMac(secret), header }
  })
  const [current] = keys
  assert(current !== undefined, 'there is a token key')
  return {
    current: current.kid,
    byKid: new Map(keys.map((key) => [key.kid, key])),
    byHeader: new Map(keys.map((key) => [key.header, key])),
  }
}

export interface SessionClaims {
  readonly intentId: IntentId
  readonly tenant: TenantId
  readonly jti: TokenId
  /** Unix epoch seconds. */
  readonly expiresAt: number
}

/** `kid` is stored with the claims, so a replay after a key rotation returns the same token. */
export function mintSessionToken(keys: TokenKeys, kid: string, claims: SessionClaims): string {
  return signed(keys, kid, sessionPayload(claims))
}

export interface ReceiptClaims {
  readonly tenant: TenantId
  /** From `receiptSubject`. */
  readonly subject: string
  /** Unix epoch seconds. */
  readonly expiresAt: number
}

export function mintReceiptToken(keys: TokenKeys, claims: ReceiptClaims): string {
  return signed(keys, keys.current, receiptPayload(claims))
}

/**
 * The subject of a receipt token: a MAC of the partner's user id. Its length is fixed, and a holder
 * of the token cannot test guesses of the id. The id is hashed as JSON text, because UTF-8 maps all
 * lone surrogates to one character.
 */
export function receiptSubject(mac: Mac, partnerUserId: string): string {
  return mac(`receipt_subject\n${JSON.stringify(partnerUserId)}`, 'base64url')
}

export type TokenRefusal = 'malformed' | 'key_unknown' | 'signature_mismatch' | 'expired'

export type TokenVerification<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: TokenRefusal }

export function verifySessionToken(
  keys: TokenKeys,
  token: string,
  now: Instant,
): TokenVerification<SessionClaims> {
  return verified(keys, token, now, readSessionPayload)
}

export function verifyReceiptToken(
  keys: TokenKeys,
  token: string,
  now: Instant,
): TokenVerification<ReceiptClaims> {
  return verified(keys, token, now, readReceiptPayload)
}

function signed(keys: TokenKeys, kid: string, payload: string): string {
  const key = keys.byKid.get(kid)
  assert(key !== undefined, 'a token key exists while a stored response was signed with it')
  const input = key.header + base64url(payload)
  return `${input}.${key.mac(input, 'base64url')}`
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

/** Characters; ours have about 300. */
const TOKEN_MAX = 2_048
/** Header with its dot, payload, signature (43 characters, of which the last carries four bits). */
const TOKEN_SHAPE = /^([A-Za-z0-9_-]+\.)([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$/

function verified<Claims extends { readonly expiresAt: number }>(
  keys: TokenKeys,
  token: string,
  now: Instant,
  readPayload: (text: string) => Claims | undefined,
): TokenVerification<Claims> {
  if (token.length > TOKEN_MAX) return refused('malformed')
  const [, header, payload, signature] = TOKEN_SHAPE.exec(token) ?? []
  if (header === undefined || payload === undefined || signature === undefined) {
    return refused('malformed')
  }
  const key = keys.byHeader.get(header)
  if (key === undefined) return refused('key_unknown')
  if (!sameText(key.mac(header + payload, 'base64url'), signature)) {
    return refused('signature_mismatch')
  }
  const claims = readPayload(Buffer.from(payload, 'base64url').toString('utf8'))
  if (claims === undefined) return refused('malformed')
  if (now >= claims.expiresAt * SECOND) return refused('expired')
  return { ok: true, claims }
}

const refused = (reason: TokenRefusal): { readonly ok: false; readonly reason: TokenRefusal } => ({
  ok: false,
  reason,
})

/**
 * None of these values needs escaping: ids, tenants and token ids are letters, digits, `_` and `-`.
 */
const sessionPayload = ({ intentId, tenant, jti, expiresAt }: SessionClaims): string =>
  `{"aud":"service-session","exp":${expiresAt},"jti":"${jti}",` +
  `"sub":"${intentId}","tenant":"${tenant}"}`

const receiptPayload = ({ tenant, subject, expiresAt }: ReceiptClaims): string =>
  `{"aud":"service-receipt","exp":${expiresAt},"sub":"${subject}","tenant":"${tenant}"}`

function readSessionPayload(text: string): SessionClaims | undefined {
  const { exp, jti, sub, tenant } = membersOf(text)
  const claims = {
    intentId: textOf(sub) as IntentId,
    tenant: textOf(tenant) as TenantId,
    jti: textOf(jti) as TokenId,
    expiresAt: numberOf(exp),
  }
  return sessionPayload(claims) === text ? claims : undefined
}

function readReceiptPayload(text: string): ReceiptClaims | undefined {
  const { exp, sub, tenant } = membersOf(text)
  const claims = {
    tenant: textOf(tenant) as TenantId,
    subject: textOf(sub),
    expiresAt: numberOf(exp),
  }
  return receiptPayload(claims) === text ? claims : undefined
}

/** The members of a signed payload; none unless it is an object. */
function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** A value of another type becomes one that no valid payload contains. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
