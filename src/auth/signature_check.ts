/**
 * Says which check of a signature fails: to partners in the sandbox, and to operators.
 *
 * Owns: judging a signature check by check, and what is told of it. Does not own: the verdict that
 * counts (auth/verify), where the signature comes from (a route of the gateway, an operator).
 *
 * - Whoever asks may be anybody. All that is told follows from what he sent, with one exception:
 *   whether the key of that id makes this signature. An unknown key and a wrong secret give
 *   the same report for the same work, so nobody learns which keys there are.
 * - That a key is revoked is told only to those who sign with it.
 * - Only keys of the environment that is asked for are tried: at the gateway, of the sandbox.
 * - No nonce is consumed and none is looked up: only the processor knows which were seen.
 */
import { canonicalRequest } from './canonical.js'
import { isNonce, parseKeyId, parseTimestamp } from './request_shape.js'
import { isSignature, signatureMatches, signingKey } from './signature.js'
import type { HeaderValue, KnownKey, SignedRequest } from './verify.js'
import { TIMESTAMP_SKEW_MS } from '../base/constants.js'
import { toRfc3339, type Instant } from '../base/clock.js'
import type { Environment } from '../base/ids.js'

/** A signature that somebody asks about. */
export interface SignatureClaim extends Pick<
  SignedRequest,
  'method' | 'path' | 'keyId' | 'timestamp' | 'nonce' | 'signature'
> {
  /** Of auth/canonical `bodyHash`. */
  readonly bodyHash: string
  /** The body's hash as the asker computed it, if he says. */
  readonly claimedBodyHash: string | undefined
}

/** The checks in their order, each with what to do when it fails. */
const HELP = {
  key_id_format: 'There must be one key id: {partner}_{sandbox or production}_{quarter}.',
  timestamp_format:
    'There must be one timestamp: RFC 3339, in UTC as Z or +00:00, at most 9 fraction digits.',
  nonce_format: 'There must be one nonce: 64 lower-case hexadecimal digits.',
  signature_format: 'There must be one signature: base64 of 32 bytes, padding included.',
  body_sha256: 'The SHA-256 of the body is another one. Hash the very bytes that are sent.',
  environment: 'The key is one of production and this is the sandbox.',
  timestamp_window: 'The timestamp is more than 5 minutes off. Compare it with server_time.',
  signature:
    'No key of this id makes this signature over canonical_request. Compare that text with ' +
    'yours, byte by byte. If they are equal, the secret or the key id is not the right one.',
  key_active: 'The signature is right, but its key is revoked.',
} as const

export type CheckName = keyof typeof HELP
const CHECKS = Object.keys(HELP) as CheckName[]

export interface SignatureReport {
  /** All checks passed. Whether the nonce was used before is not among them. */
  readonly valid: boolean
  readonly checks: readonly CheckReport[]
  /** What we verify the signature over; null while a part of it is missing or malformed. */
  readonly canonical_request: string | null
  readonly body_sha256: string
  readonly server_time: string
}

export interface CheckReport {
  readonly check: CheckName
  readonly result: 'passed' | 'failed' | 'not_made'
  /** On failed ones. */
  readonly help?: string
}

export function judgeSignature(
  claim: SignatureClaim,
  lookup: (keyId: string) => KnownKey | undefined,
  now: Instant,
  environment: Environment = 'sandbox',
): SignatureReport {
  const canonical = canonicalOf(claim)
  const results = resultsOf(claim, canonical, lookup, now, environment)
  return {
    valid: results.key_active === true && !Object.values(results).includes(false),
    checks: CHECKS.map((check) => reportOf(check, results[check])),
    canonical_request: canonical ?? null,
    body_sha256: claim.bodyHash,
    server_time: toRfc3339(now),
  }
}

function canonicalOf(claim: SignatureClaim): string | undefined {
  const { method, path, timestamp, nonce, bodyHash } = claim
  const complete = isText(timestamp) && parseTimestamp(timestamp) && isText(nonce) && isNonce(nonce)
  return complete ? canonicalRequest({ method, path, timestamp, nonce, bodyHash }) : undefined
}

/** A check that is missing here was not made: one that it stands on failed. */
type Results = Partial<Record<CheckName, boolean>>

/** Keyed with something when the key is unknown. */
const NOBODYS_SECRET = signingKey('nobody')

function resultsOf(
  claim: SignatureClaim,
  canonical: string | undefined,
  lookup: (keyId: string) => KnownKey | undefined,
  now: Instant,
  environment: Environment,
): Results {
  const { keyId, timestamp, nonce, signature, bodyHash, claimedBodyHash } = claim
  const named = isText(keyId) ? parseKeyId(keyId) : undefined
  const at = isText(timestamp) ? parseTimestamp(timestamp) : undefined
  const results: Results = {
    key_id_format: named !== undefined,
    timestamp_format: at !== undefined,
    nonce_format: isText(nonce) && isNonce(nonce),
    signature_format: isText(signature) && isSignature(signature),
  }
  if (claimedBodyHash !== undefined) results.body_sha256 = claimedBodyHash === bodyHash
  if (at !== undefined) results.timestamp_window = Math.abs(now - at) <= TIMESTAMP_SKEW_MS
  if (named !== undefined) results.environment = named.environment === environment

  if (!isText(keyId) || results.environment !== true || canonical === undefined) return results
  if (!isText(signature) || results.signature_format !== true) return results
  const known = lookup(keyId)
  const matches = signatureMatches(known?.secret ?? NOBODYS_SECRET, canonical, signature)
  results.signature = known !== undefined && matches
  if (known === undefined || !matches) return results
  results.key_active = known.revokedAt === undefined || known.revokedAt > now
  return results
}

const isText = (value: HeaderValue): value is string => typeof value === 'string'

function reportOf(check: CheckName, passed: boolean | undefined): CheckReport {
  if (passed === undefined) return { check, result: 'not_made' }
  return passed ? { check, result: 'passed' } : { check, result: 'failed', help: HELP[check] }
}
