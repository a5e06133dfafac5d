/**
 * Records the examples of the document from a stack of its own: `make examples`.
 *
 * - Each step waits for its outcome, so lists and numbers are the same in every recording.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPT_IN_EVENTS } from '../../src/base/event_types.js'
import { projectRoot } from '../../src/base/project_root.js'
import { eventually } from '../support/eventually.js'
import { partnerOf } from '../support/partner.js'
import { untilStatus } from '../support/payments.js'
import { receiverOf } from '../support/receiver.js'
import { startStack } from '../support/stack.js'
import { EXAMPLES_FILE, formatted } from './generated_files.js'
import { canonicalRequest, newNonce, signatureOf } from '../../src/client/signing.js'
import { SIGNING_SECRET, TIMESTAMP } from './normalize.js'
import { createRecorder } from './recorder.js'

const INTENTS = '/v1/payment_intents'
const ENDPOINTS = '/v1/webhook_endpoints'
const QR = '00020101021129370016A0000006770101110113006681234567853037645802TH6304823E'
/** The code of a merchant whose bank refuses refunds. */
const QR_WITHOUT_REFUND =
  '00020101021129370016A0000006770101110113006699900000953037645802TH63041F14'
const PARTNER_URL = 'https://partner.example/hooks'
const USER = {
  partner_user_id: 'user-1',
  kyc_attestation: { verified: true, method: 'passport', verified_at: '2026-01-05T09:30:00Z' },
  sanctions_attestation: { clean: true, screened_at: '2026-01-05T09:30:00Z' },
}
const INTENT = { ...USER, amount_usd_cents: 1_250, corridor: 'th_promptpay' }
const ACCOUNT = {
  type: 'bank_account',
  name: 'Nguyen Thi Lan',
  destination_country: 'VN',
  currency: 'VND',
  account_number: '0071001234567',
  bank_code: '970436',
}
const SHOWN_NONCE = '4a8456f10e37689778cef532ab6a73742a152d4481190ab31de5d6f3f32f329c'
const STAYS_PROCESSING = '9990000000008'

const stack = await startStack({ settings: { RAIL_DELAY_MS: '50' } })
try {
  const partner = partnerOf(stack.sandbox)
  const receiver = await receiverOf(partner)
  const { call, normalizer, examples } = createRecorder(partner)
  const post = 'POST'
  const get = 'GET'

  /** Until every event so far has arrived, so that no delivery is open. */
  const untilQuiet = async (): Promise<void> => {
    const { body } = await partner.request(get, '/v1/events?limit=100')
    const { data } = body as { data: { event: { id: string; type: string } }[] }
    const sent = data.filter(({ event }) => !OPT_IN_EVENTS.has(event.type))
    await eventually('the events arrive', () =>
      sent.every(({ event }) => receiver.events.has(event.id)),
    )
  }

  // Payments.
  const created = await call({
    ...{ operation: 'createPaymentIntent', method: post, path: INTENTS, status: 201 },
    ...{ key: 'order-7f3a', body: INTENT },
  })
  const intent = `${INTENTS}/${String(created['intent_id'])}`
  const minted = await call({
    ...{ operation: 'createSessionToken', method: post, path: `${intent}/session`, status: 200 },
    body: USER,
  })
  const token = { kind: 'session_token', value: String(minted['session_token']) } as const
  const { quote } = await call({
    ...{ operation: 'scanQrCode', method: post, path: `${intent}/scan`, status: 200, token },
    body: { qr_payload: QR, local_amount_minor_units: '25000' },
  })
  const { quote_id, quote_version } = quote as Record<string, unknown>
  await call({
    ...{ operation: 'confirmPaymentIntent', method: post, path: `${intent}/confirm`, token },
    ...{ key: 'confirm-7f3a', body: { quote_id, quote_version }, status: 200 },
  })
  await untilStatus(partner, intent, 'captured')
  await call({ operation: 'getPaymentIntent', method: get, path: intent, status: 200 })
  const { receipt_token } = await call({
    ...{ operation: 'createReceiptToken', method: post, path: `${intent}/receipt_token` },
    status: 200,
  })
  await call({
    ...{ operation: 'getReceipt', method: get, path: `${intent}/receipt`, status: 200 },
    token: { kind: 'receipt_token', value: String(receipt_token) },
  })
  await call({
    ...{ operation: 'refundPaymentIntent', method: post, path: `${intent}/refund`, status: 202 },
    key: 'refund-7f3a',
  })
  await untilStatus(partner, intent, 'refunded')
  const other = await partner.request(post, INTENTS, INTENT)
  const { intent_id: otherId } = other.body as { intent_id: string }
  await call({
    ...{ operation: 'cancelPaymentIntent', method: post, path: `${INTENTS}/${otherId}/cancel` },
    status: 200,
  })
  await call({
    ...{ operation: 'listPaymentIntents', method: get, status: 200 },
    path: `${INTENTS}?status=refunded&limit=1`,
  })

  // A payout.
  const beneficiary = await call({
    ...{ operation: 'createBeneficiary', method: post, path: '/v1/beneficiaries', status: 201 },
    body: ACCOUNT,
  })
  const account = `/v1/beneficiaries/${String(beneficiary['id'])}`
  await call({ operation: 'getBeneficiary', method: get, path: account, status: 200 })
  await call({
    ...{ operation: 'listBeneficiaries', method: get, path: '/v1/beneficiaries?limit=10' },
    status: 200,
  })
  const PAYOUT = {
    ...{ amount: '1250000', currency: 'VND', beneficiary_id: beneficiary['id'] },
    ...{ reference: 'invoice 2026-114', metadata: { order: '2026-114' } },
  }
  const createPayout = { operation: 'createPayout', method: post, path: '/v1/payouts' }
  const payout = await call({
    ...createPayout,
    ...{ name: 'beneficiary', key: 'payout-114', body: PAYOUT, status: 202 },
  })
  const paid = `/v1/payouts/${String(payout['id'])}`
  await untilStatus(partner, paid, 'completed')
  await call({
    ...createPayout,
    ...{ name: 'replayed', key: 'payout-114', body: PAYOUT, status: 200 },
  })
  await call({ operation: 'getPayout', method: get, path: paid, status: 200 })
  await call({ operation: 'cancelPayout', method: post, path: `${paid}/cancel`, status: 409 })
  const { beneficiary_id: _known, ...inline } = PAYOUT
  const returned = await call({
    ...{ ...createPayout, name: 'inline', key: 'payout-115', status: 202 },
    body: { ...inline, beneficiary: ACCOUNT },
  })
  const simulate = async (path: string, outcome: string): Promise<void> => {
    await call({
      ...{ operation: 'simulatePayout', name: outcome, method: post, status: 202 },
      ...{ path: `/v1/sandbox${path.slice(3)}/simulate`, body: { outcome } },
    })
    await untilStatus(partner, path, outcome)
  }
  const completed = `/v1/payouts/${String(returned['id'])}`
  await untilStatus(partner, completed, 'completed')
  await simulate(completed, 'reversed')
  const held = await partner.request(
    post,
    '/v1/payouts',
    { ...inline, beneficiary: { ...ACCOUNT, account_number: STAYS_PROCESSING } },
    { headers: { 'Idempotency-Key': 'payout-116' } },
  )
  await simulate(`/v1/payouts/${(held.body as { id: string }).id}`, 'failed')
  await call({
    ...{ operation: 'listPayouts', method: get, path: '/v1/payouts?status=failed&limit=1' },
    status: 200,
  })
  await call({
    ...{ operation: 'disableBeneficiary', method: post, path: `${account}/disable`, status: 200 },
  })

  // Balances.
  await call({ operation: 'getBalances', method: get, path: '/v1/balances', status: 200 })
  await call({
    ...{ operation: 'createDeposit', method: post, path: '/v1/funding/deposits', status: 201 },
    ...{ key: 'deposit-1', body: { currency: 'THB', amount: '500000' } },
  })
  const fx = await call({
    ...{ operation: 'createFxQuote', method: post, path: '/v1/fx/quotes', status: 201 },
    body: { sell_currency: 'USD', sell_amount: '10000', buy_currency: 'VND' },
  })
  await call({
    ...{ operation: 'createFxConversion', method: post, path: '/v1/fx/conversions', status: 201 },
    ...{ key: 'conversion-1', body: { quote_id: fx['id'] } },
  })
  await call({
    ...{ operation: 'listBalanceTransactions', method: get, status: 200 },
    path: '/v1/balance_transactions?limit=2',
  })

  // The events that no call above causes, by their triggers.
  const pay = async (user: string, qr_payload: string): Promise<string> => {
    const intent = await partner.request(post, INTENTS, { ...INTENT, partner_user_id: user })
    const { intent_id, session_token } = intent.body as Record<string, string>
    const path = `${INTENTS}/${intent_id}`
    const app = partner.session(session_token ?? '')
    const amount = { local_amount_minor_units: '25000' }
    const { body } = await app.request(post, `${path}/scan`, { qr_payload, ...amount })
    const { quote_id, quote_version } = (body as { quote: Record<string, unknown> }).quote
    await app.request(post, `${path}/confirm`, { quote_id, quote_version })
    return path
  }
  await untilStatus(partner, await pay('user-1+fail', QR), 'failed')
  const kept = await pay('user-2', QR_WITHOUT_REFUND)
  await untilStatus(partner, kept, 'captured')
  await partner.request(post, `${kept}/refund`)
  await eventually('the refund is refused', async () => {
    const { body } = await partner.request(get, kept)
    return (body as { refund?: { status: string } }).refund?.status === 'refused'
  })
  const expiring = { ...INTENT, partner_user_id: 'user-3+expire' }
  const left = await partner.request(post, INTENTS, expiring)
  const { intent_id: leftId } = left.body as { intent_id: string }
  await untilStatus(partner, `${INTENTS}/${leftId}`, 'expired')
  await partner.request(
    post,
    '/v1/payouts',
    { ...inline, beneficiary: ACCOUNT, reference: 'sandbox:balance_low' },
    { headers: { 'Idempotency-Key': 'payout-117' } },
  )

  // Webhooks.
  normalizer.replace(`${receiver.url}/hooks?from=causeway`, PARTNER_URL)
  normalizer.replace(`${receiver.url}/hooks`, PARTNER_URL)
  await untilQuiet()
  const endpoint = `${ENDPOINTS}/${receiver.endpointId}`
  await call({ operation: 'getWebhookEndpoint', method: get, path: endpoint, status: 200 })
  await call({ operation: 'listWebhookEndpoints', method: get, path: ENDPOINTS, status: 200 })
  await call({
    ...{ operation: 'testWebhookEndpoint', method: post, path: `${endpoint}/test`, status: 202 },
  })
  await untilQuiet()
  const deliveries = `${endpoint}/deliveries?limit=1`
  await eventually('the delivery is stored', async () => {
    const { body } = await partner.request(get, deliveries)
    return (body as { data: { status: string }[] }).data[0]?.status === 'delivered'
  })
  await call({ operation: 'listDeliveries', method: get, path: deliveries, status: 200 })
  const listed = await call({
    ...{ operation: 'listEvents', method: get, path: '/v1/events?after=0&limit=1', status: 200 },
  })
  const [first] = listed['data'] as { event: { id: string } }[]
  await call({
    ...{ operation: 'recoverWebhookEndpoint', method: post, path: `${endpoint}/recover` },
    ...{ body: { since: '2026-11-21T00:00:00Z' }, status: 202 },
  })
  await call({
    ...{ operation: 'resendEvent', method: post, path: `/v1/events/${first?.event.id}/resend` },
    ...{ body: { endpoint_id: receiver.endpointId }, status: 202 },
  })
  const made = await call({
    ...{ operation: 'createWebhookEndpoint', method: post, path: ENDPOINTS, status: 201 },
    body: { url: `${receiver.url}/hooks`, description: 'orders', enabled_events: ['*'] },
  })
  const spare = `${ENDPOINTS}/${String(made['id'])}`
  await call({
    ...{ operation: 'updateWebhookEndpoint', method: 'PATCH', path: spare, status: 200 },
    body: { enabled_events: ['payout.completed', 'payout.failed'] },
  })
  await call({
    ...{ operation: 'rotateWebhookSecret', method: post, path: `${spare}/rotate_secret` },
    status: 200,
  })
  for (const verb of ['disable', 'enable']) {
    await call({
      ...{ operation: `${verb}WebhookEndpoint`, method: post, path: `${spare}/${verb}` },
      status: 200,
    })
  }
  await call({ operation: 'deleteWebhookEndpoint', method: 'DELETE', path: spare, status: 200 })

  // Account and tools.
  const refusing = await receiverOf(partner, () => 400)
  normalizer.replace(refusing.url, new URL(PARTNER_URL).origin)
  const unused = await partner.request(post, INTENTS, INTENT)
  const { intent_id: unusedId } = unused.body as { intent_id: string }
  await partner.request(post, `${INTENTS}/${unusedId}/cancel`)
  await receiver.until(
    'the dead delivery is announced',
    ({ eventType }) => eventType === 'webhook_endpoint.deliveries_dead',
  )
  await call({ operation: 'getAccount', method: get, path: '/v1/account', status: 200 })
  const claim = { method: post, path: '/v1/payouts' }
  const sent = { timestamp: new Date().toISOString(), nonce: newNonce() }
  const shown = { timestamp: TIMESTAMP, nonce: SHOWN_NONCE }
  const signed = (at: typeof sent, secret: string): string =>
    signatureOf(canonicalRequest({ ...claim, ...at, body: '' }), secret)
  const signature = signed(sent, stack.sandbox.signing_secret)
  normalizer.replace(sent.timestamp, shown.timestamp)
  normalizer.replace(sent.nonce, shown.nonce)
  normalizer.replace(signature, signed(shown, SIGNING_SECRET))
  await call({
    ...{ operation: 'checkSignature', method: post, path: '/v1/sandbox/signature/check' },
    ...{ body: { ...claim, key_id: stack.sandbox.key_id, ...sent, signature }, status: 200 },
    unsigned: true,
  })

  const headers = {
    'X-Service-Key-Id': stack.sandbox.key_id,
    'X-Service-Timestamp': sent.timestamp,
    'X-Service-Nonce': sent.nonce,
    'X-Service-Signature': signature,
  }
  await call({
    ...{ operation: 'checkRequest', method: post, path: '/v1/sandbox/request/check' },
    ...{ body: { ...claim, headers }, unsigned: true, status: 200 },
  })

  await untilQuiet()
  const text = await formatted(EXAMPLES_FILE, JSON.stringify(examples(receiver.deliveries)))
  writeFileSync(join(projectRoot(), EXAMPLES_FILE), text)
  console.log(EXAMPLES_FILE)
  await receiver.close()
  await refusing.close()
} finally {
  await stack.stop()
}
