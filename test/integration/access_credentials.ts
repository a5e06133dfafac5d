/** Valid and invalid credentials: what each sends, and the kinds of routes that accept it. */
import { deriveKey } from '../../src/auth/master_key.js'
import type { TokenId } from '../../src/auth/secret_generation.js'
import { createTokenKeys, mintReceiptToken, mintSessionToken } from '../../src/auth/token.js'
import { tenantOf, type Environment, type IntentId, type PartnerId } from '../../src/base/ids.js'
import type { Auth } from '../../src/api/operation.js'
import { changedEnd } from '../support/changed_end.js'
import type { Headers } from '../support/raw_requests.js'
import { HOSTS, MASTER_KEY, type Tenant, type Resource } from './access_tenants.js'

/** A request without credentials. */
export interface PlainRequest {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface Credential {
  /** The kinds of routes that accept it. */
  readonly opens: readonly Auth[]
  readonly headers: (request: PlainRequest) => Headers
  /** Default: the owner's. */
  readonly host?: string
  /** Appended to the path. */
  readonly query?: string
}

/** The tenants and resources that credentials are made of. */
export interface CredentialContext {
  /** The owner of the resource, in the sandbox. */
  readonly owner: Tenant
  readonly ownerInProduction: Tenant
  /** The owner with a key that is revoked. */
  readonly revoked: Tenant
  readonly resource: Resource
  /** An intent of another user of the owner. */
  readonly otherIntent: Resource
  readonly otherPartnersIntent: Resource
}

const HMAC: readonly Auth[] = ['hmac', 'hmac_or_session']
const SESSION: readonly Auth[] = ['session', 'hmac_or_session']

export const signed =
  ({ client }: Tenant, extra: { timestamp?: string; nonce?: string } = {}) =>
  ({ method, path, body }: PlainRequest): Headers =>
    Object.entries(client.sign(method, path, body, extra).headers)

export const bearer = (token: string) => (): Headers => [['Authorization', `Bearer ${token}`]]

const minutesAway = (minutes: number): string =>
  new Date(Date.now() + minutes * 60_000).toISOString()

export function credentialsFor(context: CredentialContext): Readonly<Record<string, Credential>> {
  return { ...validCredentials(context), ...wrongSignatures(context), ...wrongTokens(context) }
}

function validCredentials({ owner, resource }: CredentialContext): Record<string, Credential> {
  const sign = signed(owner)
  const both = (token: string) => (request: PlainRequest) => [...sign(request), ...bearer(token)()]
  // Without an intent there is no token.
  const session = resource.sessionToken === '' ? [] : SESSION
  const receipt: readonly Auth[] = resource.receiptToken === '' ? [] : ['receipt']
  return {
    'a valid signature': { opens: HMAC, headers: sign },
    'a valid session token': { opens: session, headers: bearer(resource.sessionToken) },
    'a valid receipt token': { opens: receipt, headers: bearer(resource.receiptToken) },
    'a valid signature and an invalid token': { opens: ['hmac'], headers: both('x') },
  }
}

function wrongSignatures({
  owner,
  ownerInProduction,
  revoked,
}: CredentialContext): Record<string, Credential> {
  const sign = signed(owner)
  const wrong = (headers: Credential['headers'], more: Partial<Credential> = {}): Credential => ({
    opens: [],
    headers,
    ...more,
  })
  const changed = (name: string, change: (value: string) => string | undefined): Credential =>
    wrong((request) =>
      sign(request).flatMap(([each, value]) => {
        const other = each === name ? change(value) : value
        return other === undefined ? [] : [[each, other] as const]
      }),
    )
  const credentials: Record<string, Credential> = {
    nothing: wrong(() => []),
    'an unknown key': changed('X-Service-Key-Id', () => 'nobody_sandbox_2026q4'),
    'a revoked key': wrong(signed(revoked)),
    'a key of production in the sandbox': wrong(signed(ownerInProduction)),
    'a key of the sandbox in production': wrong(sign, { host: HOSTS.production[0] }),
    'a key of the sandbox at the legacy host of production': wrong(sign, {
      host: HOSTS.production[1],
    }),
    'a timestamp that is too old': wrong(signed(owner, { timestamp: minutesAway(-5.1) })),
    'a timestamp that is too new': wrong(signed(owner, { timestamp: minutesAway(5.5) })),
    'another method signed': wrong((request) => sign({ ...request, method: 'PUT' })),
    'another path signed': wrong((request) => sign({ ...request, path: `${request.path}/` })),
    'another body signed': wrong((request) => sign({ ...request, body: `${request.body} ` })),
    'base64 with other unused bits': changed('X-Service-Signature', withUnusedBits),
    'base64 without its padding': changed('X-Service-Signature', (text) => text.slice(0, -1)),
    'a nonce in capitals': changed('X-Service-Nonce', (text) => text.toUpperCase()),
    'a timestamp with an offset': changed('X-Service-Timestamp', () => '2026-11-21T07:00:00+07:00'),
    'the headers in the query': wrong(() => [], {
      query: `?X-Service-Key-Id=${owner.key.keyId}`,
    }),
  }
  for (const name of ['Key-Id', 'Timestamp', 'Nonce', 'Signature'].map((n) => `X-Service-${n}`)) {
    credentials[`without ${name}`] = changed(name, () => undefined)
    credentials[`with ${name} twice`] = wrong((request) => {
      const headers = sign(request)
      return [...headers, ...headers.filter(([each]) => each === name)]
    })
  }
  return credentials
}

/** Another base64 text of the same bytes: two bits of the last character are unused. */
function withUnusedBits(signature: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = alphabet.indexOf(signature.charAt(42))
  return `${signature.slice(0, 42)}${alphabet.charAt(last + 1)}=`
}

function wrongTokens(context: CredentialContext): Record<string, Credential> {
  const { owner, resource, otherIntent, otherPartnersIntent } = context
  const { sessionToken: session, receiptToken: receipt } = otherIntent
  const wrong = (token: string, more: Partial<Credential> = {}): Credential => ({
    opens: [],
    headers: bearer(token),
    ...more,
  })
  const asSubject = (life: number, of: Environment = owner.environment): string =>
    sessionTokenFor(owner.name, of, resource.id, life)
  const production = HOSTS.production[0]
  return {
    'a session token of another intent': wrong(session),
    'a session token of another partner': wrong(otherPartnersIntent.sessionToken),
    'an expired session token': wrong(asSubject(-1)),
    'an expired receipt token': wrong(
      receiptTokenFor(owner.name, 'sandbox', resource.receiptToken, -1),
    ),
    'a session token of production': wrong(asSubject(300, 'production')),
    'a receipt token of production': wrong(
      receiptTokenFor(owner.name, 'production', resource.receiptToken, 300),
    ),
    'a session token in production': wrong(asSubject(300), { host: production }),
    'a receipt token in production': wrong(receipt, { host: production }),
    'a session token of an unknown partner': wrong(
      sessionTokenFor('nobody', 'sandbox', resource.id, 300),
    ),
    'a token with another signature': wrong(changedEnd(session)),
    'a token with other claims': wrong(withPart(session, 1, partOf(receipt, 1))),
    'a receipt token with other claims': wrong(withPart(receipt, 1, partOf(session, 1))),
    'a token without an algorithm': wrong(
      withPart(withPart(asSubject(300), 0, base64url('{"alg":"none","typ":"JWT"}')), 2, ''),
    ),
    'two tokens': wrong(`${asSubject(300)} ${asSubject(300)}`),
    'no token': wrong(''),
    'a token in another scheme': {
      opens: [],
      headers: () => [['Authorization', `Token ${asSubject(300)}`]],
    },
    'a token in the query': {
      opens: [],
      headers: () => [],
      query: `?access_token=${asSubject(300)}&authorization=Bearer%20${asSubject(300)}`,
    },
  }
}

const partOf = (token: string, part: number): string => token.split('.')[part] ?? ''

const withPart = (token: string, part: 0 | 1 | 2, text: string): string => {
  const parts = token.split('.')
  parts[part] = text
  return parts.join('.')
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')

/** The stack's keys, to mint expired tokens. */
const KEYS = createTokenKeys([
  { kid: 'k1', secret: deriveKey({ kid: 'k1', bytes: MASTER_KEY }, 'tokens') },
])
const inSeconds = (life: number): number => Math.floor(Date.now() / 1_000) + life

export const sessionTokenFor = (
  partner: string,
  environment: Environment,
  intentId: string,
  life: number,
): string =>
  mintSessionToken(KEYS, 'k1', {
    intentId: intentId as IntentId,
    tenant: tenantOf(partner as PartnerId, environment),
    jti: 'A'.repeat(22) as TokenId,
    expiresAt: inSeconds(life),
  })

/** The `sub` of a receipt token; an arbitrary one without a token. */
function subjectOf(receiptToken: string): string {
  const [, payload] = receiptToken.split('.')
  if (payload === undefined) return 'A'.repeat(43)
  return (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub
}

/** For the user of another receipt token. */
export const receiptTokenFor = (
  partner: string,
  environment: Environment,
  like: string,
  life: number,
): string =>
  mintReceiptToken(KEYS, {
    tenant: tenantOf(partner as PartnerId, environment),
    subject: subjectOf(like),
    expiresAt: inSeconds(life),
  })
