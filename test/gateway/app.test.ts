/**
 * The whole gateway: real HTTP in, real gRPC out, scripted replies of the processor. Authentication
 * is in authenticate.test.ts.
 */
import t from 'tap'
import { systemClock, toRfc3339 } from '../../src/base/clock.js'
import { eventually } from '../support/eventually.js'
import { errorOf } from './answers.js'
import { heldClock } from './held_clock.js'
import {
  bearer,
  bytesOf,
  byToken,
  call,
  createBody,
  createRequest,
  get,
  INTENT,
  KEY_ID,
  payoutRequest,
  post,
  roundTrip,
  snapshot,
  TENANT,
  type HttpCall,
} from './signing_partner.js'
import { startGateway } from './running_gateway.js'
import { accept, refuseWith, silence, startProcessorStub } from './processor_stub.js'

const confirmRequest = (body?: string): HttpCall =>
  byToken(post(`/v1/payment_intents/${INTENT}/confirm`, body), bearer(INTENT))

t.test('a signed create sends one command and answers with its body unchanged', async (t) => {
  const gateway = await startGateway(t)
  const nonce = 'ab'.repeat(32)
  const timestamp = toRfc3339(systemClock.now())
  const create = post('/v1/payment_intents', createBody, 'order 17')
  const answer = await call(gateway.port, { ...create, nonce, timestamp })
  t.equal(answer.status, 201)
  t.equal(answer.headers.get('content-type'), 'application/json')
  t.equal(answer.headers.get('cache-control'), 'no-store')
  const [command] = gateway.processorStub.commands
  t.match(command, {
    tenant: TENANT,
    consume_nonce_only: false,
    operation: 'create_intent',
    create_intent: { ...createBody, idempotency_key: 'order 17' },
  })
  t.ok(command !== undefined && command.budget_ms > 4_000 && command.budget_ms <= 5_000)
  t.equal(command?.signed_by?.key_id, KEY_ID)
  t.equal(command?.signed_by?.nonce.toString('hex'), nonce)
  t.equal(command?.signed_by?.signed_at, Math.floor(Date.parse(timestamp) / 1_000))
  t.match(answer.headers.get('x-request-id'), /^req_/)
  t.same(answer.json, { operation: 'create_intent', tenant: TENANT, ticket: command?.ticket })
})

t.test('a replayed payout is 200 and a new one 202, each with Idempotent-Replayed', async (t) => {
  const gateway = await startGateway(t)
  const fresh = await call(gateway.port, payoutRequest())
  t.equal(fresh.status, 202)
  t.equal(fresh.headers.get('idempotent-replayed'), 'false')
  gateway.processorStub.script = ({ ticket }) => [{ ticket, code: '', body: '{}', replayed: true }]
  const again = await call(gateway.port, payoutRequest())
  t.equal(again.status, 200)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
})

t.test(
  'codes of the processor map to their status; some are conflicts on confirm only',
  async (t) => {
    const gateway = await startGateway(t)
    const [confirm, payout] = [confirmRequest(), payoutRequest()]
    const cases: readonly [HttpCall, string, number, string][] = [
      [confirm, 'insufficient_balance', 409, 'insufficient_balance'],
      [confirm, 'user_limit_exceeded', 409, 'user_limit_exceeded'],
      [payout, 'insufficient_balance', 422, 'insufficient_balance'],
      [payout, 'duplicate_payout', 409, 'duplicate_payout'],
      [payout, 'a_code_from_the_future', 500, 'internal_error'],
    ]
    for (const [request, given, status, code] of cases) {
      gateway.processorStub.script = refuseWith(given)
      const answer = await call(gateway.port, request)
      t.equal(answer.status, status, given)
      t.equal(errorOf(answer.json).code, code)
      t.equal(errorOf(answer.json).request_id, answer.headers.get('x-request-id'))
    }
  },
)

t.test('a consumed token precedes the fault of a malformed body', async (t) => {
  const gateway = await startGateway(t)
  const confirm = confirmRequest('{')
  t.equal(await gateway.status(confirm), 400, 'with an unused token')
  const [command] = gateway.processorStub.commands
  t.match(command?.check_session, { intent_id: INTENT, session_jti: 'A'.repeat(22) })
  gateway.processorStub.script = refuseWith('authentication_failed')
  t.equal(await gateway.status(confirm), 401, 'with a consumed one')
})

t.test(
  'an unauthenticated request gets 404 for an unknown path and 405 for a wrong method',
  async (t) => {
    const gateway = await startGateway(t)
    const unsigned = { unsigned: true }
    const nowhere = await call(gateway.port, { ...get('/v2/payouts'), ...unsigned })
    t.equal(nowhere.status, 404)
    const wrong = await call(gateway.port, { method: 'PUT', path: '/v1/payouts', ...unsigned })
    t.equal(wrong.status, 405)
    t.equal(wrong.headers.get('allow'), 'POST, GET')
    const head = await call(gateway.port, { method: 'HEAD', path: '/v1/balances', ...unsigned })
    t.equal(head.status, 405)
    t.equal(head.text, '')
    const signedBadly = await call(gateway.port, { ...get('/v2/payouts'), secret: 'sk_of_eve' })
    t.equal(signedBadly.status, 401)
    t.equal(gateway.processorStub.commands.length, 0)
  },
)

t.test('a request over the rate of its key is 429 with Retry-After', async (t) => {
  const partners = snapshot({ rate_limit_per_second: 3 })
  const gateway = await startGateway(t, { partners, clock: heldClock() })
  const answers = await Promise.all([1, 2, 3, 4].map(() => call(gateway.port, createRequest())))
  const statuses = answers.map(({ status }) => status).sort()
  t.same(statuses, [201, 201, 201, 429])
  const over = answers.find(({ status }) => status === 429)
  t.equal(over?.headers.get('retry-after'), '1')
  t.equal(over?.headers.get('ratelimit-limit'), '3')
  t.equal(over?.headers.get('ratelimit-remaining'), '0')
  t.equal(over?.headers.get('ratelimit-reset'), '1')
  t.equal(gateway.processorStub.commands.length, 3, 'the request does not reach the processor')
})

t.test("a caller's well-formed X-Request-Id is echoed, beside ours", async (t) => {
  const gateway = await startGateway(t)
  const echoOf = async (id: string, over: Partial<HttpCall> = {}): Promise<string | null> => {
    const headers = { 'X-Request-Id': id }
    const answer = await call(gateway.port, { ...createRequest(), ...over, headers })
    t.match(answer.headers.get('x-request-id'), /^req_/)
    return answer.headers.get('x-client-request-id')
  }
  const id = '!~'.repeat(64)
  t.equal(await echoOf(id), id)
  t.equal(await echoOf(id, { secret: 'sk_of_eve' }), id, 'of a 401')
  t.equal(await echoOf(id, { path: '/nowhere', unsigned: true }), id, 'of a 404')
  for (const bad of ['', 'a b', 'a\tb', 'é', `${id}x`]) t.equal(await echoOf(bad), null, bad)
  const twice = bytesOf({ method: 'GET', path: '/v1/balances', headers: { 'X-Request-Id': 'a' } })
  const { text } = await roundTrip(gateway.port, twice.replace(/x-request-id: a/i, '$&\r\n$&'))
  t.match(text, /^HTTP\/1\.1 200 /)
  t.notMatch(text, /x-client-request-id/i, 'a repeated header is not echoed')
})

t.test('a silent processor: 504 in time, and a late reply is dropped', async (t) => {
  const clock = heldClock()
  const gateway = await startGateway(t, { script: silence, answerWithinMs: 100, clock })
  const waiting = call(gateway.port, createRequest())
  await eventually('the command arrived', () => gateway.processorStub.commands.length === 1)
  clock.pass(100)
  const answer = await waiting
  t.equal(answer.status, 504)
  t.equal(errorOf(answer.json).code, 'timeout')
  const late = gateway.processorStub.commands.flatMap((command) => accept(command))
  gateway.processorStub.script = (command) => [...late, ...accept(command)]
  const next = await call(gateway.port, createRequest())
  t.equal(next.status, 201)
  t.match(next.json, { ticket: gateway.processorStub.commands.at(-1)?.ticket })
})

t.test('a broken stream answers all commands in flight with 503 and reconnects', async (t) => {
  const gateway = await startGateway(t, { script: silence })
  const waiting = [1, 2, 3].map(() => call(gateway.port, createRequest()))
  await eventually('three commands are pending', () => gateway.processorStub.commands.length === 3)
  gateway.processorStub.crash()
  for (const answer of await Promise.all(waiting)) {
    t.equal(answer.status, 503)
    t.equal(errorOf(answer.json).code, 'configuration_error')
  }
  t.equal(await gateway.status(createRequest()), 503, 'while the stream is closed')
  await startProcessorStub(t, { address: gateway.processorStub.address })
  await eventually('the stream has reconnected', () => gateway.processor.open)
  t.equal(await gateway.status(createRequest()), 201)
})
