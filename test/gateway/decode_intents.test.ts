/**
 * Tables of bodies and headers that the intent routes accept, and the code for those they reject.
 */
import t from 'tap'
import { REPEATED, type HeaderValue } from '../../src/auth/verify.js'
import type { Outcome } from '../../src/base/errors.js'
import type { Operation } from '../../gateway/decode/operation.js'
import { astral, brokenShapes, chars, decodeOf, keyed, refuses, takes } from './decoding.js'
import { createBody } from './signing_partner.js'

t.test('create intent', async (t) => {
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
    'negative attestations are left to the processor': withKyc({ verified: false }),
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
})

t.test('create intent: the idempotency key is optional and validated', async (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents')
  const given = (key: HeaderValue): Outcome<Operation> => decode(createBody, keyed(key))
  const keyOf = (outcome: Outcome<Operation>): unknown =>
    outcome.ok ? outcome.value.create_intent?.idempotency_key : outcome.code
  t.equal(keyOf(given(undefined)), undefined)
  t.equal(keyOf(given(chars(256))), chars(256))
  t.equal(keyOf(given('with spaces and ~')), 'with spaces and ~')
  for (const key of ['', chars(257), 'é', 'a\tb', REPEATED] as const) {
    t.equal(keyOf(given(key)), 'invalid_request', String(key))
  }
})

t.test('re-mint: the user and both attestations are required again', async (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents/{intent_id}/session')
  const { partner_user_id, kyc_attestation, sanctions_attestation } = createBody
  const body = { partner_user_id, kyc_attestation, sanctions_attestation }
  t.same(decode(body), {
    ok: true,
    value: { remint_session: { intent_id: 'the_id', ...body } },
  })
  takes(t, decode, {
    'a user id of 256 astral characters': { ...body, partner_user_id: astral(256) },
    'negative attestations are left to the processor': {
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
})

t.test('receipt: the subject comes from the token, never from the caller', async (t) => {
  const decode = decodeOf('GET', '/v1/payment_intents/{intent_id}/receipt')
  t.same(decode(undefined), {
    ok: true,
    value: { get_receipt: { intent_id: 'the_id', subject: 'subject' } },
  })
  refuses(t, decode, { 'a subject in the body': { subject: 'other' } })
})

t.test('refund: the idempotency key is optional and validated', async (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents/{intent_id}/refund')
  const given = (key: HeaderValue): Outcome<Operation> => decode(undefined, keyed(key))
  const intent_id = 'the_id'
  t.same(given(undefined), { ok: true, value: { refund_intent: { intent_id } } })
  t.same(given(chars(256)), {
    ok: true,
    value: { refund_intent: { intent_id, idempotency_key: chars(256) } },
  })
  for (const key of ['', chars(257), 'né', REPEATED] as const) {
    t.match(given(key), { ok: false, code: 'invalid_request' }, String(key))
  }
  refuses(t, decode, { 'an amount': { amount_usd_cents: 100 } })
})

t.test('scan', async (t) => {
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
  t.equal(amountOf('0'), '0', 'an int64 that is no amount is left to the processor')
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
})

t.test('confirm', async (t) => {
  const decode = decodeOf('POST', '/v1/payment_intents/{intent_id}/confirm')
  const quote = { quote_id: 'qt_1', quote_version: 2 }
  const whose = { intent_id: 'the_id', session_jti: 'jti' }
  t.same(decode(undefined), { ok: true, value: { confirm_intent: whose } })
  t.same(decode(quote, keyed('k')), {
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
  refuses(t, decode, { 'an empty key': {} }, 'invalid_request', keyed(''))
})
