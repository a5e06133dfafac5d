/**
 * Bodies and headers as tables: what each route takes, and the code of what it does not.
 */
import t, { type Test } from 'tap'
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import { instant } from '../../src/base/clock.js'
import type { ErrorCode, Outcome } from '../../src/base/errors.js'
import type { RequestId } from '../../src/base/ids.js'
import { ROUTES } from '../../gateway/app.js'
import { isDateTime, isInt64, isPositiveInt64, isWebhookUrl } from '../../gateway/decode/formats.js'
import type { Exchange } from '../../gateway/exchange.js'
import type { Operation } from '../../gateway/route.js'
import { beneficiaryBody, createBody, payoutBody } from './partner.js'

type Decode = (body: unknown, headers?: Record<string, HeaderValue>) => Outcome<Operation>

/** The decode of one route. A body that is a string is sent as it is. */
function decodeOf(method: string, path: string): Decode {
  const found = ROUTES.find((entry) => entry.method === method && entry.path === path)
  if (found === undefined || found.auth === 'none') throw new Error(`no route ${method} ${path}`)
  return (body, headers = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const exchange: Exchange = {
      requestId: 'req_1' as RequestId,
      startedAt: instant(0),
      method,
      path,
      query: '',
      body: Buffer.from(body === undefined ? '' : text),
      header: (name) => headers[name],
      peer: () => '127.0.0.1',
      answer: () => undefined,
      refuse: () => undefined,
    }
    return found.handler.decode({
      exchange,
      id: 'the_id',
      sessionJti: 'jti',
      receiptSubject: 'subject',
    })
  }
}

const chars = (count: number): string => 'x'.repeat(count)
const astral = (count: number): string => '😀'.repeat(count)

function refuses(
  t: Test,
  decode: Decode,
  bodies: Readonly<Record<string, unknown>>,
  code: ErrorCode = 'invalid_request',
  headers: Record<string, HeaderValue> = {},
): void {
  for (const [what, body] of Object.entries(bodies)) {
    t.same(decode(body, headers), { ok: false, code }, what)
  }
}

function takes(
  t: Test,
  decode: Decode,
  bodies: Readonly<Record<string, unknown>>,
  headers: Record<string, HeaderValue> = {},
): void {
  for (const [what, body] of Object.entries(bodies)) t.ok(decode(body, headers).ok, what)
}

/** Each member missing, null, of another type; one member too many. */
function brokenShapes(body: object, wrongType: unknown): Record<string, unknown> {
  const cases: Record<string, unknown> = {
    'no body': undefined,
    'not JSON': '{',
    'a list': [body],
    'a text': '"x"',
    null: null,
    'one member too many': { ...body, extra: 1 },
  }
  for (const name of Object.keys(body)) {
    cases[`without ${name}`] = { ...body, [name]: undefined }
    cases[`${name} null`] = { ...body, [name]: null }
    cases[`${name} of another type`] = { ...body, [name]: wrongType }
  }
  return cases
}

void t.test('create intent', (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents')
  const kyc = createBody.kyc_attestation
  const sanctions = createBody.sanctions_attestation
  const withKyc = (change: object): object => ({
    ...createBody,
    kyc_attestation: { ...kyc, ...change },
  })
  const withSanctions = (change: object): object => ({
    ...createBody,
    sanctions_attestation: { ...sanctions, ...change },
  })
  takes(t, decode, {
    'as in the guide': createBody,
    'one cent': { ...createBody, amount_usd_cents: 1 },
    'the largest amount': { ...createBody, amount_usd_cents: 100_000_000 },
    'the other corridor': { ...createBody, corridor: 'vn_vietqr' },
    'a user id of 256 characters': { ...createBody, partner_user_id: chars(256) },
    'a user id of 256 astral characters': { ...createBody, partner_user_id: astral(256) },
    'attestations that say no are for the processor': withKyc({ verified: false }),
    'the optional members': withKyc({ id_type: 'passport', id_country: 'TH' }),
    'an offset': withKyc({ verified_at: '2026-01-05T09:30:00.123456789+07:00' }),
  })
  refuses(t, decode, brokenShapes(createBody, 7.5))
  refuses(t, decode, {
    'amount 0': { ...createBody, amount_usd_cents: 0 },
    'a negative amount': { ...createBody, amount_usd_cents: -1 },
    'an amount too large': { ...createBody, amount_usd_cents: 100_000_001 },
    'an amount as text': { ...createBody, amount_usd_cents: '1250' },
    'an amount with a fraction': JSON.stringify(createBody).replace('1250', '1250.0'),
    'an amount with an exponent': JSON.stringify(createBody).replace('1250', '1e3'),
    'minus zero': JSON.stringify(createBody).replace('1250', '-0'),
    'an empty user id': { ...createBody, partner_user_id: '' },
    'a user id of 257 characters': { ...createBody, partner_user_id: chars(257) },
    'a user id of 257 astral characters': { ...createBody, partner_user_id: astral(257) },
    'an unknown corridor': { ...createBody, corridor: 'sg_paynow' },
    'a corridor in capitals': { ...createBody, corridor: 'TH_PROMPTPAY' },
    'the amount twice': JSON.stringify(createBody).replace('{', '{"amount_usd_cents":1,'),
    'an unknown member of kyc': withKyc({ id_number: '1' }),
    'kyc without verified': withKyc({ verified: undefined }),
    'verified as text': withKyc({ verified: 'true' }),
    'kyc without method': withKyc({ method: undefined }),
    'kyc on a day that does not exist': withKyc({ verified_at: '2026-02-30T00:00:00Z' }),
    'kyc with a date only': withKyc({ verified_at: '2026-02-03' }),
    'a country that is none': withKyc({ id_country: 'T1' }),
    'an unknown member of sanctions': withSanctions({ list: 'x' }),
    'sanctions without clean': withSanctions({ clean: undefined }),
    'sanctions without an offset': withSanctions({ screened_at: '2026-02-03T00:00:00' }),
  })
  t.end()
})

void t.test('create intent: the idempotency key is optional, and one when it is there', (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents')
  const given = (key: HeaderValue): Outcome<Operation> =>
    decode(createBody, { 'idempotency-key': key })
  const keyOf = (outcome: Outcome<Operation>): unknown =>
    outcome.ok ? outcome.value.create_intent?.idempotency_key : outcome.code
  t.equal(keyOf(given(undefined)), undefined)
  t.equal(keyOf(given(chars(256))), chars(256))
  t.equal(keyOf(given('with spaces and ~')), 'with spaces and ~')
  for (const key of ['', chars(257), 'é', 'a\tb', REPEATED] as const) {
    t.equal(keyOf(given(key)), 'invalid_request', String(key))
  }
  t.end()
})

void t.test('re-mint: the user and both attestations are asked for again', (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents/{intent_id}/session')
  const { partner_user_id, kyc_attestation, sanctions_attestation } = createBody
  const body = { partner_user_id, kyc_attestation, sanctions_attestation }
  t.same(decode(body), {
    ok: true,
    value: { remint_session: { intent_id: 'the_id', ...body } },
  })
  takes(t, decode, {
    'a user id of 256 astral characters': { ...body, partner_user_id: astral(256) },
    'attestations that say no are for the processor': {
      ...body,
      sanctions_attestation: { ...sanctions_attestation, clean: false },
    },
  })
  refuses(t, decode, brokenShapes(body, 7.5))
  refuses(t, decode, {
    'an empty user id': { ...body, partner_user_id: '' },
    'a user id of 257 characters': { ...body, partner_user_id: chars(257) },
    'the body of a create': createBody,
    'an empty body': '',
  })
  t.end()
})

void t.test('receipt: the subject comes from the token, never from the caller', (t) => {
  const decode = decodeOf('GET', '/v1/payment_intents/{intent_id}/receipt')
  t.same(decode(undefined), {
    ok: true,
    value: { get_receipt: { intent_id: 'the_id', subject: 'subject' } },
  })
  refuses(t, decode, { 'a subject in the body': { subject: 'other' } })
  t.end()
})

void t.test('refund: the idempotency key is optional, and one when it is there', (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents/{intent_id}/refund')
  const given = (key: HeaderValue): Outcome<Operation> =>
    decode(undefined, { 'idempotency-key': key })
  const intent_id = 'the_id'
  t.same(given(undefined), { ok: true, value: { refund_intent: { intent_id } } })
  t.same(given(chars(256)), {
    ok: true,
    value: { refund_intent: { intent_id, idempotency_key: chars(256) } },
  })
  for (const key of ['', chars(257), 'né', REPEATED] as const) {
    t.same(given(key), { ok: false, code: 'invalid_request' }, String(key))
  }
  refuses(t, decode, { 'an amount': { amount_usd_cents: 100 } })
  t.end()
})

void t.test('scan', (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents/{intent_id}/scan')
  const amountOf = (amount: unknown): unknown => {
    const outcome = decode({ qr_payload: 'x', local_amount_minor_units: amount })
    return outcome.ok ? outcome.value.scan_intent?.local_amount_minor_units : outcome.code
  }
  t.same(decode({ qr_payload: '000201', duplicate_confirmed: true }), {
    ok: true,
    value: {
      scan_intent: {
        intent_id: 'the_id',
        session_jti: 'jti',
        qr_payload: '000201',
        duplicate_confirmed: true,
      },
    },
  })
  t.equal(amountOf('5000'), '5000')
  t.equal(amountOf(5000), '5000', 'a number becomes the same text')
  t.equal(amountOf(Number.MAX_SAFE_INTEGER), '9007199254740991')
  t.equal(amountOf('9223372036854775807'), '9223372036854775807')
  t.equal(amountOf('0'), '0', 'an int64 that is no amount is for the processor')
  t.equal(amountOf('-5'), '-5')
  for (const amount of [
    '9223372036854775808',
    '',
    '05',
    '+5',
    '5.0',
    '5 ',
    '0x10',
    0,
    -1,
    2 ** 53,
    1.5,
    true,
    null,
    {},
  ]) {
    t.equal(amountOf(amount), 'invalid_request', JSON.stringify(amount))
  }
  takes(t, decode, { '4,096 astral characters': { qr_payload: astral(4_096) } })
  refuses(t, decode, {
    'no body': undefined,
    'no payload': {},
    'an empty payload': { qr_payload: '' },
    '4,097 characters': { qr_payload: chars(4_097) },
    'a payload of another type': { qr_payload: 1 },
    'a flag of another type': { qr_payload: 'x', duplicate_confirmed: 1 },
    'an unknown member': { qr_payload: 'x', amount: 1 },
  })
  t.end()
})

void t.test('confirm', (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents/{intent_id}/confirm')
  const quote = { quote_id: 'qt_1', quote_version: 2 }
  const whose = { intent_id: 'the_id', session_jti: 'jti' }
  t.same(decode(undefined), { ok: true, value: { confirm_intent: whose } })
  t.same(decode(quote, { 'idempotency-key': 'k' }), {
    ok: true,
    value: { confirm_intent: { ...quote, ...whose, idempotency_key: 'k' } },
  })
  takes(t, decode, { '{}': {}, 'the id alone': { quote_id: 'qt_1' } })
  refuses(t, decode, {
    'an unknown member': { quote: 'qt_1' },
    'a version that is text': { ...quote, quote_version: '2' },
    'a version of 0': { ...quote, quote_version: 0 },
    'a version beyond 32 bits': { ...quote, quote_version: 2 ** 32 },
    'an empty id': { ...quote, quote_id: '' },
    'no JSON': 'x',
  })
  refuses(t, decode, { 'an empty key': {} }, 'invalid_request', { 'idempotency-key': '' })
  t.end()
})

void t.test('operations without a body take nothing or an empty object', (t) => {
  const routes = [
    ['GET', '/v1/payment_intents/{intent_id}'],
    ['POST', '/v1/payment_intents/{intent_id}/cancel'],
    ['POST', '/v1/payment_intents/{intent_id}/refund'],
    ['POST', '/v1/payment_intents/{intent_id}/receipt_token'],
    ['GET', '/v1/payment_intents/{intent_id}/receipt'],
    ['GET', '/v1/payouts/{payout_id}'],
    ['POST', '/v1/payouts/{payout_id}/cancel'],
    ['GET', '/v1/balances'],
    ['GET', '/v1/webhook_endpoints'],
  ] as const
  for (const [method, path] of routes) {
    const decode = decodeOf(method, path)
    takes(t, decode, { nothing: undefined, '{}': {}, 'spaced {}': ' { } ' })
    refuses(t, decode, { 'a member': { a: 1 }, 'a list': [], 'no JSON': 'x' })
  }
  t.end()
})

void t.test('create beneficiary', (t) => {
  const decode = decodeOf('POST', '/v1/beneficiaries')
  takes(t, decode, {
    'as in the guide': beneficiaryBody,
    'an account of letters and digits': {
      ...beneficiaryBody,
      account_number: 'GB33BUKB20201555555555',
    },
    'the shortest account': { ...beneficiaryBody, account_number: '12345' },
    'the longest account': { ...beneficiaryBody, account_number: chars(34) },
    'a name in Thai': { ...beneficiaryBody, name: 'สมชาย ใจดี' },
  })
  const { 'no body': none, 'not JSON': broken, ...shapes } = brokenShapes(beneficiaryBody, 7)
  refuses(t, decode, { none, broken })
  refuses(t, decode, shapes, 'invalid_beneficiary')
  refuses(
    t,
    decode,
    {
      'another type': { ...beneficiaryBody, type: 'wallet' },
      'a blank name': { ...beneficiaryBody, name: ' ' },
      'a country in small letters': { ...beneficiaryBody, destination_country: 'th' },
      'a country of three letters': { ...beneficiaryBody, destination_country: 'THA' },
      'a currency of two letters': { ...beneficiaryBody, currency: 'TH' },
      'an account of four': { ...beneficiaryBody, account_number: '1234' },
      'an account of 35': { ...beneficiaryBody, account_number: chars(35) },
      'an account with a dash': { ...beneficiaryBody, account_number: '123-456' },
      'an account with digits of another script': {
        ...beneficiaryBody,
        account_number: '１２３４５',
      },
      'no bank': { ...beneficiaryBody, bank_code: '' },
      'a bank of 36': { ...beneficiaryBody, bank_code: chars(36) },
    },
    'invalid_beneficiary',
  )
  t.end()
})

void t.test('create payout', (t) => {
  const route = decodeOf('POST', '/v1/payouts')
  const decode: Decode = (body, headers = {}) => route(body, { 'idempotency-key': 'k', ...headers })
  const { amount, currency, reference } = payoutBody
  const bare = { amount, currency, reference }
  const pairs = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_each, i) => [`k${i}`, 'v']))

  t.same(decode({ ...payoutBody, reference: ' \u3000ref\u00a0', description: 'd' }), {
    ok: true,
    value: {
      create_payout: {
        ...payoutBody,
        reference: 'ref',
        description: 'd',
        metadata: {},
        idempotency_key: 'k',
      },
    },
  })
  takes(t, decode, {
    'a new beneficiary': { ...bare, beneficiary: beneficiaryBody },
    'the largest amount': { ...payoutBody, amount: '9223372036854775807' },
    'a reference of 255 trimmed characters': { ...payoutBody, reference: ` ${astral(255)} ` },
    'a description of 500': { ...payoutBody, description: astral(500) },
    '50 pairs': { ...payoutBody, metadata: pairs(50) },
    'the longest pair': { ...payoutBody, metadata: { [astral(100)]: astral(500) } },
    'a currency that nobody knows is for the processor': { ...payoutBody, currency: 'ZZZ' },
  })
  refuses(t, decode, brokenShapes(payoutBody, 7))
  refuses(t, decode, {
    'an amount of 0': { ...payoutBody, amount: '0' },
    'a negative amount': { ...payoutBody, amount: '-1' },
    'an amount with decimals': { ...payoutBody, amount: '125000.00' },
    'an amount with an exponent': { ...payoutBody, amount: '1e3' },
    'an amount with a plus': { ...payoutBody, amount: '+1' },
    'an amount with a leading zero': { ...payoutBody, amount: '01' },
    'an amount in hex': { ...payoutBody, amount: '0x10' },
    'an amount with spaces': { ...payoutBody, amount: ' 5 ' },
    'an empty amount': { ...payoutBody, amount: '' },
    'an amount beyond int64': { ...payoutBody, amount: '9223372036854775808' },
    'a currency in small letters': { ...payoutBody, currency: 'thb' },
    'both forms of a beneficiary': { ...payoutBody, beneficiary: beneficiaryBody },
    'neither form': bare,
    'a blank reference': { ...payoutBody, reference: ' \u3000' },
    'a reference of 256': { ...payoutBody, reference: chars(256) },
    'a description of 501': { ...payoutBody, description: chars(501) },
    '51 pairs': { ...payoutBody, metadata: pairs(51) },
    'a key of 101': { ...payoutBody, metadata: { [chars(101)]: 'v' } },
    'a value of 501': { ...payoutBody, metadata: { k: chars(501) } },
    'a value that is no text': { ...payoutBody, metadata: { k: 1 } },
    'a key called __proto__': JSON.stringify(payoutBody).replace(
      '{',
      '{"metadata":{"__proto__":"x"},',
    ),
  })
  refuses(
    t,
    decode,
    {
      'a fault inside the beneficiary': { ...bare, beneficiary: { ...beneficiaryBody, type: 'x' } },
      'a beneficiary that is no object': { ...bare, beneficiary: 'ben_1' },
    },
    'invalid_beneficiary',
  )
  refuses(t, decode, {
    'the shape of the payout goes first': { ...bare, amount: 1, beneficiary: { type: 'x' } },
  })
  for (const key of [undefined, '', chars(256), REPEATED] as const) {
    t.same(
      route(payoutBody, { 'idempotency-key': key }),
      { ok: false, code: 'invalid_request' },
      `key ${String(key)}`,
    )
  }
  t.ok(route(payoutBody, { 'idempotency-key': chars(255) }).ok)
  t.end()
})

void t.test('create webhook endpoint', (t) => {
  const decode = decodeOf('POST', '/v1/webhook_endpoints')
  const url = 'https://acme.example/hooks'
  takes(t, decode, {
    'the address alone': { url },
    'all members': { url, description: 'd', enabled_events: ['payout.completed', '*'] },
  })
  refuses(t, decode, {
    'no address': {},
    'an unknown member': { url, secret: 'x' },
    'an event that is none': { url, enabled_events: ['payout'] },
    'an event twice': { url, enabled_events: ['*', '*'] },
    'a description of 501': { url, description: chars(501) },
    'a user in the address': { url: 'https://a:b@acme.example/' },
    'another scheme': { url: 'ftp://acme.example/' },
  })
  t.end()
})

void t.test('formats', (t) => {
  const check = (valid: (text: string) => boolean, yes: string[], no: string[]): void => {
    for (const text of yes) t.equal(valid(text), true, text)
    for (const text of no) t.equal(valid(text), false, text)
  }
  check(
    isDateTime,
    ['2026-01-31T23:59:59Z', '2024-02-29T00:00:00.1+00:00', '2026-11-21T04:35:40.123456789-23:59'],
    [
      '',
      '2026-02-29T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-01-01T24:00:00Z',
      '2026-01-01T00:60:00Z',
      '2026-01-01T00:00:60Z',
      '2026-01-01 00:00:00Z',
      '2026-01-01T00:00:00',
      '2026-01-01T00:00:00+24:00',
      '2026-01-01T00:00:00+07',
      '2026-01-01T00:00:00.Z',
      '2026-01-01T00:00:00ZZ',
      '2026-01-01T00:00:00+00:00Z',
      ' 2026-01-01T00:00:00Z',
      '2026-01-01T00:00:00Z\n',
    ],
  )
  check(
    isInt64,
    ['0', '1', '-1', '9223372036854775807', '-9223372036854775808'],
    [
      '',
      '-0',
      '00',
      '+1',
      ' 1',
      '1 ',
      '1.0',
      '1e1',
      '0x1',
      '9223372036854775808',
      '-9223372036854775809',
    ],
  )
  check(isPositiveInt64, ['1'], ['0', '-1', 'x'])
  check(
    isWebhookUrl,
    ['https://a.example', 'http://127.0.0.1:9000/hook?a=b', 'https://a.example/%20'],
    [
      '',
      'a.example',
      'https://',
      'https://a.example/#top',
      'https://a.example/#',
      'https://a@b.example',
      'javascript:1',
      'https://a.example/ x',
      'https://é.example',
    ],
  )
  t.end()
})
