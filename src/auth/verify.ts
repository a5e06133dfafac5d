/**
 * Verifies the signature of a partner's request.
 *
 * Owns: the checks and their precedence. Does not own: the nonce table (auth/nonces, checked by the
 * processor in the command's commit), the directory of keys (gateway), the response (always the
 * same 401).
 *
 * - Precedence of rejections: address, key, timestamp, signature. The nonce is checked last, by the
 *   processor: only requests with a valid signature can fill the table.
 * - A well-formed request costs the same whichever check rejects it: the signature is computed even
 *   for an unknown key.
 * - `reason` is for metrics and operators; it never reaches the caller.
 */
import { TIMESTAMP_SKEW_MS } from '../base/constants.js'
import type { Instant } from '../base/clock.js'
import type { Environment, KeyId, PartnerId } from '../base/ids.js'
import { bodyHash, canonicalRequest } from './canonical.js'
import { isNonce, parseKeyId, parseTimestamp } from './request_shape.js'
import { isSignature, signatureMatches, signingKey, type SigningSecret } from './signature.js'

/** Stands for a header that is present more than once. */
export const REPEATED: unique symbol = Symbol('repeated header')
export type HeaderValue = string | undefined | typeof REPEATED

export interface SignedRequest {
  readonly method: string
  /** As received, without the query. */
  readonly path: string
  /** As received. It is hashed only if the headers are well-formed. */
  readonly body: Uint8Array
  readonly keyId: HeaderValue
  readonly timestamp: HeaderValue
  readonly nonce: HeaderValue
  readonly signature: HeaderValue
  /** The environment of the requested host. */
  readonly environment: Environment
  /** Whether the partner may call this environment from the address; true for an unknown one. */
  readonly allowsAddress: (partner: PartnerId) => boolean
}

export interface KnownKey {
  readonly secret: SigningSecret
  /** From then on the key is rejected; undefined while no revocation is scheduled. */
  readonly revokedAt: Instant | undefined
}

export type RefusalReason =
  | 'headers_malformed'
  | 'address_not_allowed'
  | 'key_unknown'
  | 'key_of_other_environment'
  | 'key_revoked'
  | 'timestamp_outside_window'
  | 'signature_mismatch'

export type Verification =
  | {
      readonly ok: true
      readonly keyId: KeyId
      readonly partner: PartnerId
      readonly environment: Environment
      /** 32 bytes. */
      readonly nonce: Buffer
      readonly signedAt: Instant
    }
  | { readonly ok: false; readonly reason: RefusalReason }

/** Used for an unknown key; the result of the comparison is ignored. */
const DUMMY_SECRET = signingKey('unknown key')

export function verifyRequest(
  request: SignedRequest,
  lookup: (keyId: string) => KnownKey | undefined,
  now: Instant,
): Verification {
  const { keyId, timestamp, nonce, signature } = request
  if (!isText(keyId) || !isText(timestamp) || !isText(nonce) || !isText(signature)) {
    return refused('headers_malformed')
  }
  const named = parseKeyId(keyId)
  const at = parseTimestamp(timestamp)
  if (named === undefined || at === undefined || !isNonce(nonce) || !isSignature(signature)) {
    return refused('headers_malformed')
  }
  const { partner, environment } = named
  const { method, path, body } = request
  const known = lookup(keyId)
  const hash = bodyHash(body)
  const canonical = canonicalRequest({ method, path, timestamp, nonce, bodyHash: hash })
  const matches = signatureMatches(known?.secret ?? DUMMY_SECRET, canonical, signature)

  if (!request.allowsAddress(partner)) return refused('address_not_allowed')
  if (known === undefined) return refused('key_unknown')
  if (environment !== request.environment) return refused('key_of_other_environment')
  if (isRevoked(known, now)) return refused('key_revoked')
  if (Math.abs(now - at) > TIMESTAMP_SKEW_MS) return refused('timestamp_outside_window')
  if (!matches) return refused('signature_mismatch')
  return {
    ok: true,
    keyId: keyId as KeyId,
    partner,
    environment,
    nonce: Buffer.from(nonce, 'hex'),
    signedAt: at,
  }
}

const isText = (value: HeaderValue): value is string => typeof value === 'string'

const isRevoked = (key: KnownKey, now: Instant): boolean =>
  key.revokedAt !== undefined && key.revokedAt <= now

const refused = (reason: RefusalReason): Verification => ({ ok: false, reason })
