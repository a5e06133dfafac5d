/**
 * Session and receipt tokens: compact JWS (RFC 7515), HS256.
 *
 * Owns: their claims, minting, verifying. Does not own: whether a session token was consumed, and
 * whether its intent or the receipt's user fits (processor), the keys' origin (auth/master_key).
 *
 * - A token is a function of its inputs: the same (kid, claims) give the same text, so a replay
 *   returns the first token although only its id and expiry are stored.
 * - The header is not parsed: it is one of the texts we make, so algorithm, type and key are
 *   pinned together.
 * - Nothing of a payload is looked at before its signature matched, in constant time.
 * - One set of claims has one text: a payload that is not spelled exactly as we would is refused,
 *   whatever it says.
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
  /** First segment of every token of this key, with its dot. */
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

/** The first one signs, all of them verify. */
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

/**
 * `kid` is stored beside the claims: a replay signs with the key of the first answer, rotated or
 * not.
 */
export function mintSessionToken(keys: TokenKeys, kid: string, claims: SessionClaims): string {
  return signed(keys, kid, sessionPayload(claims))
}

export interface ReceiptClaims {
  readonly tenant: TenantId
  /** Of `receiptSubject`. */
  readonly subject: string
  /** Unix epoch seconds. */
  readonly expiresAt: number
}

export function mintReceiptToken(keys: TokenKeys, claims: ReceiptClaims): string {
  return signed(keys, keys.current, receiptPayload(claims))
}

/**
 * Whom a receipt token is for. A MAC of the partner's user id: of fixed length whatever the id, and
 * nobody who holds the token can test a guess of the id. JSON text, because UTF-8 maps all lone
 * surrogates to one character.
 */
export function receiptSubject(mac: Mac, partnerUserId: string): string {
  return mac(`receipt_subject\n${JSON.stringify(partnerUserId)}`, 'base64url')
}

export type TokenRefusal = 'malformed' | 'key_unknown' | 'signature_mismatch' | 'expired'

export type TokenVerdict<Claims> =
  | { readonly ok: true; readonly claims: Claims }
  | { readonly ok: false; readonly reason: TokenRefusal }

export function verifySessionToken(
  keys: TokenKeys,
  token: string,
  now: Instant,
): TokenVerdict<SessionClaims> {
  return verified(keys, token, now, readSessionPayload)
}

export function verifyReceiptToken(
  keys: TokenKeys,
  token: string,
  now: Instant,
): TokenVerdict<ReceiptClaims> {
  return verified(keys, token, now, readReceiptPayload)
}

function signed(keys: TokenKeys, kid: string, payload: string): string {
  const key = keys.byKid.get(kid)
  assert(key !== undefined, 'a token key is kept while a stored answer was signed with it')
  const input = key.header + base64url(payload)
  return `${input}.${key.mac(input, 'base64url')}`
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

/** Ours have some 300 characters. */
const TOKEN_MAX = 2_048
/** Header with its dot, payload, signature: 43 characters of which the last carries four bits. */
const TOKEN_SHAPE = /^([A-Za-z0-9_-]+\.)([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{42}[AEIMQUYcgkosw048])$/

function verified<Claims extends { readonly expiresAt: number }>(
  keys: TokenKeys,
  token: string,
  now: Instant,
  readPayload: (text: string) => Claims | undefined,
): TokenVerdict<Claims> {
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

/** Members of a signed payload; of anything but an object there are none. */
function membersOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** A value of another type becomes one that no payload of ours spells. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
