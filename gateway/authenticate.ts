/**
 * Who is calling.
 *
 * Owns: which proof a route takes and reading it from the headers. Does not own: signatures and
 * tokens themselves (src/auth), nonces and consumed tokens (processor).
 *
 * G1. Every failure is the same `authentication_failed`; the reason goes to the metrics only.
 * G2. Without a directory nobody is authenticated and nobody is told that he failed:
 *     `configuration_error`.
 * G3. A session token opens its own intent and a receipt token the receipts of its own user, each
 *     in its own environment, and nothing else.
 */
import { bodyHash } from '../src/auth/canonical.js'
import { verifyReceiptToken, verifySessionToken } from '../src/auth/token.js'
import { verifyRequest, type HeaderValue } from '../src/auth/verify.js'
import type { Clock } from '../src/base/clock.js'
import { accepted, refused, type Outcome } from '../src/base/errors.js'
import { partsOfTenant, tenantOf, type Environment, type TenantId } from '../src/base/ids.js'
import type { SignedBy } from '../protos/types/causeway/v1/SignedBy.js'
import type { BrandHeaders } from './brand_headers.js'
import type { ClientAddress } from './client_address.js'
import type { Directory } from './directory.js'
import type { Exchange } from './exchange.js'
import type { KnownPartner, Partners } from './partners.js'
import type { Auth } from './route.js'

export interface Caller {
  readonly tenant: TenantId
  /** The nonce to burn; null on calls with a token. */
  readonly signedBy: SignedBy | null
  /** The session token's id; empty on other calls. */
  readonly sessionJti: string
  /** Whose receipts the receipt token opens; empty on other calls. */
  readonly receiptSubject: string
  /** Whose rate this call counts against: the key's, or the tenant's for all its apps together. */
  readonly rateKey: string
  /** 0: the default. */
  readonly ratePerSecond: number
}

export interface AuthenticateOptions {
  readonly brandHeaders: BrandHeaders
  readonly clientAddress: ClientAddress
  readonly directory: Directory
  readonly clock: Clock
  readonly onRefused: (reason: string) => void
}

export interface Authenticator {
  /** Whether the request claims to be signed, rightly or not. */
  isSigned(exchange: Exchange): boolean
  /** `id` is the path's parameter, which a session token must name. */
  authenticate(
    exchange: Exchange,
    auth: Auth,
    environment: Environment,
    id: string,
  ): Outcome<Caller>
}

export const AUTHORIZATION = 'authorization'
const BEARER = /^bearer +([^ ]+)$/i

export function createAuthenticator(options: AuthenticateOptions): Authenticator {
  const { directory, clock, clientAddress, brandHeaders: names } = options

  const fail = (reason: string): Outcome<Caller> => {
    options.onRefused(reason)
    return refused('authentication_failed')
  }

  const signed = (
    exchange: Exchange,
    environment: Environment,
    partners: Partners,
  ): Outcome<Caller> => {
    const verdict = verifyRequest(
      {
        method: exchange.method,
        path: exchange.path,
        bodyHash: bodyHash(exchange.body),
        keyId: exchange.header(names.keyId),
        timestamp: exchange.header(names.timestamp),
        nonce: exchange.header(names.nonce),
        signature: exchange.header(names.signature),
        environment,
        allowsAddress: (partner, of) =>
          of === 'sandbox' ||
          (partners.partner(partner)?.allowsAddress(clientAddress(exchange)) ?? true),
      },
      partners.key,
      clock.now(),
    )
    if (!verdict.ok) return fail(verdict.reason)
    const { partner, keyId, nonce } = verdict
    return accepted({
      tenant: tenantOf(partner, environment),
      signedBy: { key_id: keyId, nonce },
      sessionJti: '',
      receiptSubject: '',
      rateKey: keyId,
      ratePerSecond: partners.partner(partner)?.ratePerSecond ?? 0,
    })
  }

  const session = (
    exchange: Exchange,
    environment: Environment,
    id: string,
    partners: Partners,
  ): Outcome<Caller> => {
    const token = tokenOf(exchange.header(AUTHORIZATION))
    if (token === undefined) return fail('token_missing')
    const keys = partners.tokenKeys()
    if (keys === undefined) return refused('configuration_error')
    const verdict = verifySessionToken(keys, token, clock.now())
    if (!verdict.ok) return fail(`token_${verdict.reason}`)
    const { intentId, tenant, jti } = verdict.claims
    if (intentId !== id) return fail('token_of_other_intent')
    const partner = partnerOf(tenant, environment, partners)
    if (typeof partner === 'string') return fail(partner)
    const app = exchange.header(names.package)
    if (partner.packages.size > 0 && !(typeof app === 'string' && partner.packages.has(app))) {
      return fail('package_not_allowed')
    }
    return accepted({
      tenant,
      signedBy: null,
      sessionJti: jti,
      receiptSubject: '',
      rateKey: tenant,
      ratePerSecond: partner.ratePerSecond,
    })
  }

  const receipt = (
    exchange: Exchange,
    environment: Environment,
    partners: Partners,
  ): Outcome<Caller> => {
    const token = tokenOf(exchange.header(AUTHORIZATION))
    if (token === undefined) return fail('token_missing')
    const keys = partners.tokenKeys()
    if (keys === undefined) return refused('configuration_error')
    const verdict = verifyReceiptToken(keys, token, clock.now())
    if (!verdict.ok) return fail(`token_${verdict.reason}`)
    const { tenant, subject } = verdict.claims
    const partner = partnerOf(tenant, environment, partners)
    if (typeof partner === 'string') return fail(partner)
    return accepted({
      tenant,
      signedBy: null,
      sessionJti: '',
      receiptSubject: subject,
      rateKey: tenant,
      ratePerSecond: partner.ratePerSecond,
    })
  }

  return {
    isSigned: (exchange) =>
      [names.keyId, names.timestamp, names.nonce, names.signature].some(
        (name) => exchange.header(name) !== undefined,
      ),
    authenticate: (exchange, auth, environment, id) => {
      const partners = directory.partners()
      if (partners === undefined) return refused('configuration_error')
      if (auth === 'receipt') return receipt(exchange, environment, partners)
      const bySession = auth === 'session' || (auth === 'hmac_or_session' && mayHoldToken(exchange))
      return bySession
        ? session(exchange, environment, id, partners)
        : signed(exchange, environment, partners)
    },
  }
}

/** The partner that a token speaks for, or why it does not here. */
function partnerOf(
  tenant: TenantId,
  environment: Environment,
  partners: Partners,
): KnownPartner | 'token_of_other_environment' | 'token_of_unknown_partner' {
  const of = partsOfTenant(tenant)
  if (of.environment !== environment) return 'token_of_other_environment'
  return partners.partner(of.partner) ?? 'token_of_unknown_partner'
}

/** Other schemes are not ours to judge; a repeated header is, and fails. */
function mayHoldToken(exchange: Exchange): boolean {
  const header = exchange.header(AUTHORIZATION)
  return typeof header === 'string' ? /^bearer\b/i.test(header) : header !== undefined
}

const tokenOf = (header: HeaderValue): string | undefined =>
  typeof header === 'string' ? BEARER.exec(header)?.[1] : undefined
