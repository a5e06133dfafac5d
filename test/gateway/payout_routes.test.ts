/**
 * Payout-related routes: lists, funding, conversions, simulation. What they read from a request,
 * and the requests that they reject themselves.
 */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { REPEATED } from '../../src/auth/verify.js'
import type { Operation } from '../../gateway/decode/operation.js'
import { isLater, timestampOf, roundDown, roundUp } from '../../src/api/checks/timestamp.js'
import {
  bytesOf,
  call,
  get,
  post,
  roundTrip,
  PRODUCTION_KEY_ID,
  statusOf,
} from './signing_partner.js'
import { astral, chars, decodeOf, keyed, refusesEach, type Decode } from './decoding.js'
import { startGateway } from './running_gateway.js'
import { refuseWith } from './processor_stub.js'

const INVALID = { ok: false, code: 'invalid_request' }

/** The parsed query. Null means that it is rejected. */
function reads(
  t: Test,
  decode: Decode,
  operation: keyof Operation,
  queries: Readonly<Record<string, object | null>>,
): void {
  for (const [query, expected] of Object.entries(queries)) {
    const value = { ok: true, value: { [operation]: expected } }
    if (expected === null) t.match(decode(undefined, {}, query), INVALID, `?${query}`)
    else t.strictSame(decode(undefined, {}, query), value, `?${query}`)
  }
}

const DEPOSIT = { currency: 'THB', amount: '125000' }
const FX_QUOTE = { sell_currency: 'USD', sell_amount: '10000', buy_currency: 'THB' }

t.test('a rejected query only consumes its nonce', async (t) => {
  const gateway = await startGateway(t)
  const answer = await call(gateway.port, get('/v1/payouts?stauts=failed'))
  t.match(answer, { status: 400, json: { error: { code: 'invalid_request' } } })
  t.match(gateway.processorStub.commands, [{ consume_nonce_only: true, operation: undefined }])
})

t.test('a query with bytes beyond ASCII is 400', async (t) => {
  const gateway = await startGateway(t)
  const head = bytesOf(get('/v1/payouts?reference=~'))
  const bytes = Buffer.from(head.replace('~', 'é'), 'utf8')
  const { text } = await roundTrip(gateway.port, bytes)
  t.equal(statusOf(text), 400)
})

t.test('sandbox-only operations answer with the code of the processor', async (t) => {
  const environment = { SANDBOX_HOSTS: 'sandbox.example', PRODUCTION_HOSTS: '127.0.0.1' }
  const gateway = await startGateway(t, { environment, script: refuseWith('invalid_request') })
  const simulate = post('/v1/sandbox/payouts/pout_1/simulate', { outcome: 'failed' })
  const answer = await call(gateway.port, { ...simulate, keyId: PRODUCTION_KEY_ID })
  t.equal(answer.status, 400)
  t.match(gateway.processorStub.commands, [
    { tenant: 'acme_production', operation: 'simulate_payout' },
  ])
})

const PAGED = [
  ['/v1/beneficiaries', 'list_beneficiaries'],
  ['/v1/payouts', 'list_payouts'],
  ['/v1/payment_intents', 'list_intents'],
  ['/v1/balance_transactions', 'list_balance_transactions'],
] as const

for (const [path, operation] of PAGED) {
  t.test(`pages of ${path}`, async (t) => {
    const decode = decodeOf('GET', path)
    reads(t, decode, operation, {
      '': {},
      'limit=1': { limit: 1 },
      'limit=100': { limit: 100 },
      'cursor=': { cursor: '' },
      'cursor=a%2Eb&limit=50': { limit: 50, cursor: 'a.b' },
      'li%6Dit=3': { limit: 3 },
      'cursor=a=b': { cursor: 'a=b' },
      ...Object.fromEntries(
        [
          ...['limit', 'limit=', 'limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=1e1'],
          ...['limit=050', 'limit=+5', 'limit=%205', 'limit=5%0A', 'limit=0x5', 'limit=x'],
          ...['limit=1&limit=1', 'limit=1&li%6Dit=1', 'cursor=a&cursor=b'],
          ...['Limit=1', 'offset=1', 'limit[]=1', '__proto__=1', 'constructor=1'],
          ...['&', '=', '=1', 'limit=1&', '&limit=1', 'limit=1&&cursor=a', 'limit=1;cursor=a'],
          ...['cursor=%', 'cursor=%4', 'cursor=%zz', 'cursor=%u0041', 'curs%6=a', 'cursor=%00'],
          ...['cursor=%80', 'cursor=%c0%af', 'cursor=%ed%a0%80', 'cursor=%f0%9f%98', 'cursor=é'],
        ].map((query) => [query, null]),
      ),
    })
    t.match(decode({ a: 1 }), INVALID, 'a body')
    t.ok(decode({}).ok, 'an empty body')
  })
}

const byStatus = (...statuses: string[]): Record<string, object> =>
  Object.fromEntries(statuses.map((status) => [`status=${status}`, { status }]))

t.test('filters of intents', async (t) => {
  reads(t, decodeOf('GET', '/v1/payment_intents'), 'list_intents', {
    ...byStatus('created', 'authorized', 'captured', 'failed', 'expired', 'refunded', 'cancelled'),
    'corridor=vn_vietqr&limit=2': { corridor: 'vn_vietqr', limit: 2 },
    'partner_user_id=a%2Bb+c': { partner_user_id: 'a+b c' },
    [`partner_user_id=${encodeURIComponent(astral(256))}`]: { partner_user_id: astral(256) },
    'created_after=2026-01-05T09:30:00.0001Z&created_before=2026-01-05T09:30:00.0002Z': {
      created_after: Date.UTC(2026, 0, 5, 9, 30),
      created_before: Date.UTC(2026, 0, 5, 9, 30) + 1,
    },
    'status=processing': null,
    'corridor=sg_paynow': null,
    'partner_user_id=': null,
    [`partner_user_id=${'x'.repeat(257)}`]: null,
    'created_after=2026-01-05': null,
    'created_after=2026-01-05T09:30:00Z&created_before=2026-01-05T09:30:00Z': null,
    'reference=r': null,
  })
})

t.test('filters of payouts', async (t) => {
  const decode = decodeOf('GET', '/v1/payouts')
  reads(t, decode, 'list_payouts', {
    ...byStatus('created', 'processing', 'completed', 'failed', 'reversed'),
    'reference=invoice+7': { reference: 'invoice 7' },
    'reference=invoice%207': { reference: 'invoice 7' },
    'reference=a%2Bb%26c%3Dd': { reference: 'a+b&c=d' },
    'reference=': { reference: '' },
    [`reference=${chars(255)}`]: { reference: chars(255) },
    [`reference=${encodeURIComponent(astral(255))}`]: { reference: astral(255) },
    [`beneficiary_id=${encodeURIComponent(astral(128))}`]: { beneficiary_id: astral(128) },
    'status=failed&reference=r&beneficiary_id=b&limit=2&cursor=c': {
      status: 'failed',
      reference: 'r',
      beneficiary_id: 'b',
      limit: 2,
      cursor: 'c',
    },
    'status=': null,
    'status=Failed': null,
    'status=canceled': null,
    'status=failed&status=failed': null,
    [`reference=${chars(256)}`]: null,
    [`reference=${encodeURIComponent(astral(256))}`]: null,
    [`beneficiary_id=${chars(129)}`]: null,
    [`beneficiary_id=${encodeURIComponent(astral(129))}`]: null,
  })
})

t.test('time filters of payouts are rounded outward and compared unrounded', async (t) => {
  const decode = decodeOf('GET', '/v1/payouts')
  const at = Date.UTC(2026, 10, 21, 4, 35, 40, 123)
  const moment = '2026-11-21T04:35:40'
  const between = (after: string, before: string): string =>
    `created_after=${moment}${after}&created_before=${moment}${before}`
  reads(t, decode, 'list_payouts', {
    [`created_after=${moment}.123Z`]: { created_after: at },
    [`created_before=${moment}.123Z`]: { created_before: at },
    [`created_after=${moment}.123999999Z`]: { created_after: at },
    [`created_before=${moment}.123000001Z`]: { created_before: at + 1 },
    [`created_after=${moment}.123%2B07:00`]: { created_after: at - 7 * 3_600_000 },
    [`created_after=${moment}.123+07:00`]: { created_after: at - 7 * 3_600_000 },
    [`created_before=${moment}.123-03:30`]: { created_before: at + 3.5 * 3_600_000 },
    'created_after=1970-01-01T00:00:00%2B01:00': { created_after: -3_600_000 },
    [`created_after=${moment}.123%2B0700`]: { created_after: at - 7 * 3_600_000 },
    [`created_after=${moment}.123+0700`]: { created_after: at - 7 * 3_600_000 },
    [`created_before=${moment.toLowerCase()}.123z`]: { created_before: at },
    'created_after=2026-11-21T04:35Z': { created_after: at - 40_123 },
    'created_before=2026-11-21t04:35+07:00': { created_before: at - 40_123 - 7 * 3_600_000 },
    'created_before=2026-11-21T04:35-0330': { created_before: at - 40_123 + 3.5 * 3_600_000 },
    [between('.123Z', '.124Z')]: { created_after: at, created_before: at + 1 },
    [between('.1231Z', '.1232Z')]: { created_after: at, created_before: at + 1 },
    [between('%2B07:00', 'Z')]: {
      created_after: at - 123 - 7 * 3_600_000,
      created_before: at - 123,
    },
    [between('.123Z', '.123Z')]: null,
    [between('.1232Z', '.1231Z')]: null,
    [between('.1231Z', '.1231Z')]: null,
    [between('.124Z', '.123Z')]: null,
    [between('Z', '%2B07:00')]: null,
    [`created_after=${moment}`]: null,
    'created_after=2026-11-21': null,
    'created_after=1795235740123': null,
    'created_after=': null,
    'created_before=2026-02-30T00:00:00Z': null,
    'created_before=2026-11-21+04:35:40Z': null,
    'created_before=2026-11-21+04:35': null,
    'created_before=2026-11-21T04:35': null,
    'created_before=2026-11-21T04:35%2B07': null,
    'created_before=2026-11-21+0435': null,
    [`created_after=+${moment}Z`]: null,
    [`created_after=${moment}.1234567891Z`]: null,
    [`created_after=${moment}Z&created_after=${moment}Z`]: null,
  })
})

t.test('a timestamp is the same instant in every offset, and rounding encloses it', async () => {
  const fraction = fc.stringMatching(/^[0-9]{0,6}$/)
  const offset = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 })
  const epochMs = fc.integer({ min: 2 * 86_400_000, max: Date.UTC(2100, 0) })
  const two = (value: number): string => String(value).padStart(2, '0')
  const textOf = (ms: number, finer: string, minutes: number): string => {
    const local = new Date(ms + minutes * 60_000).toISOString().slice(0, -1)
    const size = Math.abs(minutes)
    const sign = minutes < 0 ? '-' : '+'
    return `${local}${finer}${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`
  }
  fc.assert(
    fc.property(epochMs, fraction, offset, offset, (ms, finer, one, other) => {
      const moment = timestampOf(textOf(ms, finer, one))
      const same = timestampOf(textOf(ms, finer, other))
      if (moment === undefined || same === undefined) return false
      const isWhole = Number(finer) === 0
      return (
        roundDown(moment) === ms &&
        roundUp(moment) === (isWhole ? ms : ms + 1) &&
        !isLater(moment, same) &&
        !isLater(same, moment)
      )
    }),
  )
})

t.test('query encodings of common clients decode to the same filter', async (t) => {
  const decode = decodeOf('GET', '/v1/payouts')
  const reference = fc
    .string({ unit: 'grapheme', maxLength: 50 })
    .filter((text) => !text.includes('\0') && [...text].length <= 255)
  fc.assert(
    fc.property(reference, (text) => {
      const expected = { ok: true, value: { list_payouts: { reference: text } } }
      const form = new URLSearchParams({ reference: text }).toString()
      const component = `reference=${encodeURIComponent(text)}`
      t.strictSame(decode(undefined, {}, form), expected)
      t.strictSame(decode(undefined, {}, component), expected)
    }),
    { numRuns: 50 },
  )
})

t.test('simulate', async (t) => {
  const decode = decodeOf('POST', '/v1/sandbox/payouts/{payout_id}/simulate')
  for (const outcome of ['completed', 'failed', 'reversed']) {
    t.strictSame(decode({ outcome }), {
      ok: true,
      value: { simulate_payout: { payout_id: 'the_id', outcome } },
    })
  }
  refusesEach(t, decode, [
    undefined,
    {},
    '{',
    [],
    { outcome: 'created' },
    { outcome: 'Failed' },
    { outcome: null },
    { outcome: ['failed'] },
    { outcome: 'failed', reason: 'x' },
  ])
})

const NOT_AMOUNTS = ['0', '-1', '1.0', '01', '+1', '', ' 1', '9223372036854775808', 1, null]
const NOT_CURRENCIES = ['', 'thb', 'TH', 'THBX', 'THB ', 7, null]

t.test('deposits', async (t) => {
  const decode = decodeOf('POST', '/v1/funding/deposits')
  t.ok(decode({ ...DEPOSIT, amount: '9223372036854775807' }).ok)
  t.ok(decode(DEPOSIT, keyed('k'.repeat(255))).ok)
  for (const key of ['', 'k'.repeat(256), 'schlüssel', REPEATED] as const) {
    t.match(decode(DEPOSIT, keyed(key)), INVALID, `the key ${String(key)}`)
  }
  refusesEach(t, decode, [
    ...[undefined, {}, '{', [], { amount: '1' }, { currency: 'THB' }, { ...DEPOSIT, note: 'x' }],
    ...NOT_AMOUNTS.map((amount) => ({ ...DEPOSIT, amount })),
    ...NOT_CURRENCIES.map((currency) => ({ ...DEPOSIT, currency })),
  ])
})

t.test('quotes and conversions', async (t) => {
  const quote = decodeOf('POST', '/v1/fx/quotes')
  t.strictSame(quote(FX_QUOTE), { ok: true, value: { create_fx_quote: FX_QUOTE } })
  refusesEach(t, quote, [
    ...[undefined, {}, '{', { ...FX_QUOTE, buy_amount: '1' }],
    ...Object.keys(FX_QUOTE).map((name) => ({ ...FX_QUOTE, [name]: undefined })),
    ...NOT_AMOUNTS.map((amount) => ({ ...FX_QUOTE, sell_amount: amount })),
    ...NOT_CURRENCIES.map((currency) => ({ ...FX_QUOTE, sell_currency: currency })),
    ...NOT_CURRENCIES.map((currency) => ({ ...FX_QUOTE, buy_currency: currency })),
  ])

  const conversion = decodeOf('POST', '/v1/fx/conversions')
  const body = { quote_id: 'fxq_1' }
  for (const key of ['k', 'k'.repeat(255)]) {
    t.strictSame(conversion(body, keyed(key)), {
      ok: true,
      value: { create_fx_conversion: { ...body, idempotency_key: key } },
    })
  }
  for (const key of [undefined, '', 'k'.repeat(256), REPEATED] as const) {
    t.match(conversion(body, keyed(key)), INVALID, `the key ${String(key)}`)
  }
  refusesEach(
    t,
    conversion,
    [undefined, {}, '{', { quote_id: '' }, { quote_id: 1 }, { ...body, amount: '1' }],
    keyed('k'),
  )
})
