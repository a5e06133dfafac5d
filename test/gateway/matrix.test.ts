/**
 * Every route with every proof: which are accepted, and that all others get identical bytes.
 *
 * Authentication precedes bodies and states, so no route needs a body here; an accepted request may
 * still end as a 400. A route added to the table is covered automatically.
 */
import { createHmac } from 'node:crypto'
import t from 'tap'
import type { PartnerUpdate } from '../../protos/types/causeway/internal/v1/PartnerUpdate.js'
import type { TenantId } from '../../src/base/ids.js'
import { ROUTES } from '../../gateway/app.js'
import type { Auth } from '../../src/api/operation.js'
import { changedEnd } from '../support/changed_end.js'
import type { AnyRoute } from '../../gateway/routing/route.js'
import {
  bearer,
  bytesOf,
  roundTrip,
  INTENT,
  KEY_ID,
  OTHER_KEY_ID,
  PRODUCTION_KEY_ID,
  receiptBearer,
  SECRET,
  signedHeaders,
  snapshot,
  statusOf,
  TENANT,
  type Signed,
} from './signing_partner.js'
import { startGateway, type Running } from './running_gateway.js'
import { refuseWith } from './processor_stub.js'

const SANDBOX = 'sandbox.example'
const PRODUCTION = 'api.example'
const OTHER_INTENT = 'pi_01M7Y8R76ZBRBZPA32270W80C4'
const REVOKED_KEY_ID = 'acme_sandbox_2026q3'
const FENCED_KEY_ID = 'umbrella_production_2026q4'

const key = (key_id: string, environment = 'sandbox', revoked_at = 0) => ({
  ...{ key_id, environment, secret: SECRET, revoked_at },
})

const PARTNERS: PartnerUpdate = {
  ...snapshot(),
  partners: [
    {
      partner_id: 'acme',
      keys: [key(KEY_ID), key(PRODUCTION_KEY_ID, 'production'), key(REVOKED_KEY_ID, 'sandbox', 1)],
    },
    {
      partner_id: 'umbrella',
      keys: [key(OTHER_KEY_ID), key(FENCED_KEY_ID, 'production')],
      allowed_ips: ['203.0.113.0/24'],
      packages: ['com.umbrella.app'],
    },
  ],
}

type Headers = Readonly<Record<string, string>>

interface Proof {
  readonly headers: (target: { method: string; path: string }) => Headers
  /** The route kinds that accept it. */
  readonly opens: readonly Auth[]
  readonly host?: string
  /** Appended to the path. */
  readonly query?: string
}

const signature = (change: Partial<Signed>, opens: readonly Auth[] = []): Proof => ({
  headers: (target) => signedHeaders({ ...target, ...change }),
  opens,
})

const token = (Authorization: string, opens: readonly Auth[] = []): Proof => ({
  headers: () => ({ Authorization }),
  opens,
})

/** A signature and a token in one request. */
const both = (change: Partial<Signed>, Authorization: string, opens: readonly Auth[]): Proof => ({
  headers: (target) => ({ ...signedHeaders({ ...target, ...change }), Authorization }),
  opens,
})

/** A valid signature with one header changed, added or omitted. */
const changed = (name: string, value: string | undefined): Proof => ({
  headers: (target) => {
    const headers: Record<string, string> = { ...signedHeaders(target) }
    if (value === undefined) delete headers[name]
    else headers[name] = value
    return headers
  },
  opens: [],
})

const at = (offsetMs: number): string => new Date(Date.now() + offsetMs).toISOString()

/** The token with one of its three parts replaced. */
function forged(authorization: string, part: 0 | 1 | 2, text: string): string {
  const parts = authorization.slice('Bearer '.length).split('.')
  parts[part] = text
  return `Bearer ${parts.join('.')}`
}

const base64url = (text: string): string => Buffer.from(text).toString('base64url')
const partOf = (authorization: string, part: number): string =>
  authorization.slice('Bearer '.length).split('.')[part] ?? ''

/** A well-formed session token, signed with a foreign key. */
function signedByEve(): string {
  const header = base64url('{"alg":"HS256","kid":"k1","typ":"JWT"}')
  const input = `${header}.${partOf(bearer(INTENT), 1)}`
  return `Bearer ${input}.${createHmac('sha256', 'eve').update(input).digest('base64url')}`
}

const NOTHING: Proof = { headers: () => ({}), opens: [] }
const EVE = { secret: 'sk_of_eve' }
const HMAC: readonly Auth[] = ['hmac', 'hmac_or_session']
const SESSION: readonly Auth[] = ['session', 'hmac_or_session']
const withoutSignature = forged(bearer(INTENT), 2, '')

const PROOFS: Readonly<Record<string, Proof>> = {
  'a valid signature': signature({}, HMAC),
  'a valid signature of another partner': signature({ keyId: OTHER_KEY_ID }, HMAC),
  'a valid session token': token(bearer(INTENT), SESSION),
  'a valid receipt token': token(receiptBearer(), ['receipt']),
  'a valid signature, and another scheme': both({}, 'Basic eDp5', HMAC),
  'a valid signature, and an invalid token': both({}, 'Bearer x', ['hmac']),
  'a valid signature, and a scheme without a token': both({}, 'Bearer', ['hmac']),
  'an invalid signature, and a valid session token': both(EVE, bearer(INTENT), SESSION),

  nothing: NOTHING,
  'another secret': signature(EVE),
  'an unknown key': signature({ keyId: 'nobody_sandbox_2026q4' }),
  'a revoked key': signature({ keyId: REVOKED_KEY_ID }),
  'a key of production in the sandbox': signature({ keyId: PRODUCTION_KEY_ID }),
  'a key of the sandbox in production': { ...signature({}), host: PRODUCTION },
  'a key outside its addresses': { ...signature({ keyId: FENCED_KEY_ID }), host: PRODUCTION },
  'a timestamp that is too old': signature({ timestamp: at(-301_000) }),
  'a timestamp that is too new': signature({ timestamp: at(3_600_000) }),
  'a timestamp of a day that does not exist': signature({ timestamp: '2026-02-30T00:00:00Z' }),
  'a timestamp with an offset': signature({ timestamp: at(0).replace('Z', '+07:00') }),
  'a timestamp with a lower-case t': signature({ timestamp: at(0).replace('T', 't') }),
  'an offset without a colon': signature({ timestamp: at(0).replace('Z', '+0000') }),
  'a timestamp without seconds': signature({ timestamp: `${at(0).slice(0, 16)}Z` }),
  'a timestamp without an offset': signature({ timestamp: at(0).slice(0, -1) }),
  'a signed nonce in capitals': signature({ nonce: 'AB'.repeat(32) }),
  'a short nonce': signature({ nonce: 'ab'.repeat(31) }),
  'a signature for another method': signature({ method: 'PUT' }),
  'a signature for another path': signature({ path: '/v1/other' }),
  'a signature for a body that is missing': signature({ body: '{}' }),
  'no key id': changed('X-Service-Key-Id', undefined),
  'no timestamp': changed('X-Service-Timestamp', undefined),
  'no nonce': changed('X-Service-Nonce', undefined),
  'no signature': changed('X-Service-Signature', undefined),
  'another nonce than the signed one': changed('X-Service-Nonce', 'ab'.repeat(32)),
  'a nonce in capitals': changed('X-Service-Nonce', 'AB'.repeat(32)),
  'a timestamp without a zone': changed('X-Service-Timestamp', '2026-11-21T00:00:00'),
  'a signature that is not base64': changed('X-Service-Signature', '*'.repeat(44)),
  'a signature without padding': changed('X-Service-Signature', 'A'.repeat(43)),

  'an expired session token': token(bearer(INTENT, -1)),
  'an expired receipt token': token(receiptBearer(-1)),
  'a session token of another intent': token(bearer(OTHER_INTENT)),
  'a session token in production': { ...token(bearer(INTENT)), host: PRODUCTION },
  'a receipt token in production': { ...token(receiptBearer()), host: PRODUCTION },
  'a session token of production': token(bearer(INTENT, 300, 'acme_production' as TenantId)),
  'a receipt token of production': token(receiptBearer(300, 'acme_production' as TenantId)),
  'a session token of an unknown tenant': token(bearer(INTENT, 300, 'nobody_sandbox' as TenantId)),
  'a receipt token of an unknown tenant': token(receiptBearer(300, 'nobody_sandbox' as TenantId)),
  'a session token from an unknown app': token(bearer(INTENT, 300, 'umbrella_sandbox' as TenantId)),
  'a token signed with another key': token(signedByEve()),
  'a token without an algorithm': token(
    forged(withoutSignature, 0, base64url('{"alg":"none","typ":"JWT"}')),
  ),
  'a token without a signature': token(withoutSignature),
  'a token with a header of its own': token(
    forged(bearer(INTENT), 0, base64url('{"alg":"HS256"}')),
  ),
  'a session token with the claims of a receipt': token(
    forged(bearer(INTENT), 1, partOf(receiptBearer(), 1)),
  ),
  'a receipt token with the claims of a session': token(
    forged(receiptBearer(), 1, partOf(bearer(INTENT), 1)),
  ),
  'a token with a changed end': token(changedEnd(bearer(INTENT))),
  'a token with one more character': token(`${bearer(INTENT)}A`),
  'a receipt token with one more character': token(`${receiptBearer()}A`),
  'a malformed token': token('Bearer x'),
  'no token after Bearer': token('Bearer'),
  'no token after Bearer and a space': token('Bearer '),
  'two tokens': token(`${bearer(INTENT)} ${bearer(INTENT)}`),
  'a session token in another scheme': token(bearer(INTENT).replace('Bearer', 'Token')),
  'a session token in the query': {
    ...NOTHING,
    query: `?access_token=${bearer(INTENT).slice('Bearer '.length)}`,
  },
  'the signature headers in the query': { ...NOTHING, query: `?X-Service-Key-Id=${KEY_ID}` },
}

const proven = ROUTES.filter((route) => route.auth !== 'none')
const pathOf = ({ path }: AnyRoute, id = INTENT): string => path.replace(/\{[a-z_]+\}/, id)

const start = (t: Parameters<typeof startGateway>[0]): Promise<Running> =>
  startGateway(t, {
    partners: PARTNERS,
    environment: { SANDBOX_HOSTS: SANDBOX, PRODUCTION_HOSTS: PRODUCTION, RATE_LIMIT: 'off' },
  })

async function send(port: number, route: AnyRoute, proof: Proof, id = INTENT): Promise<string> {
  const path = pathOf(route, id)
  const { method } = route
  const headers = proof.headers({ method, path })
  const request = { method, path: path + (proof.query ?? ''), unsigned: true, headers }
  return (await roundTrip(port, bytesOf(request, proof.host ?? SANDBOX), 5_000)).text
}

/** A response without request id and date. */
const comparable = (text: string): string =>
  text.replace(/req_[0-9A-Z]{26}/g, 'req').replace(/Date: [^\r]+/, 'Date')

t.test('accepted proofs per route, and one 401 for all others', async (t) => {
  const gateway = await start(t)
  const refusals = new Set<string>()
  for (const route of proven) {
    for (const [what, proof] of Object.entries(PROOFS)) {
      const before = gateway.processorStub.commands.length
      const text = await send(gateway.port, route, proof)
      const passes = proof.opens.includes(route.auth)
      const name = `${route.method} ${route.path} with ${what}`
      t.equal(statusOf(text) === 401, !passes, name)
      if (passes) continue
      refusals.add(comparable(text))
      t.equal(gateway.processorStub.commands.length, before, `${name}: no command is sent`)
    }
  }
  t.equal(refusals.size, 1, 'equal except for the request id and the date')
  t.match([...refusals][0], /^HTTP\/1\.1 401 Unauthorized\r\n/)
  t.match(await gateway.metrics(), /_authentication_refusals_total\{reason="key_unknown"\} [1-9]/)
})

t.test('a caller reaches its own data only, whatever the path names', async (t) => {
  const gateway = await start(t)
  const callers: readonly [Proof, string][] = [
    [signature({}, HMAC), TENANT],
    [signature({ keyId: OTHER_KEY_ID }, HMAC), 'umbrella_sandbox'],
    [{ ...signature({ keyId: PRODUCTION_KEY_ID }, HMAC), host: PRODUCTION }, 'acme_production'],
    [token(bearer(INTENT), SESSION), TENANT],
    [token(receiptBearer(), ['receipt']), TENANT],
  ]
  for (const route of proven) {
    for (const [proof, tenant] of callers) {
      const before = gateway.processorStub.commands.length
      await send(gateway.port, route, proof)
      for (const command of gateway.processorStub.commands.slice(before)) {
        t.equal(command.tenant, tenant, `${route.method} ${route.path} as ${tenant}`)
      }
    }
  }
  t.ok(gateway.processorStub.commands.length >= proven.length)
})

t.test('unknown, foreign and malformed ids are one and the same 404', async (t) => {
  const gateway = await start(t)
  gateway.processorStub.script = refuseWith('payment_intent_not_found')
  const ids = [INTENT, OTHER_INTENT, 'pi_', 'x', '%00', '..', '%2e%2e', `pi_${'0'.repeat(500)}`]
  const answers = new Set<string>()
  const routes = proven.filter(({ path }) => path.startsWith('/v1/payment_intents/'))
  for (const route of routes) {
    for (const id of ids) {
      for (const proof of [
        signature({}, HMAC),
        signature({ keyId: OTHER_KEY_ID }, HMAC),
        token(bearer(id), SESSION),
        token(receiptBearer(), ['receipt']),
      ]) {
        if (!proof.opens.includes(route.auth)) continue
        const text = await send(gateway.port, route, proof, id)
        // A missing body is reported before the intent is looked up.
        if (statusOf(text) !== 400) answers.add(comparable(text))
      }
    }
  }
  t.equal(answers.size, 1)
  t.match([...answers][0], /^HTTP\/1\.1 404 Not Found\r\n/)
})

t.test('routes without authentication accept any proof and send no command', async (t) => {
  const gateway = await start(t)
  const open = ROUTES.filter((route) => route.auth === 'none')
  t.ok(open.length > 0)
  for (const route of open) {
    for (const [what, proof] of Object.entries(PROOFS)) {
      const text = await send(gateway.port, route, proof)
      t.ok([200, 400].includes(statusOf(text)), `${route.path} with ${what}`)
    }
  }
  t.equal(gateway.processorStub.commands.length, 0)
})
