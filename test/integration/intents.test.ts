/**
 * Every route of payment intents on a real stack: the exact members of each response, and no secret
 * in a log.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { untilClean } from '../support/audit.js'
import { eventually } from '../support/eventually.js'
import { withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import { retryUntilFinal, payOut, untilStatus } from '../support/payments.js'
import { anIntent, promptPayQr, vietQr } from '../support/requests.js'
import { startStack, type RunningStack } from '../support/stack.js'

t.setTimeout(0)

const PATH = '/v1/payment_intents'
const MOBILE = '0066812345678'
const VIET_ACCOUNT = '257678859'
const PAYOUT_ACCOUNT = '0123456789'
const UNKNOWN = 'pi_00000000000000000000000000'

interface Created {
  readonly intent_id: string
  readonly session_token: string
}

/** Texts that no log may contain. */
const secrets = new Set([MOBILE, MOBILE.slice(4), VIET_ACCOUNT, PAYOUT_ACCOUNT])
const secret = (text: string): string => {
  secrets.add(text)
  return text
}

/** Asserts the status and the exact members. @returns the body */
function bodyOf(
  t: Test,
  answer: HttpAnswer,
  status: number,
  members: readonly string[],
): Record<string, unknown> {
  t.equal(answer.status, status, answer.text)
  t.match(answer.headers['x-request-id'], /^req_/)
  const body = answer.body as Record<string, unknown>
  t.same(Object.keys(body).sort(), [...members].sort(), 'exact members')
  return body
}

function assertRefusal(t: Test, answer: HttpAnswer, status: number, code: string): void {
  const { error } = bodyOf(t, answer, status, ['error']) as { error: Record<string, unknown> }
  t.same(Object.keys(error).sort(), ['code', 'message', 'request_id'])
  t.equal(error['code'], code)
  t.equal(error['request_id'], answer.headers['x-request-id'])
}

const ALWAYS = ['intent_id', 'status', 'amount_usd_cents', 'corridor', 'created_at']
const QUOTED = [...ALWAYS, 'quote']
const AUTHORIZED = [...QUOTED, 'authorized_at']
const RECEIPT = [
  ...['intent_id', 'status', 'amount_usd_cents', 'corridor', 'created_at', 'local_amount'],
  ...['local_amount_minor_units', 'local_currency', 'merchant_name', 'destination_masked'],
]

async function create(
  partner: Partner,
  user: string,
  over: object = {},
  key?: string,
): Promise<HttpAnswer> {
  const body = { ...anIntent(), partner_user_id: user, ...over }
  const answer = await retryUntilFinal(() =>
    partner.request('POST', PATH, body, key === undefined ? {} : withKey(key)),
  )
  const { session_token } = answer.body as Partial<Created>
  if (session_token !== undefined) secret(session_token)
  return answer
}

async function receiptOf(partner: Partner, id: string, of = id): Promise<HttpAnswer> {
  const minted = await partner.request('POST', `${PATH}/${of}/receipt_token`)
  const { receipt_token } = minted.body as { receipt_token: string }
  return partner.session(secret(receipt_token)).request('GET', `${PATH}/${id}/receipt`)
}

t.test('the routes of payment intents', async (t) => {
  const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '1000', LOG_LEVEL: 'debug' } })
  const { partner } = stack
  const receiver = await stack.receiver()
  secrets.add(stack.sandbox.signing_secret).add(stack.sandbox.internal_token)

  await t.test('from creation to refund', (t) => createdToRefunded(t, stack, partner))
  await t.test('cancelled and failed', (t) => cancelledAndFailed(t, partner))
  await t.test('an unknown outcome is listed and resolved', (t) =>
    unknownOutcome(t, stack, partner),
  )
  await t.test('each final status has one webhook', async (t) => {
    const statuses = ['captured', 'refunded', 'failed', 'cancelled', 'captured', 'refunded']
    await eventually('all webhooks arrive', () => receiver.events.size >= statuses.length)
    t.same(
      [...receiver.events.values()].map(({ eventType }) => eventType).sort(),
      statuses.map((status) => `payment_intent.${status}`).sort(),
    )
    t.ok(receiver.deliveries.every(({ verdict }) => verdict === 'valid' || verdict === 'duplicate'))
  })
  const payout = await eventually('the resumed rail is connected again', () =>
    payOut(partner, 'a payout').catch(() => undefined),
  )
  await untilStatus(partner, `/v1/payouts/${payout}`, 'completed')
  await t.test('no log contains a secret', (t) => notLogged(t, stack))
  // Once the slow payment is executed.
  await untilClean(stack.dataDir)
})

/** A payment that the sandbox rail executes after ten seconds. */
async function slowPayment(partner: Partner): Promise<string> {
  const created = (await create(partner, 'slow+slow')).body as Created
  const app = partner.session(created.session_token)
  const path = `${PATH}/${created.intent_id}`
  await app.request('POST', `${path}/scan`, { qr_payload: secret(vietQr('200000')) })
  await app.request('POST', `${path}/scan`, {
    qr_payload: secret(promptPayQr()),
    local_amount_minor_units: '36000',
  })
  const confirmed = await app.request('POST', `${path}/confirm`)
  if (confirmed.status !== 200) throw new Error(confirmed.text)
  return created.intent_id
}

async function createdToRefunded(t: Test, stack: RunningStack, partner: Partner): Promise<void> {
  const body = { corridor: 'vn_vietqr' }
  const first = await create(partner, 'ann', body, 'create 1')
  const created = bodyOf(t, first, 201, [...ALWAYS, 'session_token', 'session_expires_at'])
  t.match(created, {
    intent_id: /^pi_[0-9A-Z]{26}$/,
    status: 'created',
    amount_usd_cents: 5_000,
    corridor: 'vn_vietqr',
    created_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    session_expires_at: Number,
  })
  const id = String(created['intent_id'])
  const path = `${PATH}/${id}`
  const call = (what: string, ...rest: [body?: unknown, extra?: object]): Promise<HttpAnswer> =>
    partner.request('POST', `${path}/${what}`, ...rest)

  stack.kill('processor')
  await stack.untilServing()
  const again = await create(partner, 'ann', body, 'create 1')
  t.same([again.status, again.text], [201, first.text], 'the same bytes after a restart')
  const other = await create(partner, 'ann', { ...body, amount_usd_cents: 1 }, 'create 1')
  assertRefusal(t, other, 409, 'idempotency_conflict')

  const { partner_user_id: _user, ...rest } = anIntent()
  assertRefusal(t, await call('session', { partner_user_id: 'ann' }), 400, 'invalid_request')
  const { kyc_attestation, sanctions_attestation } = rest
  const attested = { partner_user_id: 'ann', kyc_attestation, sanctions_attestation }
  assertRefusal(
    t,
    await call('session', { ...attested, partner_user_id: 'x' }),
    403,
    'user_mismatch',
  )
  const reminted = bodyOf(t, await call('session', attested), 200, [
    ...['intent_id', 'session_token', 'session_expires_at'],
  ])
  const app = partner.session(secret(String(reminted['session_token'])))
  t.match(bodyOf(t, await app.request('GET', path), 200, ALWAYS), { status: 'created' })
  bodyOf(t, await partner.request('GET', path), 200, ALWAYS)
  assertRefusal(t, await app.request('GET', `${PATH}/${UNKNOWN}`), 401, 'authentication_failed')

  const scan = (given: object): Promise<HttpAnswer> => app.request('POST', `${path}/scan`, given)
  const payload = secret(vietQr('500000'))
  const qr = { qr_payload: payload }
  for (const [given, status, code] of [
    [{ qr_payload: secret(`${payload}\n`) }, 422, 'qr_malformed'],
    [{ qr_payload: secret(promptPayQr()) }, 422, 'qr_scheme_unsupported'],
    [{ ...qr, local_amount_minor_units: '500001' }, 422, 'qr_amount_mismatch'],
    [{ ...qr, local_amount_minor_units: 0 }, 400, 'invalid_request'],
    [{ ...qr, local_amount_minor_units: '5e5' }, 400, 'invalid_request'],
    [{ ...qr, more: 1 }, 400, 'invalid_request'],
  ] as const) {
    assertRefusal(t, await scan(given), status, code)
  }
  assertRefusal(t, await app.request('POST', `${path}/confirm`), 409, 'quote_required')
  const scanned = bodyOf(t, await scan({ ...qr, local_amount_minor_units: 500_000 }), 200, [
    ...['intent_id', 'status', 'merchant', 'qr_kind', 'quote'],
  ])
  t.match(scanned, { intent_id: id, status: 'created', qr_kind: 'dynamic' })
  t.strictSame(
    Object.entries(scanned['merchant'] as object).map(([name, of]) => [name, typeof of]),
    [...['scheme', 'name', 'city', 'country', 'mcc'].map((name) => [name, 'string'])],
  )
  const { quote_id, expires_at, ...quote } = scanned['quote'] as Record<string, unknown>
  t.strictSame(quote, {
    quote_version: 1,
    amount_usd_cents: 1_887,
    local_amount_minor_units: '500000',
    local_currency: '704',
  })
  t.match([quote_id, String(expires_at)], [/^qt_/, /^[0-9]{13}$/])
  t.match((await scan(qr)).body, { quote: { quote_version: 2 } }, 'another scan')

  const pending = bodyOf(t, await receiptOf(partner, id), 200, RECEIPT)
  t.match(pending, { status: 'pending', local_amount: '500000', destination_masked: '****8859' })

  const confirm = (key: string, given?: object): Promise<HttpAnswer> =>
    app.request('POST', `${path}/confirm`, given, withKey(key))
  assertRefusal(t, await confirm('c', { quote_version: 1 }), 409, 'quote_changed')
  assertRefusal(t, await call('confirm'), 401, 'authentication_failed')
  const confirmed = await confirm('c', { quote_version: 2 })
  t.match(bodyOf(t, confirmed, 200, AUTHORIZED), { status: 'authorized' })
  t.equal((await confirm('c')).text, confirmed.text, 'the same key again')
  assertRefusal(t, await confirm('d'), 401, 'authentication_failed')
  assertRefusal(t, await scan(qr), 401, 'authentication_failed')
  assertRefusal(t, await call('cancel'), 409, 'payment_intent_not_cancelable')

  await untilStatus(partner, path, 'captured')
  const captured = [...AUTHORIZED, 'captured_at', 'captured_amount_usd_cents']
  bodyOf(t, await app.request('GET', path), 200, captured)
  const receipt = bodyOf(t, await receiptOf(partner, id), 200, [...RECEIPT, 'captured_at'])
  t.match(receipt, { status: 'captured', amount_usd_cents: 1_887, captured_at: /Z$/ })
  const fresh = secret(
    String(((await call('session', attested)).body as Partial<Created>).session_token),
  )
  t.equal(fresh, 'undefined', 'a captured intent gets no more tokens')
  secrets.delete(fresh)

  const refund = (key: string): Promise<HttpAnswer> => call('refund', undefined, withKey(key))
  const asked = await refund('r')
  t.match(bodyOf(t, asked, 202, [...captured, 'refund']), {
    status: 'captured',
    refund: { status: 'requested', amount_usd_cents: 1_887 },
  })
  t.equal((await refund('r')).text, asked.text, 'the same key again')
  await untilStatus(partner, path, 'refunded')
  t.equal((await refund('r')).text, asked.text, 'also after the refund')
  assertRefusal(t, await refund('s'), 409, 'payment_intent_not_refundable')
  assertRefusal(t, await call('session', attested), 409, 'payment_intent_terminal')
  bodyOf(t, await partner.request('GET', path), 200, [...captured, 'refund', 'refunded_at'])
  const back = bodyOf(t, await receiptOf(partner, id), 200, [...RECEIPT, 'refund'])
  t.match(back, { status: 'refunded', refund: { amount_usd_cents: 1_887, refunded_at: /Z$/ } })
}

async function cancelledAndFailed(t: Test, partner: Partner): Promise<void> {
  const { intent_id: id } = (await create(partner, 'bob')).body as Created
  const cancelled = await partner.request('POST', `${PATH}/${id}/cancel`)
  t.match(bodyOf(t, cancelled, 200, [...ALWAYS, 'cancelled_at']), { status: 'cancelled' })
  t.match(bodyOf(t, await receiptOf(partner, id), 200, RECEIPT), {
    status: 'failed',
    local_amount: '0',
    merchant_name: '',
    destination_masked: '',
  })
  const minted = await partner.request('POST', `${PATH}/${id}/receipt_token`)
  bodyOf(t, minted, 200, ['receipt_token', 'receipt_token_expires_at'])
  assertRefusal(
    t,
    await partner.request('POST', `${PATH}/${UNKNOWN}/receipt_token`),
    404,
    'payment_intent_not_found',
  )

  const { intent_id: failing, session_token } = (await create(partner, 'carl+fail')).body as Created
  const app = partner.session(session_token)
  const qr = { qr_payload: secret(promptPayQr()) }
  const scan = `${PATH}/${failing}/scan`
  assertRefusal(t, await app.request('POST', scan, qr), 422, 'local_amount_required')
  t.equal(
    (await app.request('POST', scan, { ...qr, local_amount_minor_units: '36000' })).status,
    200,
  )
  await app.request('POST', `${PATH}/${failing}/confirm`, {})
  const failed = await untilStatus(partner, `${PATH}/${failing}`, 'failed')
  t.same(Object.keys(failed as object).sort(), [...AUTHORIZED, 'failed_at', 'failure'].sort())
  t.match(bodyOf(t, await receiptOf(partner, failing), 200, RECEIPT), { status: 'failed' })

  const foreign = await receiptOf(partner, failing, id)
  assertRefusal(t, foreign, 404, 'payment_intent_not_found')
  const none = await receiptOf(partner, UNKNOWN, id)
  const without = ({ text, headers }: HttpAnswer): string =>
    text.replaceAll(String(headers['x-request-id']), '')
  t.equal(without(foreign), without(none), 'a foreign id gets the refusal of an unknown one')
}

async function unknownOutcome(t: Test, stack: RunningStack, partner: Partner): Promise<void> {
  const id = await slowPayment(partner)
  stack.kill('rail', 'SIGSTOP')
  t.teardown(() => stack.kill('rail', 'SIGCONT'))
  const ops = stack.ops.out
  const listed = await eventually('the outcome is listed', async () => {
    const output = await ops('outcomes unknown')
    return output.includes(id) && output
  })
  t.match(
    listed,
    new RegExp(`${id} +demo_sandbox +THB 360\\.00 +since .*Z +(\\d+ inquiries|no inquiry yet)`),
  )
  const resolve = ['intent', 'resolve', id, 'captured', '--reason', 'bank confirmed']
  await t.rejects(ops(...resolve), /This needs --evidence TEXT\./)
  await t.rejects(ops(...resolve.slice(0, 4), '--evidence', 'x'), /needs --reason TEXT/)
  const resolved = await ops(...resolve, '--evidence', 'statement line 8')
  t.equal(resolved.trim(), `${id}: captured`)
  t.match(await ops('outcomes unknown'), 'There are no unknown outcomes.')
  const reverse = ['intent', 'reverse', id, '--reason', 'came back', '--evidence', 'line 9']
  t.equal((await ops(...reverse)).trim(), `${id}: refunded, refund done`)
  const shown = await ops('intent show', id)
  t.match(shown, `${id}: refunded`)
  t.match(shown, /entry +intent_captured: demo_sandbox:THB:rail_clearing 36000/)
  t.match(shown, 'bank confirmed (statement line 8)')
  t.match(shown, 'reverse_intent by')
  t.match(shown, '****5678')
  await t.rejects(ops('intent show', UNKNOWN), /payment_intent_not_found/)
  const metrics = await stack.metrics()
  for (const entity of ['payment_intent', 'payout', 'recall']) {
    const labels = `entity="${entity}",age="over_24h",process="processor"`
    t.ok(metrics.includes(`causeway_unknown_outcomes{${labels}} 0`), entity)
  }
}

async function notLogged(t: Test, stack: RunningStack): Promise<void> {
  const folder = join(stack.dataDir, 'logs')
  const names = readdirSync(folder)
  const logs = names.map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
  t.ok(
    logs.some(([, log]) => log.includes('"level":"debug"')),
    'debug lines are logged',
  )
  const leaks = [...logs, ['the supervisor', stack.output()] as const].flatMap(([name, log]) =>
    [...secrets].filter((one) => log.includes(one)).map((one) => `${one} in ${name}`),
  )
  t.same(leaks, [])
}
