/**
 * POST /v1/sandbox/signature/check: which check of a signature fails. Asks for no proof, burns no
 * nonce, and is not there in production.
 *
 * A request with signature headers asks about itself; else its body describes a signature.
 */
import { bodyHash } from '../../src/auth/canonical.js'
import { judgeSignature, type SignatureClaim } from '../../src/auth/signature_check.js'
import { accepted, refused, type Outcome } from '../../src/base/errors.js'
import type { BrandHeaders } from '../brand_headers.js'
import { readBody } from '../decode/body.js'
import type { Exchange } from '../exchange.js'
import type { LocalHandler } from '../route.js'
import { checkSignatureCheck, type SignatureCheckBody } from '../schemas/sandbox.js'

export const sandboxSignatureCheck: LocalHandler = {
  answer: ({ exchange, environment, brandHeaders, partners, now }) => {
    if (environment !== 'sandbox') return refused('invalid_request')
    const claim = ownClaim(exchange, brandHeaders) ?? describedClaim(exchange.body)
    if (!claim.ok) return claim
    return accepted(JSON.stringify(judgeSignature(claim.value, partners.key, now)))
  },
}

function ownClaim(exchange: Exchange, names: BrandHeaders): Outcome<SignatureClaim> | undefined {
  const headers: Pick<SignatureClaim, 'keyId' | 'timestamp' | 'nonce' | 'signature'> = {
    keyId: exchange.header(names.keyId),
    timestamp: exchange.header(names.timestamp),
    nonce: exchange.header(names.nonce),
    signature: exchange.header(names.signature),
  }
  if (Object.values(headers).every((value) => value === undefined)) return undefined
  return accepted({
    ...headers,
    method: exchange.method,
    path: exchange.path,
    bodyHash: bodyHash(exchange.body),
    claimedBodyHash: undefined,
  })
}

function describedClaim(bytes: Buffer): Outcome<SignatureClaim> {
  const described = readBody(bytes, checkSignatureCheck)
  return described.ok ? accepted(claimOf(described.value)) : described
}

/** Signed paths have no query, so one that is described with it is cut as ours are. */
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
