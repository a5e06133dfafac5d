/** A rejected request: the sandbox names field and rule, production sends a fixed text. */
import t from 'tap'
import { errorOf } from './answers.js'
import { startGateway } from './running_gateway.js'
import { bearer, call, KEY_ID, PRODUCTION_KEY_ID, type RawAnswer } from './signing_partner.js'
import { PLANTED, WRONG_REQUESTS, type WrongRequest } from './wrong_requests.js'
import type { TenantId } from '../../src/base/ids.js'

const titleOf = ({ call: { method, path }, message }: WrongRequest): string =>
  `${method} ${path}: ${message}`

const isFree = (text: string): boolean =>
  Object.values(PLANTED).every((planted) => !text.includes(planted))

interface Line {
  readonly message: string
  readonly request_id: string
}

t.test('the sandbox names field and rule, never the value', async (t) => {
  const lines: string[] = []
  const gateway = await startGateway(t, {
    environment: { LOG_REFUSALS_PER_SECOND: '1000' },
    onLogLine: (line) => lines.push(line),
  })
  for (const wrong of WRONG_REQUESTS) {
    const answer = await call(gateway.port, wrong.call)
    const { code, message } = errorOf(answer.json)
    t.equal(answer.status, 400, titleOf(wrong))
    t.equal(code, wrong.code ?? 'invalid_request', titleOf(wrong))
    t.equal(message, wrong.message, titleOf(wrong))
    t.ok(isFree(answer.text), titleOf(wrong))
    const requestId = answer.headers.get('x-request-id')
    const read = lines.map((line) => JSON.parse(line) as Line)
    t.match(
      read.find(({ request_id }) => request_id === requestId),
      {
        ...{ level: 'info', process: 'gateway', message: 'request refused' },
        ...{ partner: 'acme', environment: 'sandbox', method: wrong.call.method },
        ...(wrong.call.unsigned === true ? {} : { key_id: KEY_ID }),
        ...{ status: 400, code, pointer: wrong.pointer, rule: wrong.rule },
        route: wrong.call.path.split('?')[0]?.replace(/pi_[^/]*/, '{intent_id}') ?? '',
        elapsed_ms: Number,
      },
    )
  }
  t.ok(isFree(lines.join('')), 'no submitted value is in the log')
  t.equal(lines.length, WRONG_REQUESTS.length)
})

const MESSAGES = {
  invalid_request: 'The request is not valid.',
  invalid_beneficiary: 'The beneficiary is not valid.',
} as const

const envelope = (answer: RawAnswer, code: string, message: string): string =>
  JSON.stringify({ error: { code, message, request_id: answer.headers.get('x-request-id') } })

t.test('production answers are byte for byte the fixed texts', async (t) => {
  const environment = { SANDBOX_HOSTS: 'sandbox.example', PRODUCTION_HOSTS: '127.0.0.1' }
  const gateway = await startGateway(t, { environment })
  for (const wrong of WRONG_REQUESTS) {
    const isToken = wrong.call.unsigned === true
    const token = bearer('pi_01M7Y8R76ZBRBZPA32270W80C3', 300, 'acme_production' as TenantId)
    const answer = await call(gateway.port, {
      ...wrong.call,
      ...(isToken ? { headers: { Authorization: token } } : { keyId: PRODUCTION_KEY_ID }),
    })
    const code = (wrong.code ?? 'invalid_request') as keyof typeof MESSAGES
    t.equal(answer.status, 400, titleOf(wrong))
    t.equal(answer.text, envelope(answer, code, MESSAGES[code]), titleOf(wrong))
  }
})

t.test('a violation found by the processor is named too', async (t) => {
  const violation = { pointer: 'query/cursor', rule: 'must be the next_cursor of the same list' }
  const gateway = await startGateway(t, {
    script: ({ ticket }) => [{ ticket, code: 'invalid_request', violation }],
  })
  const answer = await call(gateway.port, { method: 'GET', path: '/v1/payouts?cursor=x' })
  t.equal(errorOf(answer.json).message, 'query cursor: must be the next_cursor of the same list')
})

t.test('401, 403 and 404 have the same bytes in the sandbox', async (t) => {
  const texts = {
    authentication_failed: 'Authentication failed.',
    partner_suspended: 'The partner is suspended.',
    payment_intent_not_found: 'No such payment intent.',
  }
  for (const [code, text] of Object.entries(texts)) {
    const gateway = await startGateway(t, { script: ({ ticket }) => [{ ticket, code }] })
    const answer = await call(gateway.port, { method: 'GET', path: '/v1/balances' })
    t.equal(answer.text, envelope(answer, code, text), code)
  }
  const gateway = await startGateway(t)
  const strange = await call(gateway.port, { method: 'GET', path: '/v1/nothing', unsigned: true })
  t.equal(strange.text, envelope(strange, 'not_found', 'Unknown path.'))
})
