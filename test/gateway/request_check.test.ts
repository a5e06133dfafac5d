/** POST /v1/sandbox/request/check: the report agrees with what the service answers. */
import t from 'tap'
import { errorOf } from './answers.js'
import { startGateway, type Running } from './running_gateway.js'
import {
  bearer,
  byToken,
  call,
  createRequest,
  get,
  INTENT,
  post,
  PRODUCTION_KEY_ID,
  signedHeaders,
  type HttpCall,
} from './signing_partner.js'
import { PLANTED, WRONG_REQUESTS } from './wrong_requests.js'

const PATH = '/v1/sandbox/request/check'

interface Report {
  readonly accepted: boolean
  readonly refusal: { status: number; code: string; message: string; pointer?: string } | null
  readonly checks: readonly { check: string; result: string; help?: string }[]
  readonly canonical_request: string | null
}

/** Each description is signed again, so the service accepts the request itself as well. */
const describe = (request: HttpCall): object => ({
  method: request.method,
  path: request.path,
  headers: { ...(request.unsigned ? {} : signedHeaders(request)), ...request.headers },
  ...(request.body === undefined ? {} : { body: request.body }),
})

async function check({ port }: Running, request: HttpCall): Promise<Report> {
  const answer = await call(port, { ...post(PATH, describe(request)), unsigned: true })
  t.equal(answer.status, 200, answer.text)
  return answer.json as Report
}

const failedIn = ({ checks }: Report): string[] =>
  checks.filter(({ result }) => result === 'failed').map(({ check: name }) => name)

t.test('a valid request is accepted, and nothing reaches the processor', async (t) => {
  const gateway = await startGateway(t)
  const report = await check(gateway, createRequest())
  t.match(report, { accepted: true, refusal: null, canonical_request: /^POST\n/ })
  t.same(new Set(report.checks.map(({ result }) => result)), new Set(['passed']))
  const read = byToken(get(`/v1/payment_intents/${INTENT}`), bearer(INTENT))
  t.match(await check(gateway, read), { accepted: true, canonical_request: null })
  t.equal(gateway.processorStub.commands.length, 0)
})

t.test('an invalid request gets the report of the error that the service returns', async (t) => {
  const gateway = await startGateway(t)
  const signed = createRequest()
  const strange = get('/v1/nothing')
  const others: readonly (readonly [request: HttpCall, failed: string])[] = [
    [{ ...signed, unsigned: true }, 'key_id_format'],
    [{ ...signed, secret: PLANTED.secret }, 'signature'],
    [{ ...signed, timestamp: '2020-01-01T00:00:00Z' }, 'timestamp_window'],
    [{ ...signed, nonce: 'x' }, 'nonce_format'],
    [{ ...signed, keyId: PRODUCTION_KEY_ID }, 'environment'],
    [{ ...strange, unsigned: true }, 'route'],
    [strange, 'route'],
    [{ ...signed, method: 'PUT' }, 'route'],
    [{ ...post('/v1/payment_intents/pi_1/confirm'), unsigned: true }, 'token'],
  ]
  const cases = [
    ...others,
    ...WRONG_REQUESTS.map(({ call: request, pointer }) => {
      const part = pointer.split('/')[0] ?? ''
      return [request, { header: 'idempotency_key', query: 'query' }[part] ?? 'body'] as const
    }),
  ]
  for (const [request, name] of cases) {
    const report = await check(gateway, request)
    const title = `${request.method} ${request.path}: ${name}`
    const answer = await call(gateway.port, request)
    const { code, message } = errorOf(answer.json)
    t.match(report.refusal, { status: answer.status, code, message }, title)
    t.ok(failedIn(report).includes(name), title)
    for (const value of [PLANTED.secret, PLANTED.token, PLANTED.qr]) {
      t.notOk(JSON.stringify(report).includes(value), title)
    }
  }
})

t.test('production answers 400, a malformed description names its field', async (t) => {
  const gateway = await startGateway(t)
  const wrong = await call(gateway.port, { ...post(PATH, { method: 'GET' }), unsigned: true })
  t.equal(errorOf(wrong.json).message, 'path: is required')
  const environment = { SANDBOX_HOSTS: 'sandbox.example', PRODUCTION_HOSTS: '127.0.0.1' }
  const production = await startGateway(t, { environment })
  const described = { ...post(PATH, describe(createRequest())), unsigned: true }
  const refused = await call(production.port, described)
  t.match(refused, { status: 400, json: { error: { message: 'The request is not valid.' } } })
})
