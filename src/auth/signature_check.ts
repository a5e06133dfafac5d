/**
 * Explains why a signature does not verify: which check fails, for partners in the sandbox and for
 * operators.
 *
 * Owns: running the checks one by one, the help texts. Does not own: the decision for real requests
 * (auth/verify), the source of the claim (a gateway route, an operator's command).
 *
 * - Callers are unauthenticated. The report depends only on what they sent, with one exception:
 *   whether the key with that id makes this signature. An unknown key and a wrong secret give the
 *   same report at the same cost, so a caller cannot probe which keys exist.
 * - Only a caller who signs with a key learns that it is revoked.
 * - Only keys of the given environment are tried; at the gateway, the sandbox's.
 * - Nonces are neither consumed nor looked up: only the processor has the nonce table.
 */
import { canonicalRequest } from './canonical.js'
import { isNonce, parseKeyId, parseTimestamp } from './request_shape.js'
import { isSignature, signatureMatches, signingKey } from './signature.js'
import type { HeaderValue, KnownKey, SignedRequest } from './verify.js'
import { TIMESTAMP_SKEW_MS } from '../base/constants.js'
import { toRfc3339, type Instant } from '../base/clock.js'
import type { Environment } from '../base/ids.js'

/** The parts of a signed request to check. */
export interface SignatureClaim extends Pick<
  SignedRequest,
  'method' | 'path' | 'keyId' | 'timestamp' | 'nonce' | 'signature'
> {
  /** From `bodyHash` of auth/canonical. */
  readonly bodyHash: string
  /** The body's hash as the caller computed it. */
  readonly claimedBodyHash: string | undefined
}

/** The checks in order, each with the help text for a failure. */
const HELP = {
  key_id_format: 'There must be one key id: {partner}_{sandbox or production}_{quarter}.',
  timestamp_format:
    'There must be one timestamp: RFC 3339, in UTC as Z or +00:00, at most 9 fraction digits.',
  nonce_format: 'There must be one nonce: 64 lower-case hexadecimal digits.',
  signature_format: 'There must be one signature: base64 of 32 bytes, padding included.',
  body_sha256: 'The SHA-256 of the body differs. Hash exactly the bytes that are sent.',
  environment: 'This is a production key, and this is the sandbox.',
  timestamp_window: 'The timestamp is more than 5 minutes off. Compare it with server_time.',
  signature:
    'No key with this id makes this signature over canonical_request. Compare that text with ' +
    'yours byte by byte. If they are equal, the secret or the key id is wrong.',
  key_active: 'The signature is right, but its key is revoked.',
} as const

export type CheckName = keyof typeof HELP
const CHECKS = Object.keys(HELP) as CheckName[]

export interface SignatureReport {
  /** All checks passed. Reuse of the nonce is not checked. */
  readonly valid: boolean
  readonly checks: readonly CheckReport[]
  /** The text under the signature; null while a part is missing or malformed. */
  readonly canonical_request: string | null
  readonly body_sha256: string
  readonly server_time: string
}

export interface CheckReport {
  readonly check: CheckName
  readonly result: 'passed' | 'failed' | 'not_made'
  /** Only for failed checks. */
  readonly help?: string
}

export function checkSignature(
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

/** A missing check was not made, because a check that it depends on failed. */
type Results = Partial<Record<CheckName, boolean>>

/** Used for an unknown key. */
const DUMMY_SECRET = signingKey('unknown key')

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
  const matches = signatureMatches(known?.secret ?? DUMMY_SECRET, canonical, signature)
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
