/**
 * POST /v1/sandbox/request/check: reports which check of a described request fails. Takes no
 * authentication, consumes no nonce, changes nothing, sandbox only.
 *
 * - The checks are those of the gateway. Checks that need the books, e.g. whether an intent exists
 *   or a nonce was used, are not made.
 * - A signature is checked by auth/signature_check, which reports an unknown key and a wrong secret
 *   alike.
 */
import { bodyHash } from '../../src/auth/canonical.js'
import { checkSignature, type SignatureReport } from '../../src/auth/signature_check.js'
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import { toRfc3339 } from '../../src/base/clock.js'
import { accepted, refused, SANDBOX_ONLY, type Refusal } from '../../src/base/errors.js'
import { createAuthenticator } from '../authentication/authenticate.js'
import type { Caller } from '../http/caller.js'
import { readBody } from '../decode/body.js'
import { errorStatus, messageOf } from '../http/error_response.js'
import type { RequestContext } from '../http/request_context.js'
import type { LocalHandler, LocalInput, RouteMatch } from '../routing/route.js'
import { checkRequestCheck, type RequestCheckBody } from '../../src/api/sandbox.js'

export const requestCheck: LocalHandler = {
  answer: (input) => {
    if (input.environment !== 'sandbox') return SANDBOX_ONLY
    const described = readBody(input.request.body, checkRequestCheck)
    return described.ok ? accepted(JSON.stringify(reportOn(input, described.value))) : described
  },
}

interface CheckReport {
  readonly check: string
  readonly result: 'passed' | 'failed' | 'not_made'
  readonly help?: string
}

/**
 * The checks in the order in which the service makes them; the first failure determines the answer.
 */
function reportOn(input: LocalInput, described: RequestCheckBody): object {
  const request = describedRequest(input.request, described)
  const match = input.find(request.method, request.path)
  const route = match.kind === 'no_route' ? refused(match.code) : null
  const proof = proofOf(input, request, match)
  const isDecoded = route === null && proof.caller !== null
  const content = isDecoded ? contentFault(request, match, proof.caller) : null
  // Without a signature an unknown path is reported; with one, authentication comes first.
  const takesPrecedence = route !== null && !proof.isSigned
  const refusal = (takesPrecedence ? route : null) ?? proof.refusal ?? route ?? content
  return {
    accepted: refusal === null,
    refusal: refusal === null ? null : refusalView(refusal, match),
    checks: [reportOf('route', route), ...proof.checks, ...contentReports(isDecoded, content)],
    canonical_request: proof.signature?.canonical_request ?? null,
    body_sha256: bodyHash(request.body),
    server_time: toRfc3339(input.now),
  }
}

function describedRequest(request: RequestContext, described: RequestCheckBody): RequestContext {
  const [path = '', ...query] = described.path.split('?')
  const headers = new Map<string, HeaderValue>()
  for (const [name, value] of Object.entries(described.headers ?? {})) {
    const key = name.toLowerCase()
    headers.set(key, headers.has(key) ? REPEATED : value)
  }
  return {
    requestId: request.requestId,
    startedAt: request.startedAt,
    method: described.method,
    path,
    query: query.join('?'),
    body: Buffer.from(described.body ?? ''),
    environment: 'sandbox',
    caller: undefined,
    trace: undefined,
    replayed: false,
    header: (name) => headers.get(name),
    peer: () => '',
    timeLeft: () => 1,
    postpone: () => undefined,
    answer: () => undefined,
    answerFile: () => undefined,
    refuse: () => undefined,
    echo: () => undefined,
  }
}

interface Proof {
  /** Null means that it is refused, or that the route takes no authentication. */
  readonly caller: Caller | null
  readonly refusal: Refusal | null
  readonly checks: readonly CheckReport[]
  readonly signature: SignatureReport | null
  /** Whether the request has any signature header. */
  readonly isSigned: boolean
}

const WITHOUT_PROOF: Proof = {
  caller: null,
  refusal: null,
  checks: [],
  signature: null,
  isSigned: false,
}

function proofOf(input: LocalInput, request: RequestContext, match: RouteMatch): Proof {
  if (match.kind === 'local' || match.kind === 'file') return WITHOUT_PROOF
  const { brandHeaders, partners, now } = input
  let reason = ''
  const authenticator = createAuthenticator({
    brandHeaders,
    clientAddress: () => '',
    directory: { partners: () => partners, isComplete: () => true },
    clock: { now: () => now },
    onRefused: (why) => (reason = why),
  })
  const auth = match.kind === 'operation' ? match.route.auth : 'hmac'
  const found = authenticator.authenticate(request, auth, 'sandbox', match.id)
  const caller = found.ok ? found.value : null
  const refusal = found.ok ? null : found
  const isSigned = authenticator.isSigned(request)
  const isToken = reason.startsWith('token') || reason.startsWith('package') || isTokenOf(caller)
  if (isToken || (refusal !== null && reason === '')) {
    const help = `Refused: ${reason.replaceAll('_', ' ')}.`
    const check = refusal === null ? reportOf('token', null) : failed('token', help)
    return { caller, refusal, checks: [check], signature: null, isSigned }
  }
  const signature = checkSignature(
    {
      method: request.method,
      path: request.path,
      keyId: request.header(brandHeaders.keyId),
      timestamp: request.header(brandHeaders.timestamp),
      nonce: request.header(brandHeaders.nonce),
      signature: request.header(brandHeaders.signature),
      bodyHash: bodyHash(request.body),
      claimedBodyHash: undefined,
    },
    partners.key,
    now,
  )
  const checks = signature.checks.filter(({ check }) => check !== 'body_sha256')
  return { caller, refusal, checks, signature, isSigned }
}

const isTokenOf = (caller: Caller | null): boolean => caller !== null && caller.signedBy === null

function contentFault(
  request: RequestContext,
  match: RouteMatch,
  caller: Caller | null,
): Refusal | null {
  if (match.kind !== 'operation' || caller === null) return null
  const { sessionJti, receiptSubject } = caller
  const decoded = match.route.handler.decode({ request, id: match.id, sessionJti, receiptSubject })
  return decoded.ok ? null : decoded
}

const CONTENT = ['idempotency_key', 'query', 'body'] as const

/** A violation names the part at fault. The parts after it are not checked. */
function contentReports(isDecoded: boolean, fault: Refusal | null): readonly CheckReport[] {
  if (!isDecoded) return CONTENT.map((check) => ({ check, result: 'not_made' }))
  if (fault === null) return CONTENT.map((check) => reportOf(check, null))
  const part = fault.violation?.pointer.split('/')[0] ?? ''
  const at = { header: 'idempotency_key', query: 'query' }[part] ?? 'body'
  return CONTENT.map((check) => {
    if (check === at) return reportOf(check, fault)
    return { check, result: part === '' && check !== 'body' ? 'passed' : 'not_made' }
  })
}

const reportOf = (check: string, fault: Refusal | null): CheckReport =>
  fault === null ? { check, result: 'passed' } : failed(check, messageOf(fault))

const failed = (check: string, help: string): CheckReport => ({ check, result: 'failed', help })

/** The answer that the service would give. */
const refusalView = (refusal: Refusal, match: RouteMatch): object => ({
  status: errorStatus(refusal.code, match.refusesAsConflict),
  code: refusal.code,
  message: messageOf(refusal),
  ...refusal.violation,
})
