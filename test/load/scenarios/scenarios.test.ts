/** The requests of each scenario are valid, distinct and checked. */
import t from 'tap'
import { signingKey } from '../../../src/auth/signature.js'
import { verifyRequest } from '../../../src/auth/verify.js'
import { instant } from '../../../src/base/clock.js'
import { systemRandom } from '../../../src/base/random.js'
import { checkCreateIntent } from '../../../gateway/schemas/intents.js'
import { readBody } from '../../../gateway/decode/body.js'
import { createScenario } from './scenarios.js'

const NOW = instant(Date.UTC(2026, 10, 21, 4, 35, 40, 123))
const SECRET = 'sk_of_the_load'
const KEY_ID = 'demo_sandbox_2026q4'

const scenario = () =>
  createScenario({
    ...{ name: 'creates', host: 'api.localhost', keyId: KEY_ID, secret: SECRET },
    ...{ awaitsWebhooks: false, connections: 2, random: systemRandom() },
    fixtures: { intents: [], payouts: [], beneficiaries: [], references: [] },
    clock: { now: () => NOW },
  })

function taken(request: Buffer | undefined) {
  const text = request?.toString() ?? ''
  const [head = '', body = ''] = text.split('\r\n\r\n')
  const [line = '', ...headers] = head.split('\r\n')
  const pairs = headers.map((header) => header.split(': '))
  return {
    line,
    body: Buffer.from(body),
    headers: new Map(pairs.map(([name = '', value = '']) => [name.toLowerCase(), value])),
  }
}

t.test('the service accepts every request of a scenario', (t) => {
  const creates = scenario()
  creates.prepare(3, false)
  for (const connection of [0, 1, 0]) {
    const { line, headers, body } = taken(creates.begin(connection))
    t.equal(line, 'POST /v1/payment_intents HTTP/1.1')
    t.equal(headers.get('host'), 'api.localhost')
    t.equal(headers.get('content-length'), String(body.length))
    t.match(headers.get('idempotency-key'), /^[0-9a-f]{32}$/)
    t.ok(readBody(body, checkCreateIntent).ok)
    const header = (name: string) => headers.get(`x-service-${name}`)
    const verdict = verifyRequest(
      {
        ...{ method: 'POST', path: '/v1/payment_intents', body, environment: 'sandbox' },
        ...{ keyId: header('key-id'), timestamp: header('timestamp'), nonce: header('nonce') },
        ...{ signature: header('signature'), allowsAddress: () => true },
      },
      (id) => (id === KEY_ID ? { secret: signingKey(SECRET), revokedAt: undefined } : undefined),
      NOW,
    )
    t.ok(verdict.ok)
  }
  t.end()
})

t.test('no two requests are equal, and presigned ones run out', (t) => {
  const creates = scenario()
  creates.prepare(100, false)
  const requests = Array.from({ length: 100 }, () => taken(creates.begin(0)))
  for (const header of ['x-service-nonce', 'x-service-signature', 'idempotency-key']) {
    t.equal(new Set(requests.map(({ headers }) => headers.get(header))).size, 100, header)
  }
  t.equal(new Set(requests.map(({ body }) => body.toString())).size, 100)
  t.equal(creates.begin(0), undefined)
  creates.prepare(1, true)
  const nonceOf = () => taken(creates.begin(0)).headers.get('x-service-nonce')
  t.equal(new Set(Array.from({ length: 50 }, nonceOf)).size, 50, 'a continuing source')
  t.end()
})

t.test('201 completes a journey, any other answer fails it under its status and code', (t) => {
  const creates = scenario()
  const answer = (status: number, body: string) =>
    creates.proceed(0, { status, body: Buffer.from(body) })
  t.same(answer(201, '{"intent_id":"pi_1"}'), { kind: 'completed' })
  t.same(answer(201, '{"intent_id":"pi_2"}'), { kind: 'completed' })
  t.same(creates.accepted(), { intents: 2, payouts: 0, samples: ['pi_1'] })
  const failed = (code: string) => ({ kind: 'failed', code })
  const error = '{"error":{"code":"configuration_error"}}'
  t.same(answer(503, error), failed('503 configuration_error'))
  t.same(answer(200, '{"intent_id":"pi_3"}'), failed('200'))
  t.same(answer(502, '<html>'), failed('502'))
  t.end()
})
