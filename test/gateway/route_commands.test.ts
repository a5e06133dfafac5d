/** Each route: the command that it sends, and the status that it answers with. */
import t from 'tap'
import { EVENT_TYPES } from '../../src/base/event_types.js'
import {
  bearer,
  beneficiaryBody,
  byToken,
  call,
  createBody,
  createRequest,
  get,
  INTENT,
  payoutBody,
  payoutRequest,
  post,
  receiptBearer,
  remintBody,
  SUBJECT,
  TENANT,
  type HttpCall,
} from './signing_partner.js'
import { startGateway } from './running_gateway.js'

const intent = `/v1/payment_intents/${INTENT}`
const endpoint = '/v1/webhook_endpoints/we_1'
const endpoint_id = 'we_1'
const url = 'https://example.com/hooks?a=b'
const enabled_events = ['*', ...EVENT_TYPES]
const patch = (path: string, body: object): HttpCall => ({ ...post(path, body), method: 'PATCH' })

const ofSession = { intent_id: INTENT, session_jti: 'A'.repeat(22) }
const scanBody = { qr_payload: '000201', local_amount_minor_units: 5_000 }
const scanned = { ...ofSession, qr_payload: '000201', local_amount_minor_units: '5000' }
const confirm = byToken(
  post(`${intent}/confirm`, undefined, 'c1'),
  bearer(INTENT).replace('Bearer', 'bEaReR'),
)
const receipt = { get_receipt: { intent_id: INTENT, subject: SUBJECT } }
const payouts = '/v1/payouts?created_after=2026-11-21T04:35:40.1239Z&reference=%F0%9F%98%80'
const deposit = { currency: 'THB', amount: '125000' }
const quote = { sell_currency: 'USD', sell_amount: '10000', buy_currency: 'THB' }
const described = { endpoint_id, description: '', url: undefined, api_version: undefined }

/** The operation has its relevant members. */
const sends = (request: HttpCall, status: number, operation: object) => ({
  ...{ request, status, operation },
})

const CASES = [
  sends(createRequest(), 201, { create_intent: createBody }),
  sends(get(intent), 200, { get_intent: { intent_id: INTENT } }),
  sends(byToken(get(intent), bearer(INTENT)), 200, {
    get_intent: { intent_id: INTENT },
    signed_by: undefined,
  }),
  sends(byToken(post(`${intent}/scan`, scanBody), bearer(INTENT)), 200, { scan_intent: scanned }),
  sends(confirm, 200, { confirm_intent: { ...ofSession, idempotency_key: 'c1' } }),
  sends(post(`${intent}/cancel`, {}), 200, { cancel_intent: { intent_id: INTENT } }),
  sends(post(`${intent}/session`, remintBody), 200, {
    remint_session: { intent_id: INTENT, ...remintBody },
  }),
  sends(post(`${intent}/receipt_token`), 200, { mint_receipt_token: { intent_id: INTENT } }),
  sends(byToken(get(`${intent}/receipt`), receiptBearer()), 200, {
    ...receipt,
    tenant: TENANT,
    signed_by: undefined,
  }),
  sends(post(`${intent}/refund`, undefined, 'r1'), 202, {
    refund_intent: { intent_id: INTENT, idempotency_key: 'r1' },
  }),

  sends(post('/v1/beneficiaries', beneficiaryBody), 201, {
    create_beneficiary: { beneficiary: beneficiaryBody },
  }),
  sends(get('/v1/beneficiaries/ben_1'), 200, { get_beneficiary: { beneficiary_id: 'ben_1' } }),
  sends(post('/v1/beneficiaries/ben_1/disable'), 200, {
    disable_beneficiary: { beneficiary_id: 'ben_1' },
  }),
  sends(get('/v1/beneficiaries?limit=7&cursor=a.b'), 200, {
    list_beneficiaries: { limit: 7, cursor: 'a.b' },
  }),

  sends(payoutRequest(), 202, {
    create_payout: { ...payoutBody, idempotency_key: 'k', metadata: {} },
  }),
  sends(get('/v1/payouts/pout_1'), 200, { get_payout: { payout_id: 'pout_1' } }),
  sends(post('/v1/payouts/pout_1/cancel'), 200, { cancel_payout: { payout_id: 'pout_1' } }),
  sends(get(payouts), 200, {
    list_payouts: { created_after: '1795235740123', status: undefined, reference: '😀' },
  }),
  sends(post('/v1/sandbox/payouts/pout_1/simulate', { outcome: 'reversed' }), 202, {
    simulate_payout: { payout_id: 'pout_1', outcome: 'reversed' },
  }),

  sends(get('/v1/balances?ignored=1'), 200, { get_balances: {} }),
  sends(get('/v1/balance_transactions?limit=100'), 200, {
    list_balance_transactions: { limit: 100, cursor: undefined },
  }),
  sends(post('/v1/funding/deposits', deposit), 201, {
    create_deposit: { ...deposit, idempotency_key: undefined },
  }),
  sends(post('/v1/funding/deposits', deposit, 'k'), 201, {
    create_deposit: { ...deposit, idempotency_key: 'k' },
  }),
  sends(post('/v1/fx/quotes', quote), 201, { create_fx_quote: quote }),
  sends(post('/v1/fx/conversions', { quote_id: 'fxq_1' }, 'k'), 201, {
    create_fx_conversion: { quote_id: 'fxq_1', idempotency_key: 'k' },
  }),

  sends(post('/v1/webhook_endpoints', { url }), 201, {
    create_webhook_endpoint: { url, enabled_events: [], api_version: undefined },
  }),
  sends(post('/v1/webhook_endpoints', { url, enabled_events, api_version: '2026-11-01' }), 201, {
    create_webhook_endpoint: { enabled_events, api_version: '2026-11-01' },
  }),
  sends(get('/v1/webhook_endpoints'), 200, { list_webhook_endpoints: {} }),
  sends(get(endpoint), 200, { get_webhook_endpoint: { endpoint_id } }),
  sends(patch(endpoint, { description: '' }), 200, {
    update_webhook_endpoint: { ...described, enabled_events: null },
  }),
  sends(patch(endpoint, { url, enabled_events: [] }), 200, {
    update_webhook_endpoint: { url, enabled_events: { types: [] } },
  }),
  sends({ method: 'DELETE', path: endpoint }, 200, { delete_webhook_endpoint: { endpoint_id } }),
  sends(post(`${endpoint}/enable`, {}), 200, { enable_webhook_endpoint: { endpoint_id } }),
  sends(post(`${endpoint}/disable`), 200, { disable_webhook_endpoint: { endpoint_id } }),
  sends(post(`${endpoint}/rotate_secret`), 200, {
    rotate_webhook_secret: { endpoint_id, activate_at: undefined },
  }),
  sends(post(`${endpoint}/rotate_secret`, { activate_at: '2026-11-21T11:35:40.1231+07:00' }), 200, {
    rotate_webhook_secret: { activate_at: '1795235740124' },
  }),
  sends(post(`${endpoint}/test`), 202, { test_webhook_endpoint: { endpoint_id } }),
  sends(get(`${endpoint}/deliveries?limit=7&cursor=a.b`), 200, {
    list_deliveries: { endpoint_id, limit: 7, cursor: 'a.b' },
  }),
  sends(post(`${endpoint}/recover`, { since: '2026-11-21T04:35:40.1239Z' }), 202, {
    recover_webhook_endpoint: { endpoint_id, since: '1795235740123' },
  }),
  sends(get('/v1/events'), 200, { list_events: { after: '0', limit: undefined } }),
  sends(get('/v1/events?after=41&limit=100'), 200, { list_events: { after: '41', limit: 100 } }),
  sends(post('/v1/events/evt_1/resend'), 202, {
    resend_event: { event_id: 'evt_1', endpoint_id: undefined },
  }),
  sends(post('/v1/events/evt_1/resend', { endpoint_id }), 202, {
    resend_event: { event_id: 'evt_1', endpoint_id },
  }),
]

t.test('each route sends its own operation and answers with its own status', async (t) => {
  const { port, processorStub } = await startGateway(t)
  for (const { request, status, operation } of CASES) {
    const name = `${request.method} ${request.path} ${request.body ?? ''}`
    t.equal((await call(port, request)).status, status, name)
    t.match(processorStub.commands.at(-1), operation, name)
  }
  t.equal(processorStub.commands.length, CASES.length)
})
