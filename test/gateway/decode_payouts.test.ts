/**
 * Tables of bodies and headers that the other routes accept or reject: payouts, beneficiaries,
 * webhook endpoints, and operations without a body.
 */
import t from 'tap'
import { REPEATED } from '../../src/auth/verify.js'
import { astral, brokenShapes, chars, decodeOf, refuses, takes, type Decode } from './decoding.js'
import { beneficiaryBody, payoutBody } from './signing_partner.js'

t.test('operations without a body accept nothing or an empty object', async (t) => {
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
})

t.test('create beneficiary', async (t) => {
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
})

t.test('create payout', async (t) => {
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
    t.match(
      route(payoutBody, { 'idempotency-key': key }),
      { ok: false, code: 'invalid_request' },
      `key ${String(key)}`,
    )
  }
  t.ok(route(payoutBody, { 'idempotency-key': chars(255) }).ok)
})

t.test('create webhook endpoint', async (t) => {
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
})
