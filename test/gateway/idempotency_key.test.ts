/**
 * The response header `Idempotency-Key`: every response to an authenticated caller echoes the key
 * as received, so a client detects a key that the HTTP parser changed.
 */
import t from 'tap'
import { ROUTES } from '../../gateway/app.js'
import { IDEMPOTENCY_KEY } from '../../gateway/decode/idempotency_key.js'
import { eventually } from '../support/eventually.js'
import { headersRead } from './decoding.js'
import { heldClock } from './held_clock.js'
import {
  bearer,
  bytesOf,
  byToken,
  call,
  createBody,
  get,
  INTENT,
  payoutRequest,
  post,
  roundTrip,
  snapshot,
  type HttpCall,
} from './signing_partner.js'
import { startGateway } from './running_gateway.js'
import { refuseWith, silence } from './processor_stub.js'

const KEY = 'order 17'
const intent = `/v1/payment_intents/${INTENT}`

const KEYED: readonly HttpCall[] = [
  post('/v1/payment_intents', createBody, KEY),
  byToken(post(`${intent}/confirm`, undefined, KEY), bearer(INTENT)),
  post(`${intent}/refund`, undefined, KEY),
  payoutRequest(KEY),
  post('/v1/funding/deposits', { currency: 'USD', amount: '100' }, KEY),
  post('/v1/fx/conversions', { quote_id: 'fxq_1' }, KEY),
  post('/v1/webhook_endpoints', { url: 'https://shop.example/hook' }, KEY),
]

/** From the raw response; undefined when absent. */
const keyIn = (text: string): string | undefined =>
  /^idempotency-key: (.*)\r$/im.exec(text.split('\r\n\r\n', 1).join())?.[1]

t.test('every route that reads a key echoes it, and no other route does', async (t) => {
  const gateway = await startGateway(t)
  for (const request of KEYED) {
    const answer = await call(gateway.port, request)
    t.ok(answer.status < 300, `${request.path} ${answer.status}`)
    t.equal(answer.headers.get(IDEMPOTENCY_KEY), 'order 17', request.path)
    const { Authorization } = request.headers as { Authorization?: string }
    const without = Authorization === undefined ? {} : { Authorization }
    const keyless = await call(gateway.port, { ...request, headers: without })
    t.equal(keyless.headers.get(IDEMPOTENCY_KEY), null, `${request.path} without a key`)
  }
  const headers = { 'Idempotency-Key': KEY }
  const other = await call(gateway.port, { ...get('/v1/balances'), headers })
  t.equal(other.status, 200)
  t.equal(other.headers.get(IDEMPOTENCY_KEY), null)
})

t.test('only the routes above read the header', async (t) => {
  const paths = ROUTES.filter(
    ({ method, path, auth }) =>
      auth !== 'none' && headersRead(method, path).includes(IDEMPOTENCY_KEY),
  ).map(({ path }) => path.replace('{intent_id}', INTENT))
  t.same(paths.sort(), KEYED.map(({ path }) => path).sort())
})

t.test('keys that the parser makes equal are echoed as equal', async (t) => {
  const gateway = await startGateway(t)
  for (const sent of ['inv-é', 'inv-ü', 'ÿinv-', ' inv-\t']) {
    for (const encoding of ['latin1', 'utf8'] as const) {
      const bytes = Buffer.from(bytesOf(payoutRequest(sent)), encoding)
      const { text } = await roundTrip(gateway.port, bytes)
      t.match(text, /^HTTP\/1\.1 202 /, `${sent} ${encoding}`)
      t.equal(keyIn(text), 'inv-', `${sent} ${encoding}`)
      t.match(gateway.processorStub.commands.at(-1), { create_payout: { idempotency_key: 'inv-' } })
    }
  }
})

t.test('an invalid key is not echoed', async (t) => {
  const gateway = await startGateway(t)
  const refused = ['a\tb', 'inv-é-1', 'x'.repeat(256), 'a\x7f', 'é']
  for (const key of refused) {
    const bytes = Buffer.from(bytesOf(payoutRequest(key)), 'latin1')
    const { text } = await roundTrip(gateway.port, bytes)
    t.match(text, /^HTTP\/1\.1 400 /, JSON.stringify(key.slice(0, 20)))
    t.equal(keyIn(text), undefined, JSON.stringify(key.slice(0, 20)))
  }
  const headers = { 'Idempotency-Key': 'a', 'idempotency-key': 'b' }
  const twice = bytesOf({ ...payoutRequest(), headers })
  const { text } = await roundTrip(gateway.port, twice)
  t.match(text, /^HTTP\/1\.1 400 /)
  t.equal(keyIn(text), undefined)
})

t.test('errors to an authenticated caller echo the key', async (t) => {
  const clock = heldClock()
  const gateway = await startGateway(t, { answerWithinMs: 100, clock })
  const keyOf = async (request: HttpCall): Promise<[number, string | null]> => {
    const { status, headers } = await call(gateway.port, request)
    return [status, headers.get(IDEMPOTENCY_KEY)]
  }
  const good = payoutRequest(KEY)
  t.same(await keyOf({ ...good, body: '{' }), [400, KEY])
  for (const [code, status] of [
    ['duplicate_payout', 409],
    ['insufficient_balance', 422],
    ['configuration_error', 503],
  ] as const) {
    gateway.processorStub.script = refuseWith(code)
    t.same(await keyOf(good), [status, KEY])
  }
  gateway.processorStub.script = silence
  const { commands } = gateway.processorStub
  const before = commands.length
  const waiting = keyOf(good)
  await eventually('the command arrived', () => commands.length > before)
  clock.pass(100)
  t.same(await waiting, [504, KEY])
})

t.test('a 429 echoes the key', async (t) => {
  const partners = snapshot({ rate_limit_per_second: 1 })
  const gateway = await startGateway(t, { partners, clock: heldClock() })
  await call(gateway.port, payoutRequest(KEY))
  const over = await call(gateway.port, payoutRequest(KEY))
  t.equal(over.status, 429)
  t.equal(over.headers.get(IDEMPOTENCY_KEY), KEY)
})

t.test('a 401 never echoes the key', async (t) => {
  const gateway = await startGateway(t)
  const good = payoutRequest(KEY)
  const namesOf = async (request: HttpCall): Promise<string[]> => {
    const { status, headers } = await call(gateway.port, request)
    t.equal(status, 401)
    return [...headers.keys()]
  }
  const badSignature = await namesOf({ ...good, secret: 'sk_of_eve' })
  gateway.processorStub.script = refuseWith('authentication_failed')
  t.same(await namesOf(good), badSignature, 'a valid signature with a used nonce')
  t.notOk(badSignature.includes(IDEMPOTENCY_KEY))
})
