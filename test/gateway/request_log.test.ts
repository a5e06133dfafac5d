/** The request log: its lines, its bounds, and values that it never contains. */
import t, { type Test } from 'tap'
import { createRequestLog, REFUSAL_LINES_MAX } from '../../gateway/request_log.js'
import type { AnsweredRequest } from '../../gateway/request_log.js'
import type { Caller } from '../../gateway/http/caller.js'
import { createLog } from '../../src/base/log.js'
import type { RequestId, TenantId } from '../../src/base/ids.js'
import { eventually } from '../support/eventually.js'
import { startGateway } from './running_gateway.js'
import { call, createRequest, get, INTENT, KEY_ID } from './signing_partner.js'
import { PLANTED } from './wrong_requests.js'

const ROUTE = { name: 'GET /v1/payment_intents/{intent_id}', id: INTENT }

type Line = Readonly<Record<string, unknown>>
interface Counted {
  readonly served: number
  readonly refused: readonly { caller: string; code: string; count: number }[]
  readonly unauthenticated: readonly { code: string; count: number }[]
}

/** Requests of callers `key_0`, `key_1` and so on. Undefined means not authenticated. */
function start(t: Test, LOG_LEVEL: 'info' | 'debug' | 'warn' = 'info') {
  const lines: Line[] = []
  const destination = { write: (line: string) => lines.push(JSON.parse(line) as Line) }
  const log = createRequestLog({
    log: createLog('gateway', { LOG_LEVEL }, destination),
    settings: { LOG_REQUESTS_PER_SECOND: 20, LOG_REFUSALS_PER_SECOND: 5 },
  })
  t.teardown(() => log.stop())
  const answer = (caller: number | undefined, code?: AnsweredRequest['code'], body = ''): void => {
    const request: AnsweredRequest = {
      requestId: 'req_1' as RequestId,
      method: 'GET',
      caller: caller === undefined ? undefined : callerOf(`key_${caller}`),
      code,
      violation: undefined,
      replayed: false,
    }
    log.answered(request, ROUTE, code === undefined ? 200 : 409, 1, body)
  }
  return { lines, log, answer }
}

const callerOf = (keyId: string): Caller => ({
  tenant: 'acme_sandbox' as TenantId,
  signedBy: { key_id: keyId },
  sessionJti: '',
  receiptSubject: '',
  rateKey: keyId,
  ratePerSecond: 0,
})

t.test('lines are bounded per caller and in total, further requests are counted', async (t) => {
  const { lines, log, answer } = start(t)
  for (let i = 0; i < 1_000; i++) answer(0, 'duplicate_payout')
  t.equal(lines.length, 5)
  for (let key = 1; key <= 100; key++) for (let i = 0; i < 10; i++) answer(key, 'quote_expired')
  t.equal(lines.length, REFUSAL_LINES_MAX)
  for (let i = 0; i < 30_000; i++) answer(i % 100)
  t.equal(lines.length, REFUSAL_LINES_MAX + 20)
  for (let i = 0; i < 100_000; i++) answer(undefined, i % 2 ? 'not_found' : 'authentication_failed')
  t.equal(lines.length, REFUSAL_LINES_MAX + 20, 'unauthenticated requests have no lines')
  log.stop()
  t.equal(lines.length, REFUSAL_LINES_MAX + 21, 'one line counts the second')
  const counted = lines.at(-1) as unknown as Counted
  t.match(counted, { message: 'requests counted', served: 29_980 })
  t.strictSame(counted.refused[0], { caller: 'key_0', code: 'duplicate_payout', count: 995 })
  t.equal(counted.refused.length, 20, 'only some callers are named')
  t.strictSame(counted.unauthenticated, [
    { code: 'authentication_failed', count: 50_000 },
    { code: 'not_found', count: 50_000 },
  ])
  log.stop()
  t.equal(lines.length, REFUSAL_LINES_MAX + 21, 'the next second starts at zero')
})

t.test('LOG_LEVEL=debug logs every authenticated request, warn only failures', async (t) => {
  const debug = start(t, 'debug')
  for (let i = 0; i < 300; i++) debug.answer(0, 'quote_expired')
  for (let i = 0; i < 300; i++) debug.answer(0)
  t.equal(debug.lines.length, 600)
  const warn = start(t, 'warn')
  warn.answer(0, 'quote_expired')
  warn.answer(0)
  warn.log.stop()
  t.equal(warn.lines.length, 0)
})

t.test('lines of a gateway', async (t) => {
  const texts: string[] = []
  const gateway = await startGateway(t, {
    onLogLine: (line) => texts.push(line),
    script: ({ ticket }) => [
      { ticket, code: '', body: `{"id":"${INTENT}","session_token":"x"}`, replayed: true },
    ],
  })
  const lineOf = (requestId: string | null): Line | undefined =>
    texts.map((text) => JSON.parse(text) as Line).find((line) => line['request_id'] === requestId)

  const created = await call(gateway.port, createRequest())
  const { time, elapsed_ms: elapsedMs, ...line } = lineOf(created.headers.get('x-request-id')) ?? {}
  t.equal(new Date(String(time)).toISOString(), time)
  t.type(elapsedMs, 'number')
  t.strictSame(line, {
    level: 'info',
    process: 'gateway',
    request_id: created.headers.get('x-request-id'),
    partner: 'acme',
    environment: 'sandbox',
    key_id: KEY_ID,
    method: 'POST',
    route: '/v1/payment_intents',
    status: 201,
    replayed: true,
    entity_id: INTENT,
    message: 'request served',
  })

  gateway.processorStub.script = ({ ticket }) => [
    { ticket, code: '', body: `{"intent_id":"${INTENT}","session_token":"x"}` },
  ]
  const intent = await call(gateway.port, createRequest())
  t.match(lineOf(intent.headers.get('x-request-id')), { entity_id: INTENT })

  gateway.processorStub.script = ({ ticket }) => [{ ticket, code: 'timeout' }]
  const late = await call(gateway.port, get('/v1/balances'))
  const failed = { level: 'warn', message: 'request failed', status: 504, code: 'timeout' }
  t.match(lineOf(late.headers.get('x-request-id')), failed)

  const planted = `/v1/payouts/${PLANTED.token}?reference=${PLANTED.account}`
  const headers = { 'Idempotency-Key': PLANTED.secret, 'X-Request-Id': PLANTED.secret }
  const odd = await call(gateway.port, { ...get(planted), headers })
  const shown = lineOf(odd.headers.get('x-request-id'))
  t.match(shown, { route: '/v1/payouts/{payout_id}' })
  t.notOk(shown !== undefined && 'entity_id' in shown, 'a malformed id is not logged')

  const before = texts.length
  await call(gateway.port, { ...get('/v1/balances'), secret: PLANTED.secret })
  await call(gateway.port, { ...get(`/v1/${PLANTED.qr}`), unsigned: true })
  const counted = (): Counted[] => texts.slice(before).map((text) => JSON.parse(text) as Counted)
  const codes = (): string[] =>
    counted().flatMap(({ unauthenticated }) => unauthenticated.map(({ code }) => code))
  await eventually('unauthenticated requests are counted', () => codes().length === 2)
  t.match(counted()[0], { message: 'requests counted', served: 0, refused: [] })
  t.strictSame(codes().toSorted(), ['authentication_failed', 'not_found'])
  for (const value of Object.values(PLANTED)) t.notOk(texts.join('').includes(value), value)
})
