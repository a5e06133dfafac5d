/**
 * The trace of a QR payment and of a payout through a whole stack, with a collector of the test.
 *
 * - The processor is killed while the QR payment waits for the rail: its trace goes on.
 */
import t, { type Test } from 'tap'
import { eventually } from '../support/eventually.js'
import { withKey } from '../support/partner.js'
import { type ReceivedWebhook } from '../support/receiver.js'
import { anIntent, payeeOf, payoutBody, promptPayQr } from '../support/requests.js'
import { startStack } from '../support/stack.js'
import { openCollector, type CollectedSpan } from './collector.js'

const MOBILE = '0066879135246'
const NAME = 'Marked Beneficiary Zq7'
const USER = 'somchai@example'
const ACCOUNT = '7741852096'
const CALLER_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER_SPAN = '00f067aa0ba902b7'
const CALLER = `00-${CALLER_TRACE}-${CALLER_SPAN}-01`
const OTHER = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`

const collector = await openCollector()
t.teardown(() => collector.close())
const stack = await startStack({
  t,
  settings: { OTLP_URL: collector.url, TRACE_SAMPLE: '1', RAIL_DELAY_MS: '4000' },
})
const { partner } = stack
const receiver = await stack.receiver()

const spansOf = (traceId: string): CollectedSpan[] =>
  collector.spans.filter((span) => span.traceId === traceId)
const traceOf = ({ headers }: ReceivedWebhook): string[] =>
  String(headers['traceparent']).split('-')
const servicesOf = (spans: readonly CollectedSpan[]): string[] =>
  [...new Set(spans.map(({ service }) => service))].sort()
const ALL = ['causeway-gateway', 'causeway-processor', 'causeway-rail', 'causeway-webhooks']

/** Every span but the first is below another one, and within its time where it caused a wait. */
function isOneTree(t: Test, spans: readonly CollectedSpan[], outside: string): void {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  t.equal(ids.size, spans.length, 'every span has an id of its own')
  const roots = spans.filter(({ parentSpanId }) => parentSpanId === outside)
  t.equal(roots.length, 1, 'it begins with one span')
  t.equal(roots[0]?.service, 'causeway-gateway')
  for (const { name, parentSpanId } of spans) {
    t.ok(parentSpanId === outside || ids.has(parentSpanId), `the parent of ${name} is known`)
  }
  for (const { name, startedAt, endedAt } of spans) t.ok(endedAt >= startedAt, name)
}

const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
  const span = spans.find((each) => each.name === name)
  if (span === undefined) throw new Error(`no span ${name}: ${spans.map((s) => s.name).join()}`)
  return span
}

/** Each process sends its spans by itself, and a parent may come after its children. */
const untilWhole = (traceId: string, outside: string, names: readonly string[]) =>
  eventually(`all spans of ${traceId}`, () => {
    const spans = spansOf(traceId)
    const ids = new Set([outside, ...spans.map(({ spanId }) => spanId)])
    const isThere = (name: string): boolean => spans.some((span) => span.name === name)
    return spans.every(({ parentSpanId }) => ids.has(parentSpanId)) && names.every(isThere)
  })

const parentOf = (spans: readonly CollectedSpan[], span: CollectedSpan): string =>
  spans.find(({ spanId }) => spanId === span.parentSpanId)?.name ?? ''

/** Rows are read as `child < parent`. */
const tree = (spans: readonly CollectedSpan[], of: (span: CollectedSpan) => boolean): string[] =>
  spans
    .filter(of)
    .map((span) => `${span.name} < ${parentOf(spans, span)}`)
    .sort()

t.test('a QR payment, over a restart of the processor', async (t) => {
  const created = await partner.request('POST', '/v1/payment_intents', {
    ...anIntent(),
    partner_user_id: USER,
  })
  const { intent_id: intent, session_token: token } = created.body as Record<string, string>
  const app = partner.session(token!)
  await app.request('POST', `/v1/payment_intents/${intent}/scan`, {
    ...{ qr_payload: promptPayQr(MOBILE), local_amount_minor_units: '36000' },
  })
  const confirmed = await app.request(
    'POST',
    `/v1/payment_intents/${intent}/confirm`,
    undefined,
    withKey('confirm'),
  )
  t.equal(confirmed.status, 200)
  const { traceId } = await eventually('the spans until then', () => {
    const instructed = collector.spans.find(({ name }) => name === 'rail instruct')
    const isConfirmed = collector.spans.some(
      (span) => span.traceId === instructed?.traceId && span.name === 'confirm_intent',
    )
    return isConfirmed && instructed
  })
  stack.kill('processor')
  const captured = await receiver.until(
    'it is captured',
    ({ eventType }) => eventType === 'payment_intent.captured',
    60_000,
  )
  t.equal(traceOf(captured)[1], traceId, 'the receiver sees the same trace')
  const create = 'create_intent'
  const expected = [
    'POST /v1/payment_intents < ',
    `POST /v1/payment_intents/{intent_id}/confirm < ${create}`,
    `POST /v1/payment_intents/{intent_id}/scan < ${create}`,
    'POST payment_intent.captured < rail_report_apply',
    'confirm_intent < POST /v1/payment_intents/{intent_id}/confirm',
    'create_intent < POST /v1/payment_intents',
    'rail instruct < confirm_intent',
    `rail_report_apply < ${create}`,
    'scan_intent < POST /v1/payment_intents/{intent_id}/scan',
  ]
  const namesOf = (rows: readonly string[]) => rows.map((row) => row.split(' < ')[0]!)
  await untilWhole(traceId, '', namesOf(expected))
  const all = spansOf(traceId)
  isOneTree(t, all, '')
  t.same(servicesOf(all), ALL)
  // The rail is inquired when the processor has been away for longer.
  const isInquiry = ({ name }: CollectedSpan) => name === 'rail query' || name.includes('timer')
  t.same(
    tree(all, (span) => span.name !== 'commit' && !isInquiry(span)),
    expected,
  )
  t.match(named(all, 'rail_report_apply'), {
    attributes: { 'causeway.entity_id': intent, 'causeway.state': 'captured' },
    events: ['decided', 'captured'],
  })
  const delivery = named(all, 'POST payment_intent.captured')
  t.equal(traceOf(captured)[2], delivery.spanId, 'the receiver gets the span of its attempt')
  t.match(delivery.attributes, { 'http.response.status_code': '200', 'causeway.attempt': '1' })
})

t.test("a payout in its caller's trace, and a later request in another one", async (t) => {
  const beneficiary = payeeOf(ACCOUNT, { name: NAME })
  const request = payoutBody({ reference: 'traced', beneficiary })
  const created = await partner.request('POST', '/v1/payouts', request, {
    headers: { 'Idempotency-Key': 'payout', traceparent: CALLER },
  })
  t.equal(created.status, 202)
  const { id } = created.body as { id: string }
  const completed = await receiver.until(
    'it is completed',
    ({ eventType }) => eventType === 'payout.completed',
    60_000,
  )
  t.equal(traceOf(completed)[1], CALLER_TRACE)
  const names = ['POST payout.completed', 'rail_report_apply', 'POST /v1/payouts', 'rail instruct']
  await untilWhole(CALLER_TRACE, CALLER_SPAN, names)
  const all = spansOf(CALLER_TRACE)
  isOneTree(t, all, CALLER_SPAN)
  t.same(servicesOf(all), ALL)

  const read = await partner.request('GET', `/v1/payouts/${id}`, undefined, {
    headers: { traceparent: OTHER },
  })
  t.equal(read.status, 200)
  const simulated = await partner.request(
    'POST',
    `/v1/sandbox/payouts/${id}/simulate`,
    { outcome: 'reversed' },
    { headers: { traceparent: OTHER } },
  )
  t.ok(simulated.status < 300, simulated.text)
  const ofOther = 'ab'.repeat(16)
  const inOther = ['GET /v1/payouts/{payout_id}', 'get_payout', 'simulate_payout']
  await eventually('the spans of the other trace', () =>
    inOther.every((name) => spansOf(ofOther).some((span) => span.name === name)),
  )
  await eventually('the return is in the trace of the payout', () =>
    spansOf(CALLER_TRACE).some(({ name }) => name === 'POST payout.reversed'),
  )
})

t.test('no span has personal data', async (t) => {
  for (const text of collector.bodies) {
    for (const personal of [MOBILE, '66879135246', NAME, USER, ACCOUNT]) {
      t.notOk(text.includes(personal), personal)
    }
  }
})
