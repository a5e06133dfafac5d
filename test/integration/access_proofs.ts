/**
 * Proofs of who is calling, good ones and wrong ones, as a stranger with every means but the
 * secrets would send them.
 *
 * Owns: what each sends and which routes it opens. Does not own: the answers.
 */
import { deriveKey } from '../../src/auth/master_key.js'
import type { TokenId } from '../../src/auth/secret_generation.js'
import { createTokenKeys, mintReceiptToken, mintSessionToken } from '../../src/auth/token.js'
import { tenantOf, type Environment, type IntentId, type PartnerId } from '../../src/base/ids.js'
import type { Auth } from '../../gateway/routing/route.js'
import { HOSTS, MASTER_KEY, type Headers, type Party, type Subject } from './access_parties.js'

/** A call before its proof. */
export interface Bare {
  readonly method: string
  readonly path: string
  readonly body: string
}

export interface Proof {
  /** The kinds of routes that it opens. */
  readonly opens: readonly Auth[]
  readonly headers: (bare: Bare) => Headers
  /** Left out: the owner's. */
  readonly host?: string
  /** Sent behind the path. */
  readonly query?: string
}

/** Everybody who takes part. */
export interface DemoContext {
  /** Whose the subject is, in the sandbox. */
  readonly owner: Party
  readonly ownerInProduction: Party
  /** The owner with a key that is revoked. */
  readonly revoked: Party
  readonly subject: Subject
  /** The owner's too, of another user. */
  readonly otherIntent: Subject
  readonly strangersIntent: Subject
}

const HMAC: readonly Auth[] = ['hmac', 'hmac_or_session']
const SESSION: readonly Auth[] = ['session', 'hmac_or_session']

export const signed =
  ({ client }: Party, extra: { timestamp?: string; nonce?: string } = {}) =>
  ({ method, path, body }: Bare): Headers =>
    Object.entries(client.sign(method, path, body, extra).headers)

export const bearing = (token: string) => (): Headers => [['Authorization', `Bearer ${token}`]]

const minutesAway = (minutes: number): string =>
  new Date(Date.now() + minutes * 60_000).toISOString()

/** Those that open something, and those that are nearly right. */
export function proofsOf(demo: DemoContext): Readonly<Record<string, Proof>> {
  return { ...goodProofs(demo), ...wrongSignatures(demo), ...wrongTokens(demo) }
}

function goodProofs({ owner, subject }: DemoContext): Record<string, Proof> {
  const sign = signed(owner)
  const both = (token: string) => (bare: Bare) => [...sign(bare), ...bearing(token)()]
  // Without an intent there is no token to begin with.
  const session = subject.sessionToken === '' ? [] : SESSION
  const receipt: readonly Auth[] = subject.receiptToken === '' ? [] : ['receipt']
  return {
    'a good signature': { opens: HMAC, headers: sign },
    'a good session token': { opens: session, headers: bearing(subject.sessionToken) },
    'a good receipt token': { opens: receipt, headers: bearing(subject.receiptToken) },
    'a good signature beside a bad token': { opens: ['hmac'], headers: both('x') },
  }
}

function wrongSignatures({
  owner,
  ownerInProduction,
  revoked,
}: DemoContext): Record<string, Proof> {
  const sign = signed(owner)
  const wrong = (headers: Proof['headers'], more: Partial<Proof> = {}): Proof => ({
    opens: [],
    headers,
    ...more,
  })
  const changed = (name: string, change: (value: string) => string | undefined): Proof =>
    wrong((bare) =>
      sign(bare).flatMap(([each, value]) => {
        const other = each === name ? change(value) : value
        return other === undefined ? [] : [[each, other] as const]
      }),
    )
  const proofs: Record<string, Proof> = {
    nothing: wrong(() => []),
    'an unknown key': changed('X-Service-Key-Id', () => 'nobody_sandbox_2026q4'),
    'a revoked key': wrong(signed(revoked)),
    'a key of production in the sandbox': wrong(signed(ownerInProduction)),
    'a key of the sandbox in production': wrong(sign, { host: HOSTS.production[0] }),
    'and at its older name': wrong(sign, { host: HOSTS.production[1] }),
    'a timestamp that is too old': wrong(signed(owner, { timestamp: minutesAway(-5.1) })),
    'a timestamp that is too new': wrong(signed(owner, { timestamp: minutesAway(5.5) })),
    'another method signed': wrong((bare) => sign({ ...bare, method: 'PUT' })),
    'another path signed': wrong((bare) => sign({ ...bare, path: `${bare.path}/` })),
    'another body signed': wrong((bare) => sign({ ...bare, body: `${bare.body} ` })),
    'base64 that is spelled otherwise': changed('X-Service-Signature', respelt),
    'base64 without its padding': changed('X-Service-Signature', (text) => text.slice(0, -1)),
    'a nonce in capitals': changed('X-Service-Nonce', (text) => text.toUpperCase()),
    'a timestamp with an offset': changed('X-Service-Timestamp', () => '2026-11-21T07:00:00+07:00'),
    'the headers in the query': wrong(() => [], {
      query: `?X-Service-Key-Id=${owner.key.keyId}`,
    }),
  }
  for (const name of ['Key-Id', 'Timestamp', 'Nonce', 'Signature'].map((n) => `X-Service-${n}`)) {
    proofs[`without ${name}`] = changed(name, () => undefined)
    proofs[`with ${name} twice`] = wrong((bare) => {
      const headers = sign(bare)
      return [...headers, ...headers.filter(([each]) => each === name)]
    })
  }
  return proofs
}

/** The same bytes in another text: the last character carries two bits that nobody reads. */
function respelt(signature: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = alphabet.indexOf(signature.charAt(42))
  return `${signature.slice(0, 42)}${alphabet.charAt(last + 1)}=`
}

function wrongTokens(demo: DemoContext): Record<string, Proof> {
  const { owner, subject, otherIntent, strangersIntent } = demo
  const { sessionToken: session, receiptToken: receipt } = otherIntent
  const wrong = (token: string, more: Partial<Proof> = {}): Proof => ({
    opens: [],
    headers: bearing(token),
    ...more,
  })
  const asSubject = (life: number, of: Environment = owner.environment): string =>
    sessionTokenFor(owner.name, of, subject.id, life)
  const production = HOSTS.production[0]
  return {
    'a session token of another intent': wrong(session),
    'a session token of a stranger': wrong(strangersIntent.sessionToken),
    'an expired session token': wrong(asSubject(-1)),
    'an expired receipt token': wrong(
      receiptTokenFor(owner.name, 'sandbox', subject.receiptToken, -1),
    ),
    'a session token of production': wrong(asSubject(300, 'production')),
    'a receipt token of production': wrong(
      receiptTokenFor(owner.name, 'production', subject.receiptToken, 300),
    ),
    'a session token in production': wrong(asSubject(300), { host: production }),
    'a receipt token in production': wrong(receipt, { host: production }),
    'a session token of nobody': wrong(sessionTokenFor('nobody', 'sandbox', subject.id, 300)),
    'a token with another signature': wrong(`${session.slice(0, -2)}AA`),
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

/** The stack's own keys, to make what cannot be waited for. */
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

/** The subject of a receipt token; an arbitrary one without a token. */
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
