/**
 * The services of internal callers, against a real server: each operation answers as its partner
 * route, with the same checks, and a refusal has its details.
 */
import t from 'tap'
import { INTENT_IDEMPOTENCY_KEY_MAX } from '../../src/base/constants.js'
import { getAccount } from '../../src/processor/commands/partners/account_get.js'
import { changePartner } from '../../src/processor/commands/partners/partner_change.js'
import { OPERATOR, balanceOf } from './scenarios.js'
import { anIntent, aPayout, promptPayQr } from '../support/requests.js'
import { DEMO, viewOf } from '../support/world.js'
import { META, openPartnerServices, TENANT } from './partner_services.js'
import { answerOf, refusalOf, type Refusal } from '../support/rpc_answers.js'

interface Created {
  readonly intent_id: string
  readonly session_token: string
  readonly receipt_token: string
}

interface Scanned {
  readonly quote: { readonly quote_id: string; readonly quote_version: number }
}

interface Listed {
  readonly id: string
  readonly status: string
  readonly data: readonly { readonly body: string; readonly created_at: string }[]
}

interface Tested {
  readonly sequence: string
  readonly event_id: string
}

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

t.test('a QR payment with the tokens of its user', async (t) => {
  const { clients, world } = await openPartnerServices(t)
  const intents = clients.PaymentIntents
  const intent = anIntent({ partner_user_id: 'u' })
  const { kyc_attestation, sanctions_attestation } = intent
  const created = await answerOf<Created>((done) => intents.Create({ tenant, intent }, META, done))
  const { intent_id } = created
  const session = { intent_id, partner_user_id: 'u', kyc_attestation, sanctions_attestation }
  const minted = await answerOf<Created>((done) =>
    intents.RemintSession({ tenant, session }, META, done),
  )
  t.match(minted, { intent_id, session_expires_at: /^[0-9]{10}$/ })
  const other = { ...session, partner_user_id: 'v' }
  t.match(
    await refusalOf((done) => intents.RemintSession({ tenant, session: other }, META, done)),
    refused('user_mismatch', { status: 'PERMISSION_DENIED' }),
  )

  const session_token = minted.session_token
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
    t.match(await refusalOf((done) => intents.Scan({ ...scan, ...over }, META, done)), denied, what)
  }
  for (const over of [
    { qr_payload: '' },
    { qr_payload: 'x'.repeat(4_097) },
    { local_amount_minor_units: '2.5' },
  ]) {
    const answer = await refusalOf((done) => intents.Scan({ ...scan, ...over }, META, done))
    t.match(answer, { code: 'invalid_request' })
  }
  const scanned = await answerOf<Scanned>((done) => intents.Scan(scan, META, done))
  t.match(scanned, {
    status: 'created',
    merchant: { scheme: 'promptpay', country: 'TH' },
    qr_kind: 'static',
    quote: { amount_usd_cents: 695, local_amount_minor_units: '25000', local_currency: '764' },
  })

  const { quote_id, quote_version } = scanned.quote
  const confirm = {
    tenant,
    intent_id,
    session_token,
    quote_id,
    quote_version,
    idempotency_key: 'k',
  }
  const bad = { ...confirm, idempotency_key: 'k'.repeat(INTENT_IDEMPOTENCY_KEY_MAX + 1) }
  t.match(await refusalOf((done) => intents.Confirm(bad, META, done)), { code: 'invalid_request' })
  const confirmed = await answerOf<Listed>((done) => intents.Confirm(confirm, META, done))
  t.equal(confirmed.status, 'authorized')
  t.same(await answerOf((done) => intents.Confirm(confirm, META, done)), confirmed, 'a replay')
  t.match(await refusalOf((done) => intents.Scan(scan, META, done)), denied, 'a consumed token')
  t.match(
    await refusalOf((done) => intents.Scan({ ...scan, qr_payload: '' }, META, done)),
    denied,
    'a consumed token takes precedence',
  )

  t.match(world.railInstructions, [{ instruction: { id: intent_id } }])
  const token = await answerOf<Created>((done) =>
    intents.MintReceiptToken({ tenant, intent_id }, META, done),
  )
  const { receipt_token } = token
  const receipt = { tenant, intent_id, receipt_token }
  t.match(await answerOf((done) => intents.GetReceipt(receipt, META, done)), {
    status: 'pending',
    local_amount: '250',
    destination_masked: /^\*+\d{4}$/,
  })
  for (const over of [
    { receipt_token: session_token },
    { tenant: { ...tenant, environment: 'production' } },
  ]) {
    t.match(
      await refusalOf((done) => intents.GetReceipt({ ...receipt, ...over }, META, done)),
      denied,
    )
  }
  const listed = await answerOf<Listed>((done) =>
    intents.List({ tenant, list: { status: 'authorized', partner_user_id: 'u' } }, META, done),
  )
  t.match(listed.data, [{ intent_id }])
  const none = await answerOf<Listed>((done) =>
    intents.List({ tenant, list: { corridor: 'vn_vietqr' } }, META, done),
  )
  t.same(none.data, [])
})

t.test('a registered app package is required', async (t) => {
  const { clients, world } = await openPartnerServices(t)
  const intents = clients.PaymentIntents
  const created = await answerOf<Created>((done) =>
    intents.Create({ tenant, intent: anIntent() }, META, done),
  )
  const { intent_id, session_token } = created
  const packages = { kind: 'packages', values: ['com.example'] } as const
  viewOf(await world.run(changePartner(OPERATOR, 'demo', packages)))
  const scan = { tenant, intent_id, session_token, qr_payload: 'x' }
  for (const app of [{}, { app_package: 'com.other' }]) {
    const answer = await refusalOf((done) => intents.Scan({ ...scan, ...app }, META, done))
    t.match(answer, { code: 'authentication_failed' })
  }
  const named = { ...scan, app_package: 'com.example' }
  t.match(await refusalOf((done) => intents.Scan(named, META, done)), { code: 'qr_malformed' })
})

t.test('beneficiaries, payouts and funds', async (t) => {
  const { clients, world } = await openPartnerServices(t)
  const { Beneficiaries: beneficiaries, Payouts: payouts, Funding: funding } = clients
  const { beneficiary: _, ...payout } = aPayout({ idempotency_key: 'p', amount: '125000' })
  const beneficiary = aPayout().beneficiary!
  const made = await answerOf<Listed>((done) =>
    beneficiaries.Create({ tenant, beneficiary }, META, done),
  )
  t.match(made, { id: /^ben_/, account_last4: '6789', status: 'active' })
  const invalid = { ...beneficiary, account_number: '1' }
  t.match(
    await refusalOf((done) => beneficiaries.Create({ tenant, beneficiary: invalid }, META, done)),
    refused('invalid_beneficiary', { status: 'INVALID_ARGUMENT' }),
  )
  const { id: beneficiary_id } = made
  const call = { tenant, beneficiary_id }
  t.same(await answerOf((done) => beneficiaries.Get(call, META, done)), made)
  const list = await answerOf<Listed>((done) =>
    beneficiaries.List({ tenant, list: {} }, META, done),
  )
  t.same(list.data, [made])
  const paid = await answerOf<Listed>((done) =>
    payouts.Create({ tenant, payout: { ...payout, beneficiary_id } }, META, done),
  )
  const payout_id = paid.id
  const cancelled = await refusalOf((done) => payouts.Cancel({ tenant, payout_id }, META, done))
  t.match(cancelled, refused('payout_not_cancelable', { status: 'FAILED_PRECONDITION' }))
  const simulation = { payout_id, outcome: 'completed' }
  const simulate = { tenant, simulation }
  t.match(await answerOf((done) => payouts.Simulate(simulate, META, done)), { id: payout_id })
  t.match(world.railInstructions.at(-1), { kind: 'simulate', id: payout_id })
  const production = { ...simulate, tenant: { ...tenant, environment: 'production' } }
  const elsewhere = await refusalOf((done) => payouts.Simulate(production, META, done))
  t.match(elsewhere, { code: 'invalid_request' })
  t.match(await answerOf((done) => beneficiaries.Disable(call, META, done)), { status: 'disabled' })

  const before = BigInt((await balanceOf(world, 'THB')).available)
  const deposit = { currency: 'THB', amount: '7', idempotency_key: 'd' }
  const credited = await answerOf((done) => funding.CreateDeposit({ tenant, deposit }, META, done))
  t.same(await answerOf((done) => funding.CreateDeposit({ tenant, deposit }, META, done)), credited)
  t.equal(BigInt((await balanceOf(world, 'THB')).available) - before, 7n)
  const wrong = { currency: 'thb', amount: '0', idempotency_key: '' }
  t.match(
    await refusalOf((done) => funding.CreateDeposit({ tenant, deposit: wrong }, META, done)),
    violated('deposit.idempotency_key'),
  )
  const quote = { sell_currency: 'USD', sell_amount: '100', buy_currency: 'THB' }
  const quoted = await answerOf<Listed>((done) =>
    funding.CreateFxQuote({ tenant, quote }, META, done),
  )
  t.match(quoted, { buy_amount: '3600', expires_at: /Z$/ })
  const conversion = { quote_id: quoted.id, idempotency_key: 'c' }
  const convert = { tenant, conversion }
  t.match(await answerOf((done) => funding.CreateFxConversion(convert, META, done)), {
    quote_id: quoted.id,
    buy_amount: '3600',
  })
  const empty = { tenant, conversion: { quote_id: '', idempotency_key: '' } }
  t.match(
    await refusalOf((done) => funding.CreateFxConversion(empty, META, done)),
    violated('conversion.idempotency_key'),
  )
  const transactions = await answerOf((done) =>
    funding.ListBalanceTransactions({ tenant, list: { limit: 1 } }, META, done),
  )
  t.match(transactions, { data: [{ type: 'conversion' }], next_cursor: /./ })
})

t.test('webhook endpoints and events', async (t) => {
  const { clients } = await openPartnerServices(t)
  const { WebhookEndpoints: endpoints, Events: events } = clients
  const endpoint = { url: 'https://shop.example/hook' }
  const made = await answerOf<Listed>((done) => endpoints.Create({ tenant, endpoint }, META, done))
  t.match(made, { id: /^we_/, secret: /^whsec_/, enabled_events: ['*'], status: 'enabled' })
  t.notOk('disabled_reason' in made)
  const endpoint_id = made.id
  const call = { tenant, endpoint_id }
  const shown = await answerOf((done) => endpoints.Get(call, META, done))
  t.match(shown, { id: endpoint_id, url: endpoint.url, key_id: `${endpoint_id}_1` })
  t.notOk('secret' in shown)
  const update = { tenant, endpoint: { endpoint_id, enabled_events: { types: ['balance.low'] } } }
  t.match(await answerOf((done) => endpoints.Update(update, META, done)), {
    enabled_events: ['balance.low'],
  })
  const nothing = { tenant, endpoint: { endpoint_id } }
  t.match(await refusalOf((done) => endpoints.Update(nothing, META, done)), violated('endpoint'))
  const bad = { tenant, endpoint: { url: 'ftp://a' } }
  t.match(await refusalOf((done) => endpoints.Create(bad, META, done)), violated('endpoint.url'))
  const all = await answerOf<Listed>((done) => endpoints.List({ tenant }, META, done))
  t.match(all.data, [{ id: endpoint_id }])
  const rotation = { tenant, rotation: { endpoint_id } }
  t.match(await answerOf((done) => endpoints.RotateSecret(rotation, META, done)), {
    secret: /^whsec_/,
    key_id: `${endpoint_id}_2`,
    activate_at: /Z$/,
    next_key: { key_id: `${endpoint_id}_2` },
  })
  const tested = await answerOf<Tested>((done) => endpoints.Test(call, META, done))
  t.match(await answerOf((done) => endpoints.Disable(call, META, done)), {
    status: 'disabled',
    disabled_reason: 'by_partner',
  })
  t.match(
    await refusalOf((done) => endpoints.Test(call, META, done)),
    refused('webhook_endpoint_disabled'),
  )
  t.match(await answerOf((done) => endpoints.Enable(call, META, done)), { status: 'enabled' })

  const listed = await answerOf<Listed>((done) =>
    events.List({ tenant, list: { limit: 1 } }, META, done),
  )
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
  t.match(await refusalOf((done) => events.Resend(resend, META, done)), unavailable)
  const unknown = { tenant, event: { event_id: 'evt_1' } }
  t.match(await refusalOf((done) => events.Resend(unknown, META, done)), refused('event_not_found'))
  const recovery = { tenant, recovery: { endpoint_id, since: 0 } }
  t.match(await refusalOf((done) => endpoints.Recover(recovery, META, done)), unavailable)
  const early = { tenant, recovery: { endpoint_id, since: -1 } }
  t.match(
    await refusalOf((done) => endpoints.Recover(early, META, done)),
    violated('recovery.since'),
  )
  const deliveries = { tenant, list: { endpoint_id } }
  t.match(await refusalOf((done) => endpoints.ListDeliveries(deliveries, META, done)), unavailable)
  t.match(await answerOf((done) => endpoints.Delete(call, META, done)), { status: 'deleted' })
  t.match(
    await refusalOf((done) => endpoints.Get(call, META, done)),
    refused('webhook_endpoint_not_found', { status: 'NOT_FOUND' }),
  )
})

t.test("a partner's settings are those of the partner API", async (t) => {
  const { clients, world } = await openPartnerServices(t)
  const account = await answerOf((done) => clients.Accounts.Get({ tenant }, META, done))
  const expected = viewOf<{ keys: object[] }>(await world.run(getAccount(DEMO)))
  t.match(account, { ...expected, keys: [{ key_id: 'demo_sandbox_2026q4' }], terms: {} })
})

t.test('a refusal names the field and the rule, as the partner API does', async (t) => {
  const { clients } = await openPartnerServices(t)
  const { PaymentIntents: intents, Payouts: payouts, Beneficiaries: beneficiaries } = clients
  const { Funding: funding, WebhookEndpoints: endpoints, Events: events } = clients
  const violation = async (start: Parameters<typeof refusalOf>[0]): Promise<string> => {
    const { status, violations } = await refusalOf(start)
    t.equal(status, 'INVALID_ARGUMENT')
    return violations.map(({ field, description }) => `${field} ${description}`).join()
  }
  const LIMIT = 'must be a whole number from 1 to 100'
  const list = { limit: 0 }
  for (const [field, start] of [
    ['list.limit', (done) => payouts.List({ tenant, list }, META, done)],
    ['list.limit', (done) => beneficiaries.List({ tenant, list }, META, done)],
    ['list.limit', (done) => funding.ListBalanceTransactions({ tenant, list }, META, done)],
    ['list.limit', (done) => intents.List({ tenant, list: { limit: 101 } }, META, done)],
    ['limit', (done) => intents.ListByUser({ tenant, partner_user_id: 'u', limit: 0 }, META, done)],
    ['list.limit', (done) => endpoints.ListDeliveries({ tenant, list }, META, done)],
    ['list.limit', (done) => events.List({ tenant, list: { after: 0, limit: 0 } }, META, done)],
  ] as const satisfies readonly (readonly [string, Parameters<typeof refusalOf>[0]])[]) {
    t.equal(await violation(start), `${field} ${LIMIT}`)
  }

  const payout = { ...aPayout(), idempotency_key: 'k' }
  const create = (over: object): Promise<string> =>
    violation((done) => payouts.Create({ tenant, payout: { ...payout, ...over } }, META, done))
  const KEY = 'must be 1 to 255 printable ASCII characters, without blanks at its ends'
  t.equal(await create({ idempotency_key: ' k' }), `payout.idempotency_key ${KEY}`)
  t.equal(await create({ idempotency_key: 'clé' }), `payout.idempotency_key ${KEY}`)
  t.match(await create({ amount: '0' }), /^payout\.amount must be a positive/)
  t.equal(await create({ currency: 'vnd' }), 'payout.currency must be three capital letters')
  t.match(await create({ reference: ' ' }), /^payout\.reference must have 1 to 255/)
  t.match(await create({ description: 'x'.repeat(600) }), /^payout\.description must have at most/)
  t.match(
    await create({ beneficiary_id: undefined, beneficiary: undefined }),
    /^payout must have exactly one of/,
  )
  const named = JSON.parse('{"__proto__":"x"}') as Record<string, string>
  const forbidden = 'payout.metadata has a member that is not allowed as a name'
  t.equal(await create({ metadata: named }), forbidden)
  t.equal(await create({ metadata: named, amount: '0' }), forbidden, 'first, as over HTTP')
  for (const name of ['\\', 'a\\b']) t.equal(await create({ metadata: { [name]: 'x' } }), forbidden)
  t.equal(await create({ reference: 'a\0' }), 'payout.reference must be Unicode text without NUL')

  const { kyc_attestation, ...unattested } = anIntent()
  t.equal(
    await violation((done) => intents.Create({ tenant, intent: unattested }, META, done)),
    'intent.kyc_attestation is required',
  )
  const session = { ...anIntent(), intent_id: UNKNOWN, partner_user_id: '', kyc_attestation }
  t.equal(
    await violation((done) => intents.RemintSession({ tenant, session }, META, done)),
    'session.partner_user_id must not be empty',
  )
})

t.test('missing parts and tenants are named', async (t) => {
  const { clients } = await openPartnerServices(t)
  const { PaymentIntents: intents, Events: events } = clients
  const unknownTenant = { partner_id: 'nobody', environment: 'sandbox' }
  t.match(
    await refusalOf((done) => intents.Create({ tenant: unknownTenant }, META, done)),
    violated('tenant'),
  )
  t.match(await refusalOf((done) => intents.Create({}, META, done)), violated('tenant'))
  t.match(await refusalOf((done) => intents.Create({ tenant }, META, done)), violated('intent'))
  t.match(await refusalOf((done) => events.List({ tenant }, META, done)), violated('list'))
  const intent = anIntent({ partner_user_id: '', idempotency_key: '' })
  t.match(
    await refusalOf((done) => intents.Create({ tenant, intent }, META, done)),
    violated('intent.idempotency_key'),
  )
})
