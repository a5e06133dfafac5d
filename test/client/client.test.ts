/** Retries, errors, pagination and polling of the client, against a scripted server. */
import t, { type Test } from 'tap'
import { ERRORS, OPERATOR_ERRORS } from '../../src/base/errors.js'
import {
  ApiError,
  ConnectionError,
  createClient,
  ERROR_CODES,
  IdempotencyConflictError,
  IdempotencyKeyError,
  InsufficientBalanceError,
  QuoteError,
  RateLimitError,
  RETRY,
  ServiceError,
  type ClientOptions,
} from '../../src/client/index.js'
import { freePort } from '../../src/supervisor/ports.js'
import { PAYOUT, scriptedService, type Script } from './scripted_service.js'

/** A service and its client. */
async function world(t: Test, script: Script, options?: ClientOptions) {
  const service = await scriptedService(t, script)
  return { ...service, client: service.clientOf(options) }
}

const refusal = (code: string) => ({ error: { code, message: 'm', request_id: 'req_1' } })

t.test('a write with a key is retried with the same key and a new nonce', async (t) => {
  const { client, requests, pauses } = await world(t, (_request, number) =>
    number === 1 ? { status: 503 } : number === 2 ? 'hang up' : { status: 202, body: { id: 'p' } },
  )
  t.same(await client.payouts.create(PAYOUT), { id: 'p' })
  t.equal(requests.length, 3)
  const values = (name: string): unknown[] => requests.map(({ headers }) => headers[name])
  t.equal(new Set(values('idempotency-key')).size, 1)
  t.equal(new Set(values('x-service-nonce')).size, 3)
  t.same(pauses, [250, 500])
})

t.test('Retry-After is obeyed, as seconds and as a date of the server', async (t) => {
  const date = (second: string) => `Sat, 21 Nov 2026 04:35:${second} GMT`
  const waits = [
    { 'retry-after': '2' },
    { 'retry-after': date('43'), date: date('40') },
    { 'retry-after': 'soon' },
    { 'retry-after': '0' },
  ]
  const { client, pauses } = await world(t, (_request, number) => {
    const headers = waits[number - 1]
    return headers ? { status: 429, headers } : { status: 200, body: { data: [] } }
  })
  t.same(await client.balances(), [])
  t.same(pauses, [2_000, 3_000, 1_000, 2_000], 'otherwise the delay doubles')
})

t.test('a Retry-After above the limit is thrown at once', async (t) => {
  const headers = { 'retry-after': '3600' }
  const { client, pauses } = await world(t, () => ({ status: 429, headers }))
  const error = await client.payouts.get('pout_1').catch((thrown: unknown) => thrown)
  t.match(error, { name: 'RateLimitError', retryAfterMs: 3_600_000 })
  t.same(pauses, [])
})

t.test('the error of the last attempt is thrown', async (t) => {
  const limited = { status: 429, body: refusal('rate_limited') }
  const { client, requests } = await world(t, () => limited)
  await t.rejects(client.payouts.get('pout_1'), RateLimitError)
  t.equal(requests.length, RETRY.attempts)
  const gone = await world(t, () => 'hang up')
  await t.rejects(gone.client.payouts.create(PAYOUT), ConnectionError)
  t.equal(gone.requests.length, RETRY.attempts)
})

t.test('a write without a key is sent once when its outcome is unknown', async (t) => {
  const { client, requests } = await world(t, () => ({ status: 503, body: refusal('x') }))
  await t.rejects(client.paymentIntents.cancel('pi_1'), ServiceError)
  t.equal(requests.length, 1)
  await t.rejects(client.webhookEndpoints.enable('we_1'), ServiceError)
  t.equal(requests.length, 1 + RETRY.attempts, 'a repetition without effect is retried')
})

t.test('a write that did not reach the service is retried', async (t) => {
  const { client, requests } = await world(t, (_request, number) =>
    number < 3 ? { status: 429, body: refusal('rate_limited') } : { status: 200, body: {} },
  )
  await client.paymentIntents.cancel('pi_1')
  t.equal(requests.length, 3)

  let pauses = 0
  const baseUrl = `http://127.0.0.1:${await freePort('127.0.0.1')}`
  const unreachable = createClient(
    { baseUrl, keyId: 'a', secret: 'sk' },
    { sleep: async () => void pauses++ },
  )
  await t.rejects(unreachable.paymentIntents.cancel('pi_1'), ConnectionError)
  t.equal(pauses, RETRY.attempts - 1, 'its connection was refused')
})

t.test('an attempt ends at its timeout', async (t) => {
  const { client, requests } = await world(t, () => 'stay silent', { timeoutMs: 50 })
  const error = await client.payouts.create(PAYOUT).catch((thrown: unknown) => thrown)
  t.match(error, { name: 'ConnectionError', message: /no complete answer in 50 ms/ })
  const keys = new Set(requests.map(({ headers }) => headers['idempotency-key']))
  t.same([...keys], [(error as ConnectionError).idempotencyKey], 'the error names the key')
})

t.test('a response in another format is an error', async (t) => {
  const { client, requests } = await world(t, (_request, number) =>
    number === 1 ? { status: 302, headers: { location: '/elsewhere' } } : { status: 204 },
  )
  await t.rejects(client.payouts.get('pout_1'), { name: 'ApiError', code: 'unknown', status: 302 })
  t.equal(requests.length, 1, 'a redirect is not followed')
  const unknown = { name: 'ServiceError', code: 'unknown', status: 204, retryable: true }
  await t.rejects(client.payouts.get('pout_1'), unknown)
  t.equal(requests.length, 1 + RETRY.attempts, 'a 2xx without JSON is an unknown outcome')
  await t.rejects(client.payouts.cancel('pout_1'), unknown)
  t.equal(requests.length, 2 + RETRY.attempts, 'it is not repeated without a key')
})

t.test('an error of a proxy is one of its status, whatever JSON it has', async (t) => {
  const bodies = [
    ...[null, 'Bad Gateway', [], { error: null }, { error: 'Bad Gateway' }],
    { error: { code: 502, message: null, request_id: 7 } },
  ]
  const script: Script = (_request, number) => ({ status: 502, body: bodies[number - 1] })
  const { client } = await world(t, script)
  const error = {
    ...{ name: 'ServiceError', code: 'unknown', status: 502, requestId: '', retryable: true },
    message: '502 unknown: not an answer of the service ()',
  }
  for (const body of bodies) {
    await t.rejects(client.payouts.cancel('pout_1'), error, JSON.stringify(body))
  }
})

t.test('the retries last 15 to 20 seconds by default', async (t) => {
  for (const [random, total] of [
    [0, 15_800],
    [1, 19_750],
  ] as const) {
    const script = () => ({ status: 503, body: refusal('configuration_error') })
    const { client, pauses } = await world(t, script, { random: () => random })
    await t.rejects(client.payouts.create(PAYOUT), ServiceError)
    const waited = pauses.reduce((sum, ms) => sum + ms)
    t.equal(waited, total)
  }
})

t.test('an id cannot name another path', async (t) => {
  const { client, requests } = await world(t, () => ({ status: 200 }))
  for (const id of ['', '..', 'pout_1/cancel', 'pout_1?x', 'é']) {
    t.throws(() => client.payouts.get(id), TypeError, id)
  }
  t.equal(requests.length, 0)
})

t.test('a path cannot name another host', async (t) => {
  const { client, requests } = await world(t, () => ({ status: 200 }))
  for (const path of ['v1/balances', '', '@127.0.0.1/v1/balances']) {
    await t.rejects(client.request('GET', path), new TypeError(`not a path: "${path}"`))
  }
  t.equal(requests.length, 0)
})

t.test('an error is thrown as the class of its code', async (t) => {
  const answers = [
    { status: 422, body: refusal('insufficient_balance') },
    { status: 409, body: refusal('insufficient_balance') },
    { status: 409, body: refusal('duplicate_payout') },
    { status: 409, body: refusal('quote_changed') },
    { status: 422, body: refusal('a_code_of_later') },
  ]
  const { client, requests } = await world(t, (_request, number) => answers[number - 1]!)
  const thrown = () => client.payouts.create(PAYOUT).catch((error: unknown) => error)
  const refused = await thrown()
  t.type(refused, InsufficientBalanceError)
  t.match(refused, { status: 422, code: 'insufficient_balance', requestId: 'req_1' })
  t.match(refused, { retryable: true, idempotencyKey: requests[0]?.headers['idempotency-key'] })
  t.type(await thrown(), InsufficientBalanceError, 'at any status')
  t.type(await thrown(), IdempotencyConflictError)
  t.type(await thrown(), QuoteError)
  t.match(
    await thrown(),
    { name: 'RefusedError', retryable: false },
    'an unknown code is thrown as the class of its status',
  )
  t.equal(requests.length, 5, 'no error is retried')
})

t.test('every code of the partner API has its class', async (t) => {
  const codes = Object.keys(ERRORS).filter((code) => !Object.hasOwn(OPERATOR_ERRORS, code))
  t.same([...ERROR_CODES.keys()].sort(), codes.sort())
  for (const [code, Class] of ERROR_CODES) {
    const details = { status: 500, code, message: '', requestId: '', headers: {} }
    const error = new Class({ ...details, idempotencyKey: undefined, retryAfterMs: undefined })
    t.equal(error.retryable, ERRORS[code as keyof typeof ERRORS].retryable, code)
    t.ok(error instanceof ApiError && error.name === Class.name, code)
  }
})

t.test('a key must be printable ASCII, and the response must repeat it', async (t) => {
  const headers = { 'idempotency-key': 'inv-' }
  const { client, requests } = await world(t, () => ({ status: 202, headers }))
  for (const idempotencyKey of ['inv-é', '', ' a', 'a\n', 'x'.repeat(256)]) {
    await t.rejects(client.payouts.create(PAYOUT, { idempotencyKey }), IdempotencyKeyError)
  }
  t.equal(requests.length, 0)
  await t.rejects(client.payouts.create(PAYOUT, { idempotencyKey: 'inv-1' }), IdempotencyKeyError)
})

t.test('a list is read page by page, on demand', async (t) => {
  const { client, requests } = await world(t, ({ url }) => {
    const cursor = Number(new URL(url ?? '', 'http://x').searchParams.get('cursor') ?? 0)
    const next_cursor = cursor === 2 ? null : String(cursor + 1)
    return { status: 200, body: { data: [{ id: `p${cursor}` }], next_cursor } }
  })
  const ids: string[] = []
  for await (const { id } of client.payouts.list({ status: 'failed' })) ids.push(id)
  t.same(ids, ['p0', 'p1', 'p2'])
  t.ok(requests.every(({ url }) => url?.includes('status=failed')))
  for await (const { id } of client.payouts.list()) {
    ids.push(id)
    break
  }
  t.equal(requests.length, 4)
  const cursors: (string | null)[] = []
  const pages = client.payouts.list({ cursor: '1' }).pages()
  for await (const { next_cursor } of pages) cursors.push(next_cursor)
  t.same(cursors, ['2', null], 'pages start at a cursor')
})

t.test('the first items are read with no page more than needed', async (t) => {
  const { client, requests } = await world(t, (_request, number) => ({
    status: 200,
    body: { data: [{ id: 2 * number - 1 }, { id: 2 * number }], next_cursor: 'more' },
  }))
  t.same(await client.payouts.list({ limit: 2 }).take(3), [{ id: 1 }, { id: 2 }, { id: 3 }])
  t.equal(requests.length, 2)
  t.same(await client.payouts.list().take(0), [])
  t.equal(requests.length, 2)
})

t.test('events are read up to the newest', async (t) => {
  const { client, requests } = await world(t, ({ url }) => {
    const after = Number(new URL(url ?? '', 'http://x').searchParams.get('after'))
    const data = [{ sequence: after + 1, event: {} }]
    return { status: 200, body: { data, next_after: after + 1, has_more: after < 7 } }
  })
  const sequences: number[] = []
  for await (const { sequence } of client.events.list({ after: 5 })) sequences.push(sequence)
  t.same(sequences, [6, 7, 8])
  t.equal(requests.length, 3)
})

t.test('polling backs off and ends at a final status', async (t) => {
  const { client, pauses } = await world(t, (_request, number) => ({
    status: 200,
    body: { status: number < 9 ? 'authorized' : 'captured' },
  }))
  t.match(await client.session('token').poll('pi_1'), { status: 'captured' })
  t.same(pauses.slice(0, 3), [1_250, 1_875, 2_812.5])
  t.equal(Math.max(...pauses), 15_000 * 1.25)
})

t.test('polling ends at its deadline', async (t) => {
  let now = 0
  const script: Script = () => {
    now += 25_000
    return { status: 200, body: { status: 'authorized' } }
  }
  const { client, requests } = await world(t, script, { now: () => now })
  t.match(await client.session('token').poll('pi_1'), { status: 'authorized' })
  t.equal(requests.length, 3)
})

t.test('a confirm sends the quote only', async (t) => {
  const { client, bodies, requests } = await world(t, () => ({ status: 200 }))
  const quote = { quote_id: 'qt_1', quote_version: 2, amount_usd_cents: 1 }
  await client.session('token', 'com.example.app').confirm('pi_1', 'key', quote)
  t.same(bodies, ['{"quote_id":"qt_1","quote_version":2}'])
  const headers = { authorization: 'Bearer token', 'x-service-package': 'com.example.app' }
  t.match(requests[0]?.headers, { ...headers, 'idempotency-key': 'key' })
  t.notOk(requests[0]?.headers['x-service-signature'])
})
