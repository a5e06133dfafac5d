/**
 * Authentication in front of a whole gateway: signatures, tokens, hosts, addresses, app packages
 * and directory updates.
 */
import t from 'tap'
import { createAuthenticator } from '../../gateway/authentication/authenticate.js'
import { createPartners } from '../../gateway/authentication/partners.js'
import { brandHeaders } from '../../gateway/http/headers.js'
import type { RequestContext } from '../../gateway/http/request_context.js'
import { instant, systemClock, type Clock } from '../../src/base/clock.js'
import { eventually } from '../support/eventually.js'
import { errorOf } from './answers.js'
import {
  bearer,
  beneficiaryBody,
  bytesOf,
  byToken,
  call,
  createRequest,
  get,
  INTENT,
  KEY_ID,
  payoutBody,
  post,
  PRODUCTION_KEY_ID,
  receiptBearer,
  roundTrip,
  SECRET,
  signedHeaders,
  snapshot,
  statusOf,
  type HttpCall,
} from './signing_partner.js'
import { startGateway } from './running_gateway.js'
import { refuseWith } from './processor_stub.js'

const intent = `/v1/payment_intents/${INTENT}`

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
    t.equal(await gateway.status(other), 401, 'another spelling of the same instant')
  }
})

t.test('a verified signature consumes its nonce, even when the request is rejected', async (t) => {
  const gateway = await startGateway(t)
  const cases: readonly [HttpCall, number, string][] = [
    [post('/v1/payment_intents', '{'), 400, 'invalid_request'],
    [post('/v1/payouts', payoutBody), 400, 'invalid_request'],
    [
      post('/v1/beneficiaries', { ...beneficiaryBody, account_number: '1' }),
      400,
      'invalid_beneficiary',
    ],
    [get('/v1/webhook_endpoints?a=1'), 400, 'invalid_request'],
    [get('/v1/nowhere'), 404, 'not_found'],
    [get('/v1/payouts//cancel'), 404, 'not_found'],
    [{ method: 'DELETE', path: '/v1/payouts' }, 405, 'method_not_allowed'],
  ]
  for (const [request, status, code] of cases) {
    const answer = await call(gateway.port, request)
    t.equal(answer.status, status, request.path)
    t.equal(errorOf(answer.json).code, code)
    const command = gateway.processorStub.commands.at(-1)
    t.match(command, { consume_nonce_only: true, operation: undefined })
    t.equal(command?.signed_by?.nonce.length, 32)
  }
  t.equal(gateway.processorStub.commands.length, cases.length)

  gateway.processorStub.script = refuseWith('authentication_failed')
  const replayed = await call(gateway.port, get('/v1/nowhere'))
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
  t.equal(await gateway.status(production), 401)
  gateway.processorStub.publish(snapshot({ allowed_ips: ['203.0.113.0/24', '127.0.0.0/8'] }))
  await eventually(
    'the latest update applies',
    async () => (await gateway.status(production)) === 201,
  )
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
  t.equal(await gateway.status(signedNow()), 201)
  ahead = 60_000
  t.equal(await gateway.status(signedNow()), 401)
  t.match(await gateway.metrics(), 'refusals_total{reason="key_revoked"} 1')
})

t.test('app packages restrict session requests only', async (t) => {
  const gateway = await startGateway(t, { partners: snapshot({ packages: ['com.acme.app'] }) })
  const fromApp = (app: string): HttpCall =>
    byToken({ ...get(intent), headers: { 'X-Service-Package': app } }, bearer(INTENT))
  const cases: readonly [HttpCall, number][] = [
    [byToken(get(intent), bearer(INTENT)), 401],
    [fromApp('com.eve'), 401],
    [fromApp('COM.acme.app'), 401],
    [fromApp('com.acme.app'), 200],
    [byToken(get(`${intent}/receipt`), receiptBearer()), 200],
    [get(intent), 200],
  ]
  for (const [request, status] of cases) {
    t.equal(await gateway.status(request), status, JSON.stringify(request.headers))
  }
})

t.test('a key that an update omits is removed', async (t) => {
  const gateway = await startGateway(t)
  t.equal(await gateway.status(createRequest()), 201)
  gateway.processorStub.publish(snapshot({ keys: [] }))
  await eventually(
    'the key is rejected',
    async () => (await gateway.status(createRequest())) === 401,
  )
})

t.test('before the directory snapshot no request is answered 401', async (t) => {
  const tokenRequest = byToken(get(intent), bearer(INTENT))
  const withoutTokenKeys = await startGateway(t, { partners: { ...snapshot(), token_keys: [] } })
  t.equal(await withoutTokenKeys.status(tokenRequest), 503)
  t.equal(await withoutTokenKeys.status(createRequest()), 201)
  const incomplete = await startGateway(t, {
    partners: { ...snapshot(), complete: false },
    waitUntilReady: false,
  })
  t.equal(await incomplete.status(tokenRequest), 503)
  t.equal(await incomplete.status(createRequest()), 503)
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
