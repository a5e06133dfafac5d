/**
 * Tables of bodies and headers that the other routes accept or reject: payouts, beneficiaries, and
 * operations without a body.
 */
import t from 'tap'
import { REPEATED } from '../../src/auth/verify.js'
import {
  astral,
  brokenShapes,
  chars,
  decodeOf,
  keyed,
  refuses,
  takes,
  type Decode,
} from './decoding.js'
import { beneficiaryBody, payoutBody } from './signing_partner.js'

t.test('operations without a body accept nothing or an empty object', async (t) => {
  const routes = [
    ['GET', '/v1/payment_intents/{intent_id}'],
    ['POST', '/v1/payment_intents/{intent_id}/cancel'],
    ['POST', '/v1/payment_intents/{intent_id}/refund'],
    ['POST', '/v1/payment_intents/{intent_id}/receipt_token'],
    ['GET', '/v1/payment_intents/{intent_id}/receipt'],
    ['GET', '/v1/beneficiaries/{beneficiary_id}'],
    ['POST', '/v1/beneficiaries/{beneficiary_id}/disable'],
    ['GET', '/v1/payouts/{payout_id}'],
    ['POST', '/v1/payouts/{payout_id}/cancel'],
    ['GET', '/v1/balances'],
    ['GET', '/v1/webhook_endpoints'],
  ] as const
  for (const [method, path] of routes) {
    const decode = decodeOf(method, path)
    takes(t, decode, { nothing: undefined, '{}': {}, 'spaced {}': ' { } ' })
    refuses(t, decode, { 'a member': { a: 1 }, 'a list': [], 'no JSON': 'x' })
    if (path.includes('beneficiar')) t.ok(decode(undefined, {}, 'ignored=1').ok)
  }
})

t.test('create beneficiary', async (t) => {
  const decode = decodeOf('POST', '/v1/beneficiaries')
  const beneficiary = (change: object): object => ({ ...beneficiaryBody, ...change })
  takes(t, decode, {
    'as in the guide': beneficiaryBody,
    'an account of letters and digits': beneficiary({ account_number: 'GB33BUKB20201555555555' }),
    'the shortest account': beneficiary({ account_number: '12345' }),
    'the longest account': beneficiary({ account_number: chars(34) }),
    'a name in Thai': beneficiary({ name: 'สมชาย ใจดี' }),
  })
  const { 'no body': none, 'not JSON': broken, ...shapes } = brokenShapes(beneficiaryBody, 7)
  refuses(t, decode, { none, broken })
  refuses(t, decode, shapes, 'invalid_beneficiary')
  refuses(
    t,
    decode,
    {
      'another type': beneficiary({ type: 'wallet' }),
      'a blank name': beneficiary({ name: ' ' }),
      'a country in small letters': beneficiary({ destination_country: 'th' }),
      'a country of three letters': beneficiary({ destination_country: 'THA' }),
      'a currency of two letters': beneficiary({ currency: 'TH' }),
      'an account of four': beneficiary({ account_number: '1234' }),
      'an account of 35': beneficiary({ account_number: chars(35) }),
      'an account with a dash': beneficiary({ account_number: '123-456' }),
      'an account with digits of another script': beneficiary({ account_number: '１２３４５' }),
      'no bank': beneficiary({ bank_code: '' }),
      'a bank of 36': beneficiary({ bank_code: chars(36) }),
    },
    'invalid_beneficiary',
  )
})

t.test('create payout', async (t) => {
  const route = decodeOf('POST', '/v1/payouts')
  const decode: Decode = (body) => route(body, keyed('k'))
  const { amount, currency, reference } = payoutBody
  const bare = { amount, currency, reference }
  const pairs = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_each, i) => [`k${i}`, 'v']))

  const described = { ...payoutBody, description: 'd' }
  const created = { ...described, reference: 'ref', metadata: {}, idempotency_key: 'k' }
  t.same(decode({ ...described, reference: ' \u3000ref\u00a0' }), {
    ok: true,
    value: { create_payout: created },
  })
  takes(t, decode, {
    'a new beneficiary': { ...bare, beneficiary: beneficiaryBody },
    'the largest amount': { ...payoutBody, amount: '9223372036854775807' },
    'a reference of 255 trimmed characters': { ...payoutBody, reference: ` ${astral(255)} ` },
    'a description of 500': { ...payoutBody, description: astral(500) },
    '50 pairs': { ...payoutBody, metadata: pairs(50) },
    'the longest pair': { ...payoutBody, metadata: { [astral(100)]: astral(500) } },
    'an unknown currency is left to the processor': { ...payoutBody, currency: 'ZZZ' },
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
    'a key with a backslash': { ...payoutBody, metadata: { 'a\\b': 'v' } },
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
    'faults of the payout precede those of the beneficiary': {
      ...bare,
      amount: 1,
      beneficiary: { type: 'x' },
    },
  })
  for (const key of [undefined, '', chars(256), REPEATED] as const) {
    refuses(t, route, { [`key ${String(key)}`]: payoutBody }, 'invalid_request', keyed(key))
  }
  t.ok(route(payoutBody, keyed(chars(255))).ok)
})
