/**
 * The services of internal callers, against a real server: each operation answers as its partner
 * route, with the same checks, and a refusal has its details.
 */
import t, { type Test } from 'tap'
import { INTENT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { getAccount } from '../../src/processor/commands/partners/account_get.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { OPERATOR, balanceOf } from './scenarios.js'
import { anIntent, aPayout, promptPayQr } from '../support/requests.js'
import { DEMO, viewOf } from '../support/world.js'
import { openPartnerServices, TENANT } from './partner_services.js'
import { refusalOf, type Refusal } from '../support/rpc_answers.js'

const tenant = TENANT
const UNKNOWN = 'pi_00000000000000000000000000'

const refused = (code: string, over: Partial<Refusal> = {}): object => ({
  code,
  reason: code,
  domain: 'causeway',
  violations: [],
  ...over,
})
const violated = (...fields: string[]): object =>
  refused('invalid_request', {
    status: 'INVALID_ARGUMENT',
    violations: fields.map((field) => ({ field, description: /^(?:must|is) / })) as never,
  })

const isRefused = async (t: Test, call: Promise<object>, expected: object): Promise<void> =>
  void t.match(await refusalOf(call), expected)

t.test('a QR payment with the tokens of its user', async (t) => {
  const { calls, world } = await openPartnerServices(t)
  const intents = calls.PaymentIntents
  const intent = anIntent({ partner_user_id: 'u' })
  const { kyc_attestation, sanctions_attestation } = intent
  const { intent_id } = await intents.Create({ tenant, intent })
  const session = { intent_id, partner_user_id: 'u', kyc_attestation, sanctions_attestation }
  const minted = await intents.RemintSession({ tenant, session })
  const { session_token } = minted
  t.match(minted, { intent_id, session_expires_at: /^[0-9]{10}$/ })
  const other = { ...session, partner_user_id: 'v' }
  await isRefused(
    t,
    intents.RemintSession({ tenant, session: other }),
    refused('user_mismatch', { status: 'PERMISSION_DENIED' }),
  )

  const scan = {
    ...{ tenant, intent_id, session_token, qr_payload: promptPayQr() },
    local_amount_minor_units: '25000',
  }
  const denied = refused('authentication_failed', { status: 'UNAUTHENTICATED' })
  for (const [what, over] of [
    ['another intent', { intent_id: UNKNOWN }],
    ['another tenant', { tenant: { ...tenant, environment: 'production' } }],
    ['a changed token', { session_token: `${session_token}x` }],
    ['no token', { session_token: '' }],
  ] as const) {
    t.match(await refusalOf(intents.Scan({ ...scan, ...over })), denied, what)
  }
  for (const over of [
    { qr_payload: '' },
    { qr_payload: 'x'.repeat(4_097) },
    { local_amount_minor_units: '2.5' },
  ]) {
    const answer = await refusalOf(intents.Scan({ ...scan, ...over }))
    t.match(answer, { code: 'invalid_request' })
  }
  const scanned = await intents.Scan(scan)
  t.match(scanned, {
    status: 'created',
    merchant: { scheme: 'promptpay', country: 'TH' },
    qr_kind: 'static',
    quote: { amount_usd_cents: 695, local_amount_minor_units: '25000', local_currency: '764' },
  })

  const { quote_id, quote_version } = scanned.quote!
  const quote = { quote_id, quote_version }
  const confirm = { tenant, intent_id, session_token, ...quote, idempotency_key: 'k' }
  const bad = { ...confirm, idempotency_key: 'k'.repeat(INTENT_IDEMPOTENCY_KEY_MAX + 1) }
  t.match(await refusalOf(intents.Confirm(bad)), { code: 'invalid_request' })
  const confirmed = await intents.Confirm(confirm)
  t.equal(confirmed.status, 'authorized')
  t.same(await intents.Confirm(confirm), confirmed, 'a replay')
  t.match(await refusalOf(intents.Scan(scan)), denied, 'a consumed token')
  const empty = await refusalOf(intents.Scan({ ...scan, qr_payload: '' }))
  t.match(empty, denied, 'a consumed token takes precedence')

  t.match(world.railInstructions, [{ instruction: { id: intent_id } }])
  const { receipt_token } = await intents.MintReceiptToken({ tenant, intent_id })
  const receipt = { tenant, intent_id, receipt_token }
  t.match(await intents.GetReceipt(receipt), {
    status: 'pending',
    local_amount: '250',
    destination_masked: /^\*+\d{4}$/,
  })
  for (const over of [
    { receipt_token: session_token },
    { tenant: { ...tenant, environment: 'production' } },
  ]) {
    t.match(await refusalOf(intents.GetReceipt({ ...receipt, ...over })), denied)
  }
  const list = { status: 'authorized', partner_user_id: 'u' }
  t.match((await intents.List({ tenant, list })).data, [{ intent_id }])
  const none = await intents.List({ tenant, list: { corridor: 'vn_vietqr' } })
  t.same(none.data, [])
})

t.test('a registered app package is required', async (t) => {
  const { calls, world } = await openPartnerServices(t)
  const intents = calls.PaymentIntents
  const { intent_id, session_token } = await intents.Create({ tenant, intent: anIntent() })
  const packages = { kind: 'packages', values: ['com.example'] } as const
  viewOf(await world.run(changePartner(OPERATOR, 'demo', packages)))
  const scan = { tenant, intent_id, session_token, qr_payload: 'x' }
  for (const app of [{}, { app_package: 'com.other' }]) {
    const answer = await refusalOf(intents.Scan({ ...scan, ...app }))
    t.match(answer, { code: 'authentication_failed' })
  }
  const named = { ...scan, app_package: 'com.example' }
  t.match(await refusalOf(intents.Scan(named)), { code: 'qr_malformed' })
})

t.test('beneficiaries, payouts and funds', async (t) => {
  const { calls, world } = await openPartnerServices(t)
  const { Beneficiaries: beneficiaries, Payouts: payouts, Funding: funding } = calls
  const { beneficiary: _, ...payout } = aPayout({ idempotency_key: 'p', amount: '125000' })
  const beneficiary = aPayout().beneficiary!
  const made = await beneficiaries.Create({ tenant, beneficiary })
  t.match(made, { id: /^ben_/, account_last4: '6789', status: 'active' })
  const invalid = { ...beneficiary, account_number: '1' }
  await isRefused(
    t,
    beneficiaries.Create({ tenant, beneficiary: invalid }),
    refused('invalid_beneficiary', { status: 'INVALID_ARGUMENT' }),
  )
  const { id: beneficiary_id } = made
  const call = { tenant, beneficiary_id }
  t.same(await beneficiaries.Get(call), made)
  const list = await beneficiaries.List({ tenant, list: {} })
  t.same(list.data, [made])
  const { id: payout_id } = await payouts.Create({ tenant, payout: { ...payout, beneficiary_id } })
  const cancelled = await refusalOf(payouts.Cancel({ tenant, payout_id }))
  t.match(cancelled, refused('payout_not_cancelable', { status: 'FAILED_PRECONDITION' }))
  const simulate = { tenant, simulation: { payout_id, outcome: 'completed' } }
  t.match(await payouts.Simulate(simulate), { id: payout_id })
  t.match(world.railInstructions.at(-1), { kind: 'simulate', id: payout_id })
  const production = { ...simulate, tenant: { ...tenant, environment: 'production' } }
  const elsewhere = await refusalOf(payouts.Simulate(production))
  t.match(elsewhere, { code: 'invalid_request' })
  t.match(await beneficiaries.Disable(call), { status: 'disabled' })

  const before = BigInt((await balanceOf(world, 'THB')).available)
  const deposit = { currency: 'THB', amount: '7', idempotency_key: 'd' }
  const credited = await funding.CreateDeposit({ tenant, deposit })
  t.same(await funding.CreateDeposit({ tenant, deposit }), credited)
  t.equal(BigInt((await balanceOf(world, 'THB')).available) - before, 7n)
  const wrong = { currency: 'thb', amount: '0', idempotency_key: '' }
  await isRefused(
    t,
    funding.CreateDeposit({ tenant, deposit: wrong }),
    violated('deposit.idempotency_key'),
  )
  const quote = { sell_currency: 'USD', sell_amount: '100', buy_currency: 'THB' }
  const quoted = await funding.CreateFxQuote({ tenant, quote })
  t.match(quoted, { buy_amount: '3600', expires_at: /Z$/ })
  const convert = { tenant, conversion: { quote_id: quoted.id, idempotency_key: 'c' } }
  const converted = { quote_id: quoted.id, buy_amount: '3600' }
  t.match(await funding.CreateFxConversion(convert), converted)
  const empty = { tenant, conversion: { quote_id: '', idempotency_key: '' } }
  await isRefused(t, funding.CreateFxConversion(empty), violated('conversion.idempotency_key'))
  const transactions = await funding.ListBalanceTransactions({ tenant, list: { limit: 1 } })
  t.match(transactions, { data: [{ type: 'conversion' }], next_cursor: /./ })
})

t.test('webhook endpoints and events', async (t) => {
  const { calls } = await openPartnerServices(t)
  const { WebhookEndpoints: endpoints, Events: events } = calls
  const endpoint = { url: 'https://shop.example/hook' }
  const made = await endpoints.Create({ tenant, endpoint })
  t.match(made, { id: /^we_/, secret: /^whsec_/, enabled_events: ['*'], status: 'enabled' })
  t.notOk('disabled_reason' in made)
  const endpoint_id = made.id
  const call = { tenant, endpoint_id }
  const shown = await endpoints.Get(call)
  t.match(shown, { id: endpoint_id, url: endpoint.url, key_id: `${endpoint_id}_1` })
  t.notOk('secret' in shown)
  const update = { tenant, endpoint: { endpoint_id, enabled_events: { types: ['balance.low'] } } }
  t.match(await endpoints.Update(update), { enabled_events: ['balance.low'] })
  const nothing = { tenant, endpoint: { endpoint_id } }
  t.match(await refusalOf(endpoints.Update(nothing)), violated('endpoint'))
  const bad = { tenant, endpoint: { url: 'ftp://a' } }
  t.match(await refusalOf(endpoints.Create(bad)), violated('endpoint.url'))
  const all = await endpoints.List({ tenant })
  t.match(all.data, [{ id: endpoint_id }])
  const rotation = { tenant, rotation: { endpoint_id } }
  t.match(await endpoints.RotateSecret(rotation), {
    secret: /^whsec_/,
    key_id: `${endpoint_id}_2`,
    activate_at: /Z$/,
    next_key: { key_id: `${endpoint_id}_2` },
  })
  const tested = await endpoints.Test(call)
  const disabled = { status: 'disabled', disabled_reason: 'by_partner' }
  t.match(await endpoints.Disable(call), disabled)
  t.match(await refusalOf(endpoints.Test(call)), refused('webhook_endpoint_disabled'))
  t.match(await endpoints.Enable(call), { status: 'enabled' })

  const listed = await events.List({ tenant, list: { limit: 1 } })
  t.match(listed, { next_after: '1', has_more: true, data: [{ sequence: tested.sequence }] })
  const event = listed.data[0]!
  t.same(JSON.parse(event.body), {
    ...(JSON.parse(event.body) as object),
    id: tested.event_id,
    type: 'webhook_endpoint.test',
    created_at: event.created_at,
  })
  const unavailable = refused('configuration_error', { status: 'UNAVAILABLE' })
  const resend = { tenant, event: { event_id: tested.event_id } }
  t.match(await refusalOf(events.Resend(resend)), unavailable)
  const unknown = { tenant, event: { event_id: 'evt_1' } }
  t.match(await refusalOf(events.Resend(unknown)), refused('event_not_found'))
  const recovery = { tenant, recovery: { endpoint_id, since: 0 } }
  t.match(await refusalOf(endpoints.Recover(recovery)), unavailable)
  const early = { tenant, recovery: { endpoint_id, since: -1 } }
  t.match(await refusalOf(endpoints.Recover(early)), violated('recovery.since'))
  const deliveries = { tenant, list: { endpoint_id } }
  t.match(await refusalOf(endpoints.ListDeliveries(deliveries)), unavailable)
  t.match(await endpoints.Delete(call), { status: 'deleted' })
  await isRefused(
    t,
    endpoints.Get(call),
    refused('webhook_endpoint_not_found', { status: 'NOT_FOUND' }),
  )
})

t.test("a partner's settings are those of the partner API", async (t) => {
  const { calls, world } = await openPartnerServices(t)
  const account = await calls.Accounts.Get({ tenant })
  const expected = viewOf<{ keys: object[] }>(await world.run(getAccount(DEMO)))
  t.match(account, { ...expected, keys: [{ key_id: 'demo_sandbox_2026q4' }], terms: {} })
})

t.test('a refusal names the field and the rule, as the partner API does', async (t) => {
  const services = (await openPartnerServices(t)).calls
  const { PaymentIntents: intents, Payouts: payouts, Beneficiaries: beneficiaries } = services
  const { Funding: funding, WebhookEndpoints: endpoints, Events: events } = services
  const violation = async (call: Promise<object>): Promise<string> => {
    const { status, violations } = await refusalOf(call)
    t.equal(status, 'INVALID_ARGUMENT')
    return violations.map(({ field, description }) => `${field} ${description}`).join()
  }
  const limited = { tenant, list: { limit: 0 } }
  const calls = [
    payouts.List(limited),
    beneficiaries.List(limited),
    funding.ListBalanceTransactions(limited),
    intents.List({ tenant, list: { limit: 101 } }),
    endpoints.ListDeliveries(limited),
    events.List({ tenant, list: { after: 0, limit: 0 } }),
  ]
  for (const found of await Promise.all(calls.map(violation)))
    t.equal(found, 'list.limit must be a whole number from 1 to 100')
  const ofUser = intents.ListByUser({ tenant, partner_user_id: 'u', limit: 0 })
  t.equal(await violation(ofUser), 'limit must be a whole number from 1 to 100')

  const payout = { ...aPayout(), idempotency_key: 'k' }
  const create = (over: object): Promise<string> =>
    violation(payouts.Create({ tenant, payout: { ...payout, ...over } }))
  const KEY = 'must be 1 to 255 printable ASCII characters, without blanks at its ends'
  t.equal(await create({ idempotency_key: ' k' }), `payout.idempotency_key ${KEY}`)
  t.equal(await create({ idempotency_key: 'clé' }), `payout.idempotency_key ${KEY}`)
  t.match(await create({ amount: '0' }), /^payout\.amount must be a positive/)
  t.equal(await create({ currency: 'vnd' }), 'payout.currency must be three capital letters')
  t.match(await create({ reference: ' ' }), /^payout\.reference must have 1 to 255/)
  t.match(await create({ description: 'x'.repeat(600) }), /^payout\.description must have at most/)
  const toNobody = await create({ beneficiary_id: undefined, beneficiary: undefined })
  t.match(toNobody, /^payout must have exactly one of/)
  const named = JSON.parse('{"__proto__":"x"}') as Record<string, string>
  const forbidden = 'payout.metadata has a member that is not allowed as a name'
  t.equal(await create({ metadata: named }), forbidden)
  t.equal(await create({ metadata: named, amount: '0' }), forbidden, 'first, as over HTTP')
  for (const name of ['\\', 'a\\b']) t.equal(await create({ metadata: { [name]: 'x' } }), forbidden)
  t.equal(await create({ reference: 'a\0' }), 'payout.reference must be Unicode text without NUL')

  const { kyc_attestation, ...unattested } = anIntent()
  const missing = await violation(intents.Create({ tenant, intent: unattested }))
  t.equal(missing, 'intent.kyc_attestation is required')
  const session = { ...anIntent(), intent_id: UNKNOWN, partner_user_id: '', kyc_attestation }
  const anonymous = await violation(intents.RemintSession({ tenant, session }))
  t.equal(anonymous, 'session.partner_user_id must not be empty')
})

t.test('missing parts and tenants are named', async (t) => {
  const { calls } = await openPartnerServices(t)
  const { PaymentIntents: intents, Events: events } = calls
  const unknownTenant = { partner_id: 'nobody', environment: 'sandbox' }
  t.match(await refusalOf(intents.Create({ tenant: unknownTenant })), violated('tenant'))
  t.match(await refusalOf(intents.Create({})), violated('tenant'))
  t.match(await refusalOf(intents.Create({ tenant })), violated('intent'))
  t.match(await refusalOf(events.List({ tenant })), violated('list'))
  const intent = anIntent({ partner_user_id: '', idempotency_key: '' })
  t.match(await refusalOf(intents.Create({ tenant, intent })), violated('intent.idempotency_key'))
})
