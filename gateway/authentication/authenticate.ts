/**
 * Authenticates a request by signature, session token or receipt token.
 *
 * Owns: which proof a route takes, reading it from the headers. Does not own: signatures and tokens
 * (src/auth), used nonces and consumed tokens (processor).
 *
 * - Every failure is the same `authentication_failed`; the reason goes to the metrics only.
 * - Without a directory the answer is `configuration_error`, never `authentication_failed`; so is
 *   that of an unknown key or partner while the directory of a processor is missing.
 * - A session token is valid for its own intent, a receipt token for receipts of its own user, each
 *   in its own environment only.
 */
import { verifyReceiptToken, verifySessionToken, type TokenKeys } from '../../src/auth/token.js'
import { verifyRequest, type HeaderValue } from '../../src/auth/verify.js'
import { SECOND, type Clock, type Instant } from '../../src/base/clock.js'
import { accepted, refused, type Outcome } from '../../src/base/errors.js'
import { partsOfTenant, tenantOf, type Environment, type TenantId } from '../../src/base/ids.js'
import type { BrandHeaders } from '../http/headers.js'
import type { ClientAddress } from './client_address.js'
import type { Caller } from '../http/caller.js'
import type { RequestContext } from '../http/request_context.js'
import type { Directory, KnownPartner, Partners } from './partners.js'
import type { Auth } from '../../src/api/operation.js'

export interface AuthenticateOptions {
  readonly brandHeaders: BrandHeaders
  readonly clientAddress: ClientAddress
  readonly directory: Pick<Directory, 'partners' | 'isComplete'>
  readonly clock: Clock
  readonly onRefused: (reason: string) => void
}

export interface Authenticator {
  /** Whether the request carries any signature header, valid or not. */
  isSigned(request: RequestContext): boolean
  /** `id` is the path's parameter, which a session token must name. */
  authenticate(
    request: RequestContext,
    auth: Auth,
    environment: Environment,
    id: string,
  ): Outcome<Caller>
}

export const AUTHORIZATION = 'authorization'

export function createAuthenticator(options: AuthenticateOptions): Authenticator {
  const { brandHeaders, clientAddress, directory, clock, onRefused } = options

  const outcomeOf = (found: Caller | Reason): Outcome<Caller> => {
    if (typeof found !== 'string') return accepted(found)
    if (UNKNOWN.has(found) && !directory.isComplete()) return refused('configuration_error')
    onRefused(found)
    return refused('authentication_failed')
  }

  return {
    isSigned: (request) =>
      [brandHeaders.keyId, brandHeaders.timestamp, brandHeaders.nonce, brandHeaders.signature].some(
        (name) => request.header(name) !== undefined,
      ),
    authenticate: (request, auth, environment, id) => {
      const partners = directory.partners()
      if (partners === undefined) return refused('configuration_error')
      const now = clock.now()
      const call: ProofInput = { brandHeaders, clientAddress, request, environment, partners, now }
      const proof = auth === 'hmac_or_session' ? proofOf(request) : auth
      if (proof === 'hmac') return outcomeOf(signedCaller(call))
      const keys = partners.tokenKeys()
      if (keys === undefined) return refused('configuration_error')
      const token = tokenOf(request.header(AUTHORIZATION))
      if (token === undefined) return outcomeOf('token_missing')
      if (proof === 'receipt') return outcomeOf(receiptCaller(call, keys, token))
      return outcomeOf(sessionCaller(call, keys, token, id))
    },
  }
}

/** Why authentication failed; a label of the metrics. */
type Reason = string

/** The directory lacks the key or the partner. */
const UNKNOWN: ReadonlySet<Reason> = new Set([
  'key_unknown',
  'token_key_unknown',
  'token_of_unknown_partner',
])

/** The input of every proof. */
interface ProofInput {
  readonly brandHeaders: BrandHeaders
  readonly clientAddress: ClientAddress
  readonly request: RequestContext
  readonly environment: Environment
  readonly partners: Partners
  readonly now: Instant
}

function signedCaller(call: ProofInput): Caller | Reason {
  const { brandHeaders: names, clientAddress, request, environment, partners } = call
  const verified = verifyRequest(
    {
      method: request.method,
      path: request.path,
      body: request.body,
      keyId: request.header(names.keyId),
      timestamp: request.header(names.timestamp),
      nonce: request.header(names.nonce),
      signature: request.header(names.signature),
      environment,
      allowsAddress: (partner) =>
        environment === 'sandbox' || isAllowed(partners.partner(partner), clientAddress(request)),
    },
    partners.key,
    call.now,
  )
  if (!verified.ok) return verified.reason
  const { partner, keyId, nonce, signedAt } = verified
  return {
    tenant: tenantOf(partner, environment),
    signedBy: { key_id: keyId, nonce, signed_at: Math.floor(signedAt / SECOND) },
    sessionJti: '',
    receiptSubject: '',
    rateKey: keyId,
    ratePerSecond: partners.partner(partner)?.ratePerSecond ?? 0,
  }
}

/** The address is found for an unknown partner too: the time must not tell which ones there are. */
const isAllowed = (partner: KnownPartner | undefined, address: string): boolean =>
  partner?.allowsAddress(address) ?? true

function sessionCaller(
  call: ProofInput,
  keys: TokenKeys,
  token: string,
  id: string,
): Caller | Reason {
  const verified = verifySessionToken(keys, token, call.now)
  if (!verified.ok) return `token_${verified.reason}`
  const { intentId, tenant, jti } = verified.claims
  if (intentId !== id) return 'token_of_other_intent'
  const partner = partnerOf(call, tenant)
  if (typeof partner === 'string') return partner
  const app = call.request.header(call.brandHeaders.package)
  const allowed = partner.packages.size === 0 || (isText(app) && partner.packages.has(app))
  if (!allowed) return 'package_not_allowed'
  return {
    tenant,
    signedBy: null,
    sessionJti: jti,
    receiptSubject: '',
    rateKey: tenant,
    ratePerSecond: partner.ratePerSecond,
  }
}

function receiptCaller(call: ProofInput, keys: TokenKeys, token: string): Caller | Reason {
  const verified = verifyReceiptToken(keys, token, call.now)
  if (!verified.ok) return `token_${verified.reason}`
  const { tenant, subject } = verified.claims
  const partner = partnerOf(call, tenant)
  if (typeof partner === 'string') return partner
  return {
    tenant,
    signedBy: null,
    sessionJti: '',
    receiptSubject: subject,
    rateKey: tenant,
    ratePerSecond: partner.ratePerSecond,
  }
}

/** The partner of a token. */
function partnerOf({ environment, partners }: ProofInput, tenant: TenantId): KnownPartner | Reason {
  const of = partsOfTenant(tenant)
  if (of.environment !== environment) return 'token_of_other_environment'
  return partners.partner(of.partner) ?? 'token_of_unknown_partner'
}

/** Other schemes than Bearer are ignored; a repeated header counts as a token, and fails. */
function proofOf(request: RequestContext): 'hmac' | 'session' {
  const header = request.header(AUTHORIZATION)
  const holdsToken = isText(header) ? /^bearer\b/i.test(header) : header !== undefined
  return holdsToken ? 'session' : 'hmac'
}

const BEARER = /^bearer +([^ ]+)$/i

const tokenOf = (header: HeaderValue): string | undefined =>
  isText(header) ? BEARER.exec(header)?.[1] : undefined

const isText = (value: HeaderValue): value is string => typeof value === 'string'
