/**
 * POST /v1/sandbox/signature/check: reports which check of a signature fails. Takes no
 * authentication, consumes no nonce, sandbox only.
 *
 * A request with signature headers is checked itself; otherwise its body describes a signature.
 */
import { bodyHash } from '../../src/auth/canonical.js'
import { checkSignature, type SignatureClaim } from '../../src/auth/signature_check.js'
import { accepted, SANDBOX_ONLY, type Outcome } from '../../src/base/errors.js'
import type { BrandHeaders } from '../http/headers.js'
import { readBody } from '../decode/body.js'
import type { RequestContext } from '../http/request_context.js'
import type { LocalHandler } from '../routing/route.js'
import { checkSignatureCheck, type SignatureCheckBody } from '../../src/api/sandbox.js'

export const signatureCheck: LocalHandler = {
  answer: ({ request, environment, brandHeaders, partners, now }) => {
    if (environment !== 'sandbox') return SANDBOX_ONLY
    const claim = ownClaim(request, brandHeaders) ?? describedClaim(request.body)
    if (!claim.ok) return claim
    return accepted(JSON.stringify(checkSignature(claim.value, partners.key, now)))
  },
}

function ownClaim(
  request: RequestContext,
  names: BrandHeaders,
): Outcome<SignatureClaim> | undefined {
  const headers: Pick<SignatureClaim, 'keyId' | 'timestamp' | 'nonce' | 'signature'> = {
    keyId: request.header(names.keyId),
    timestamp: request.header(names.timestamp),
    nonce: request.header(names.nonce),
    signature: request.header(names.signature),
  }
  if (Object.values(headers).every((value) => value === undefined)) return undefined
  return accepted({
    ...headers,
    method: request.method,
    path: request.path,
    bodyHash: bodyHash(request.body),
    claimedBodyHash: undefined,
  })
}

function describedClaim(bytes: Buffer): Outcome<SignatureClaim> {
  const described = readBody(bytes, checkSignatureCheck)
  return described.ok ? accepted(claimOf(described.value)) : described
}

/** A signed path has no query, so a described one is cut. */
function claimOf(described: SignatureCheckBody): SignatureClaim {
  const { method, path, timestamp, nonce, signature, body, body_sha256 } = described
  return {
    method,
    path: path.split('?', 1).join(),
    keyId: described.key_id,
    timestamp,
    nonce,
    signature,
    bodyHash: body === undefined ? (body_sha256 ?? '') : bodyHash(Buffer.from(body)),
    claimedBodyHash: body === undefined ? undefined : body_sha256,
  }
}
