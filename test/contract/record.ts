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
  const { partner } = stack
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
  const created = await call('createPaymentIntent', INTENTS, 201, {
    key: 'order-7f3a',
    body: INTENT,
  })
  const intent = `${INTENTS}/${String(created['intent_id'])}`
  const minted = await call('createSessionToken', `${intent}/session`, 200, { body: USER })
  const token = { kind: 'session_token', value: String(minted['session_token']) } as const
  const { quote } = await call('scanQrCode', `${intent}/scan`, 200, {
    token,
    body: { qr_payload: QR, local_amount_minor_units: '25000' },
  })
  const { quote_id, quote_version } = quote as Record<string, unknown>
  await call('confirmPaymentIntent', `${intent}/confirm`, 200, {
    key: 'confirm-7f3a',
    token,
    body: { quote_id, quote_version },
  })
  await untilStatus(partner, intent, 'captured')
  await call('getPaymentIntent', intent, 200)
  const { receipt_token } = await call('createReceiptToken', `${intent}/receipt_token`, 200)
  await call('getReceipt', `${intent}/receipt`, 200, {
    token: { kind: 'receipt_token', value: String(receipt_token) },
  })
  await call('refundPaymentIntent', `${intent}/refund`, 202, { key: 'refund-7f3a' })
  await untilStatus(partner, intent, 'refunded')
  const other = await partner.request(post, INTENTS, INTENT)
  const { intent_id: otherId } = other.body as { intent_id: string }
  await call('cancelPaymentIntent', `${INTENTS}/${otherId}/cancel`, 200)
  await call('listPaymentIntents', `${INTENTS}?status=refunded&limit=1`, 200)

  // A payout.
  const beneficiary = await call('createBeneficiary', '/v1/beneficiaries', 201, { body: ACCOUNT })
  const account = `/v1/beneficiaries/${String(beneficiary['id'])}`
  await call('getBeneficiary', account, 200)
  await call('listBeneficiaries', '/v1/beneficiaries?limit=10', 200)
  const PAYOUT = {
    ...{ amount: '1250000', currency: 'VND', beneficiary_id: beneficiary['id'] },
    ...{ reference: 'invoice 2026-114', metadata: { order: '2026-114' } },
  }
  const payout = await call('createPayout', '/v1/payouts', 202, {
    name: 'beneficiary',
    key: 'payout-114',
    body: PAYOUT,
  })
  const paid = `/v1/payouts/${String(payout['id'])}`
  await untilStatus(partner, paid, 'completed')
  await call('createPayout', '/v1/payouts', 200, {
    name: 'replayed',
    key: 'payout-114',
    body: PAYOUT,
  })
  await call('getPayout', paid, 200)
  await call('cancelPayout', `${paid}/cancel`, 409)
  const { beneficiary_id: _known, ...inline } = PAYOUT
  const returned = await call('createPayout', '/v1/payouts', 202, {
    name: 'inline',
    key: 'payout-115',
    body: { ...inline, beneficiary: ACCOUNT },
  })
  const simulate = async (path: string, outcome: string): Promise<void> => {
    await call('simulatePayout', `/v1/sandbox${path.slice(3)}/simulate`, 202, {
      name: outcome,
      body: { outcome },
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
  await call('listPayouts', '/v1/payouts?status=failed&limit=1', 200)
  await call('disableBeneficiary', `${account}/disable`, 200)

  // Balances.
  await call('getBalances', '/v1/balances', 200)
  await call('createDeposit', '/v1/funding/deposits', 201, {
    key: 'deposit-1',
    body: { currency: 'THB', amount: '500000' },
  })
  const fx = await call('createFxQuote', '/v1/fx/quotes', 201, {
    body: { sell_currency: 'USD', sell_amount: '10000', buy_currency: 'VND' },
  })
  await call('createFxConversion', '/v1/fx/conversions', 201, {
    key: 'conversion-1',
    body: { quote_id: fx['id'] },
  })
  await call('listBalanceTransactions', '/v1/balance_transactions?limit=2', 200)

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
  await call('getWebhookEndpoint', endpoint, 200)
  await call('listWebhookEndpoints', ENDPOINTS, 200)
  await call('testWebhookEndpoint', `${endpoint}/test`, 202)
  await untilQuiet()
  const deliveries = `${endpoint}/deliveries?limit=1`
  await eventually('the delivery is stored', async () => {
    const { body } = await partner.request(get, deliveries)
    return (body as { data: { status: string }[] }).data[0]?.status === 'delivered'
  })
  await call('listDeliveries', deliveries, 200)
  const listed = await call('listEvents', '/v1/events?after=0&limit=1', 200)
  const [first] = listed['data'] as { event: { id: string } }[]
  await call('recoverWebhookEndpoint', `${endpoint}/recover`, 202, {
    body: { since: '2026-11-21T00:00:00Z' },
  })
  await call('resendEvent', `/v1/events/${first?.event.id}/resend`, 202, {
    body: { endpoint_id: receiver.endpointId },
  })
  const made = await call('createWebhookEndpoint', ENDPOINTS, 201, {
    body: { url: `${receiver.url}/hooks`, description: 'orders', enabled_events: ['*'] },
  })
  const spare = `${ENDPOINTS}/${String(made['id'])}`
  await call('updateWebhookEndpoint', spare, 200, {
    body: { enabled_events: ['payout.completed', 'payout.failed'] },
  })
  await call('rotateWebhookSecret', `${spare}/rotate_secret`, 200)
  for (const verb of ['disable', 'enable']) {
    await call(`${verb}WebhookEndpoint`, `${spare}/${verb}`, 200)
  }
  await call('deleteWebhookEndpoint', spare, 200)

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
  await call('getAccount', '/v1/account', 200)
  const claim = { method: post, path: '/v1/payouts' }
  const sent = { timestamp: new Date().toISOString(), nonce: newNonce() }
  const shown = { timestamp: TIMESTAMP, nonce: SHOWN_NONCE }
  const signed = (at: typeof sent, secret: string): string =>
    signatureOf(canonicalRequest({ ...claim, ...at, body: '' }), secret)
  const signature = signed(sent, stack.sandbox.signing_secret)
  normalizer.replace(sent.timestamp, shown.timestamp)
  normalizer.replace(sent.nonce, shown.nonce)
  normalizer.replace(signature, signed(shown, SIGNING_SECRET))
  await call('checkSignature', '/v1/sandbox/signature/check', 200, {
    unsigned: true,
    body: { ...claim, key_id: stack.sandbox.key_id, ...sent, signature },
  })

  const headers = {
    'X-Service-Key-Id': stack.sandbox.key_id,
    'X-Service-Timestamp': sent.timestamp,
    'X-Service-Nonce': sent.nonce,
    'X-Service-Signature': signature,
  }
  await call('checkRequest', '/v1/sandbox/request/check', 200, {
    unsigned: true,
    body: { ...claim, headers },
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
