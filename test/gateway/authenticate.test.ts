/**
 * Authentication in front of a whole gateway: signatures, tokens, hosts, addresses, app packages
 * and directory updates.
 */
import t from 'tap'
import { createAuthenticator } from '../../gateway/authentication/authenticate.js'
import { createPartners } from '../../gateway/authentication/partners.js'
import { brandHeaders } from '../../gateway/http/headers.js'
import type { RequestContext } from '../../gateway/http/request_context.js'
import { HOUR, instant, systemClock, type Clock } from '../../src/base/clock.js'
import { changedEnd } from '../support/changed_end.js'
import { eventually } from '../support/eventually.js'
import { errorOf } from './answers.js'
import {
  bearer,
  beneficiaryBody,
  bytesOf,
  call,
  createRequest,
  roundTrip,
  KEY_ID,
  payoutBody,
  PRODUCTION_KEY_ID,
  receiptBearer,
  SECRET,
  signedHeaders,
  snapshot,
  statusOf,
  type HttpCall,
} from './signing_partner.js'
import { startGateway } from './running_gateway.js'
import { refuseWith } from './processor_stub.js'

const INTENT = 'pi_01M7Y8R76ZBRBZPA32270W80C3'

t.test('each spelling of a UTC timestamp is signed as sent', async (t) => {
  const gateway = await startGateway(t)
  for (const utc of ['Z', 'z', '+00:00', '-00:00']) {
    const timestamp = new Date().toISOString().replace('Z', utc)
    const answer = await call(gateway.port, { ...createRequest(), timestamp })
    t.equal(answer.status, 201, timestamp)
    const signed = { ...createRequest(), path: '/v1/sandbox/signature/check', timestamp }
    const check = await call(gateway.port, signed)
    t.match(check.json, { valid: true, canonical_request: `\n${timestamp}\n` }, timestamp)
    const altered = { ...signedHeaders({ ...createRequest(), timestamp }) }
    altered['X-Service-Timestamp'] = timestamp.replace(utc, utc === 'Z' ? 'z' : 'Z')
    const other = { ...createRequest(), unsigned: true, headers: altered }
    t.equal((await call(gateway.port, other)).status, 401, 'another spelling of the same instant')
  }
})

t.test('every failed authentication is the same 401 and sends no command', async (t) => {
  const gateway = await startGateway(t, { partners: snapshot({ packages: ['com.acme.app'] }) })
  const now = Date.now()
  const at = (offsetMs: number): string => new Date(now + offsetMs).toISOString()
  const create = createRequest()
  const path = `/v1/payment_intents/${INTENT}`
  const withToken = (token: string, more: Record<string, string> = {}): HttpCall => ({
    method: 'GET',
    path,
    unsigned: true,
    headers: { Authorization: token, 'X-Service-Package': 'com.acme.app', ...more },
  })
  const good = signedHeaders(create)
  const changed = (name: string, value: string): HttpCall => ({
    ...create,
    unsigned: true,
    headers: { ...good, [name]: value },
  })
  const without = (name: string): HttpCall => ({
    ...create,
    unsigned: true,
    headers: Object.fromEntries(Object.entries(good).filter(([key]) => key !== name)),
  })
  const cases: Readonly<Record<string, HttpCall>> = {
    'no credentials': { ...create, unsigned: true },
    'no key id': without('X-Service-Key-Id'),
    'no timestamp': without('X-Service-Timestamp'),
    'no nonce': without('X-Service-Nonce'),
    'no signature': without('X-Service-Signature'),
    'an unknown key': { ...create, keyId: 'nobody_sandbox_2026q4' },
    'a key of production on the sandbox host': { ...create, keyId: PRODUCTION_KEY_ID },
    'another secret': { ...create, secret: 'sk_of_eve' },
    'too old': { ...create, timestamp: at(-301_000) },
    'too new': { ...create, timestamp: at(HOUR) },
    'a day that does not exist': { ...create, timestamp: '2026-02-30T00:00:00Z' },
    'a timestamp with an offset': { ...create, timestamp: at(0).replace('Z', '+07:00') },
    'a lower-case t': { ...create, timestamp: at(0).replace('T', 't') },
    'an offset without a colon': { ...create, timestamp: at(0).replace('Z', '+0000') },
    'a timestamp without seconds': { ...create, timestamp: `${at(0).slice(0, 16)}Z` },
    'a timestamp without an offset': { ...create, timestamp: at(0).slice(0, -1) },
    'an upper-case nonce': { ...create, nonce: 'AB'.repeat(32) },
    'a short nonce': { ...create, nonce: 'ab'.repeat(31) },
    'a signature that is not base64': changed('X-Service-Signature', '*'.repeat(44)),
    'a body that was changed': { ...changed('X-Extra', '1'), body: `${create.body} ` },
    'a bearer token on a signed route': {
      ...create,
      unsigned: true,
      headers: { Authorization: bearer(INTENT) },
    },
    'a signature on confirm': { method: 'POST', path: `${path}/confirm` },
    'an expired token': withToken(bearer(INTENT, -1)),
    'a token of another intent': withToken(bearer('pi_01M7Y8R76ZBRBZPA32270W80C4')),
    'a token of another environment': withToken(bearer(INTENT, 300, 'acme_production' as never)),
    'a token of an unknown tenant': withToken(bearer(INTENT, 300, 'nobody_sandbox' as never)),
    'a token that was changed': withToken(changedEnd(bearer(INTENT))),
    'no token': withToken('Bearer '),
    'another app': withToken(bearer(INTENT), { 'X-Service-Package': 'com.eve.app' }),
    'an invalid bearer token beside a valid signature': {
      method: 'GET',
      path,
      headers: { Authorization: 'Bearer x' },
    },
    'a bearer scheme without a token beside a valid signature': {
      method: 'GET',
      path,
      headers: { Authorization: 'Bearer' },
    },
  }
  const bodies = new Set<string>()
  for (const [what, request] of Object.entries(cases)) {
    const answer = await call(gateway.port, request)
    t.equal(answer.status, 401, what)
    bodies.add(answer.text.replace(errorOf(answer.json).request_id, ''))
  }
  t.equal(bodies.size, 1, 'the bodies are equal except for the request id')
  t.equal(gateway.processorStub.commands.length, 0)
  t.match(
    await gateway.metrics(),
    /causeway_http_authentication_refusals_total\{reason="key_unknown"\} 1/,
  )
  const allowed = await call(gateway.port, withToken(bearer(INTENT)))
  t.equal(allowed.status, 200, 'the same request without a fault is accepted')
})

t.test('a verified signature consumes its nonce, even when the request is rejected', async (t) => {
  const gateway = await startGateway(t)
  const cases: readonly [HttpCall, number, string][] = [
    [{ method: 'POST', path: '/v1/payment_intents', body: '{' }, 400, 'invalid_request'],
    [
      { method: 'POST', path: '/v1/payouts', body: JSON.stringify(payoutBody) },
      400,
      'invalid_request',
    ],
    [
      {
        method: 'POST',
        path: '/v1/beneficiaries',
        body: JSON.stringify({ ...beneficiaryBody, account_number: '1' }),
      },
      400,
      'invalid_beneficiary',
    ],
    [{ method: 'GET', path: '/v1/webhook_endpoints?a=1' }, 400, 'invalid_request'],
    [{ method: 'GET', path: '/v1/nowhere' }, 404, 'not_found'],
    [{ method: 'GET', path: '/v1/payouts//cancel' }, 404, 'not_found'],
    [{ method: 'DELETE', path: '/v1/payouts' }, 405, 'method_not_allowed'],
  ]
  for (const [request, status, code] of cases) {
    const answer = await call(gateway.port, request)
    t.equal(answer.status, status, request.path)
    t.equal(errorOf(answer.json).code, code)
    const command = gateway.processorStub.commands.at(-1)
    t.equal(command?.consume_nonce_only, true)
    t.equal(command?.operation, undefined)
    t.equal(command?.signed_by?.nonce.length, 32)
  }
  t.equal(gateway.processorStub.commands.length, cases.length)

  gateway.processorStub.script = refuseWith('authentication_failed')
  const replayed = await call(gateway.port, { method: 'GET', path: '/v1/nowhere' })
  t.equal(replayed.status, 401, 'a repeated nonce takes precedence over the route')
})

t.test('with explicit host lists an unlisted host is 404', async (t) => {
  const gateway = await startGateway(t, {
    environment: { SANDBOX_HOSTS: 'sandbox.example', PRODUCTION_HOSTS: 'api.example,old.example' },
  })
  const on = async (host: string, keyId: string): Promise<number> => {
    const { text } = await roundTrip(gateway.port, bytesOf({ ...createRequest(), keyId }, host))
    return statusOf(text)
  }
  t.equal(await on('sandbox.example', KEY_ID), 201)
  t.equal(await on('SANDBOX.example:8080', KEY_ID), 201)
  t.equal(await on('sandbox.example', PRODUCTION_KEY_ID), 401)
  t.equal(await on('old.example', PRODUCTION_KEY_ID), 201)
  t.equal(await on('api.example', KEY_ID), 401)
  t.equal(await on('elsewhere.example', KEY_ID), 404)
})

t.test('production only: a request from an unlisted address is 401', async (t) => {
  const gateway = await startGateway(t, {
    partners: snapshot({ allowed_ips: ['203.0.113.0/24'] }),
    environment: { PRODUCTION_HOSTS: '127.0.0.1' },
  })
  const production = { ...createRequest(), keyId: PRODUCTION_KEY_ID }
  t.equal((await call(gateway.port, production)).status, 401)
  gateway.processorStub.publish(snapshot({ allowed_ips: ['203.0.113.0/24', '127.0.0.0/8'] }))
  await eventually('the latest update applies', async () => {
    const { status } = await call(gateway.port, production)
    return status === 201
  })
})

t.test('behind a proxy the list applies to the client, named only by the proxy', async (t) => {
  const partners = snapshot({ allowed_ips: ['203.0.113.0/24', '2001:db8::/32'] })
  const environment = { PRODUCTION_HOSTS: '127.0.0.1', TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' }
  const proxied = await startGateway(t, { partners, environment })
  const direct = await startGateway(t, {
    partners,
    environment: { PRODUCTION_HOSTS: '127.0.0.1', TRUSTED_PROXIES: '192.0.2.1' },
  })
  const as = async (port: number, forwarded: string): Promise<number> => {
    const headers = { 'X-Forwarded-For': forwarded }
    const request = { ...createRequest(), keyId: PRODUCTION_KEY_ID, headers }
    return (await call(port, request)).status
  }
  t.equal(await as(proxied.port, '203.0.113.9'), 201)
  t.equal(await as(proxied.port, '::ffff:203.0.113.9'), 201)
  t.equal(await as(proxied.port, '2001:db8::1, 10.1.2.3'), 201)
  t.equal(await as(proxied.port, '203.0.113.9, 198.51.100.1'), 401)
  t.equal(await as(proxied.port, '203.0.113.9, unknown'), 401)
  t.equal(await as(direct.port, '203.0.113.9'), 401, 'the peer is not a trusted proxy')
})

t.test('a scheduled revocation takes effect on time, without a directory update', async (t) => {
  let ahead = 0
  const clock: Clock = { now: () => instant(Date.now() + ahead) }
  const revoked_at = Date.now() + 60_000
  const keys = [{ key_id: KEY_ID, environment: 'sandbox', secret: SECRET, revoked_at }]
  const gateway = await startGateway(t, { clock, partners: snapshot({ keys }) })
  const signedNow = (): HttpCall => ({
    ...createRequest(),
    timestamp: new Date(clock.now()).toISOString(),
  })
  t.equal((await call(gateway.port, signedNow())).status, 201)
  ahead = 60_000
  t.equal((await call(gateway.port, signedNow())).status, 401)
  t.match(await gateway.metrics(), 'refusals_total{reason="key_revoked"} 1')
})

t.test('app packages restrict session requests only', async (t) => {
  const gateway = await startGateway(t, { partners: snapshot({ packages: ['com.acme.app'] }) })
  const path = `/v1/payment_intents/${INTENT}`
  const withToken = (Authorization: string, app?: string): Record<string, string> =>
    app === undefined ? { Authorization } : { Authorization, 'X-Service-Package': app }
  const cases: readonly [HttpCall, number][] = [
    [{ method: 'GET', path, unsigned: true, headers: withToken(bearer(INTENT)) }, 401],
    [{ method: 'GET', path, unsigned: true, headers: withToken(bearer(INTENT), 'com.eve') }, 401],
    [
      { method: 'GET', path, unsigned: true, headers: withToken(bearer(INTENT), 'COM.acme.app') },
      401,
    ],
    [
      { method: 'GET', path, unsigned: true, headers: withToken(bearer(INTENT), 'com.acme.app') },
      200,
    ],
    [
      {
        method: 'GET',
        path: `${path}/receipt`,
        unsigned: true,
        headers: withToken(receiptBearer()),
      },
      200,
    ],
    [{ method: 'GET', path }, 200],
  ]
  for (const [request, status] of cases) {
    t.equal((await call(gateway.port, request)).status, status, JSON.stringify(request.headers))
  }
})

t.test('a key that an update omits is removed', async (t) => {
  const gateway = await startGateway(t)
  t.equal((await call(gateway.port, createRequest())).status, 201)
  gateway.processorStub.publish(snapshot({ keys: [] }))
  await eventually('the key is rejected', async () => {
    const { status } = await call(gateway.port, createRequest())
    return status === 401
  })
})

t.test('before the directory snapshot no request is answered 401', async (t) => {
  const byToken: HttpCall = {
    method: 'GET',
    path: `/v1/payment_intents/${INTENT}`,
    unsigned: true,
    headers: { Authorization: bearer(INTENT) },
  }
  const withoutTokenKeys = await startGateway(t, { partners: { ...snapshot(), token_keys: [] } })
  t.equal((await call(withoutTokenKeys.port, byToken)).status, 503)
  t.equal((await call(withoutTokenKeys.port, createRequest())).status, 201)
  const incomplete = await startGateway(t, {
    partners: { ...snapshot(), complete: false },
    waitUntilReady: false,
  })
  t.equal((await call(incomplete.port, byToken)).status, 503)
  t.equal((await call(incomplete.port, createRequest())).status, 503)
})

t.test('while a processor has not announced its partners an unknown key is 503', async (t) => {
  const headers = Object.entries(signedHeaders(createRequest()))
  const values = new Map(headers.map(([name, value]) => [name.toLowerCase(), value]))
  const request = {
    ...{ method: 'POST', path: '/', body: Buffer.alloc(0) },
    header: (name: string) => values.get(name),
  } as unknown as RequestContext
  const codeWhile = (isComplete: boolean): string => {
    const authenticator = createAuthenticator({
      brandHeaders: brandHeaders('Service'),
      clientAddress: () => '',
      directory: { partners: () => createPartners(), isComplete: () => isComplete },
      clock: systemClock,
      onRefused: () => undefined,
    })
    const outcome = authenticator.authenticate(request, 'hmac', 'sandbox', '')
    return outcome.ok ? 'accepted' : outcome.code
  }
  t.equal(codeWhile(true), 'authentication_failed')
  t.equal(codeWhile(false), 'configuration_error')
})
