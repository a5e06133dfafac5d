/** The requests of each scenario are valid, distinct and checked. */
import t from 'tap'
import { signingKey } from '../../../src/auth/signature.js'
import { verifyRequest } from '../../../src/auth/verify.js'
import { systemClock } from '../../../src/base/clock.js'
import { checkCreateIntent } from '../../../src/api/intent_messages.js'
import { readBody } from '../../../gateway/decode/body.js'
import { createMessageReader } from '../client/http_message.js'
import { nothingAccepted } from './scenario.js'
import { createScenario } from './scenarios.js'

const key = { keyId: 'demo_sandbox_2026q4', secret: 'sk_of_the_load' }

const fixtures = { intents: [], payouts: [], beneficiaries: [], references: [] }
const order = { ...key, host: 'api.localhost', awaitsWebhooks: false, fixtures }
const accepted = nothingAccepted()
const creates = createScenario({ ...order, name: 'creates' }, accepted)

/** Reads a request of the announced length. */
function taken(request: Buffer = Buffer.alloc(0)) {
  const message = createMessageReader(/^(.+)\r\n/)(request)
  if (typeof message === 'string') throw new Error(`the request is ${message}`)
  const header = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(message.head)?.[1]
  return { line: message.first[1], body: message.body, header }
}

t.test('the service accepts every request of a scenario', async (t) => {
  creates.prepare(3, false)
  for (const connection of [0, 1, 0]) {
    const { line, header, body } = taken(creates.begin(connection))
    t.equal(line, 'POST /v1/payment_intents HTTP/1.1')
    t.equal(header('Host'), 'api.localhost')
    t.match(header('Idempotency-Key'), /^[0-9a-f]{32}$/)
    t.ok(readBody(body, checkCreateIntent).ok)
    const signed = (name: string) => header(`X-Service-${name}`)
    const verdict = verifyRequest(
      {
        ...{ method: 'POST', path: '/v1/payment_intents', body, environment: 'sandbox' },
        ...{ keyId: signed('Key-Id'), timestamp: signed('Timestamp'), nonce: signed('Nonce') },
        ...{ signature: signed('Signature'), allowsAddress: () => true },
      },
      (id) =>
        id === key.keyId ? { secret: signingKey(key.secret), revokedAt: undefined } : undefined,
      systemClock.now(),
    )
    t.ok(verdict.ok)
  }
})

t.test('no two requests are equal, and presigned ones run out', async (t) => {
  const distinct = (count: number, of: (request: ReturnType<typeof taken>) => unknown) =>
    new Set(Array.from({ length: count }, () => of(taken(creates.begin(0))))).size
  for (const name of ['X-Service-Nonce', 'X-Service-Signature', 'Idempotency-Key']) {
    creates.prepare(100, false)
    t.equal(
      distinct(100, ({ header }) => header(name)),
      100,
      name,
    )
    t.equal(creates.begin(0), undefined)
  }
  creates.prepare(1, true)
  t.equal(
    distinct(100, ({ body }) => body.toString()),
    100,
    'a continuing source',
  )
})

t.test(
  '201 completes a journey, any other answer fails it under its status and code',
  async (t) => {
    const error = '{"error":{"code":"configuration_error"}}'
    const answers = [
      [201, '{"intent_id":"pi_1"}', { kind: 'completed' }],
      [201, '{"intent_id":"pi_2"}', { kind: 'completed' }],
      [503, error, { kind: 'failed', code: '503 configuration_error' }],
      [200, '{"intent_id":"pi_3"}', { kind: 'failed', code: '200' }],
      [502, '<html>', { kind: 'failed', code: '502' }],
    ] as const
    for (const [status, body, next] of answers)
      t.same(creates.proceed(0, { status, body: Buffer.from(body) }), next)
    t.same(accepted, { intents: 2, payouts: 0, samples: ['pi_1'] })
  },
)
