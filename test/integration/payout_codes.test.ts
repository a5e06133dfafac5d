/**
 * Every error code of payouts and funding on a real stack, and the guarantees of
 * `POST /v1/payouts` under concurrent requests.
 */
import t, { type Test } from 'tap'
import type { PartnerCreated__Output as PartnerCreated } from '../../protos/types/causeway/operator/v1/PartnerCreated.js'
import type { RouteList__Output as RouteList } from '../../protos/types/causeway/operator/v1/RouteList.js'
import type { PAYOUT_ERRORS } from '../../src/base/errors.js'
import { ERRORS, type ErrorCode } from '../../src/base/errors.js'
import { assertCleanAudit } from '../support/audit.js'
import { operatorAccessOf } from '../support/callers.js'
import { eventually } from '../support/eventually.js'
import { partnerOf, withKey, type HttpAnswer, type Partner } from '../support/partner.js'
import { payOut, requestPayout, untilStatus } from '../support/payments.js'
import { aPayout, payeeOf } from '../support/requests.js'
import { acceptedAnswer, callsTo } from '../support/rpc_calls.js'
import { startStack } from '../support/stack.js'

const stack = await startStack({ t, settings: { RAIL_DELAY_MS: '20' } })
const { partner: demo } = stack

const address = stack.sandbox.grpc_address
const asService = callsTo(t, address, stack.sandbox.internal_token)
const asOperator = callsTo(t, address, operatorAccessOf(stack).token())
const actor = { reason: 'a test' }
const DEMO = { partner_id: 'demo', environment: 'sandbox' }

const { beneficiary } = aPayout()
const UNKNOWN = '01M7Y8R76ZBRBZPA32270W80C3'

let keys = 0
const create = (by: Partner, given: object = {}, key = `key ${++keys}`): Promise<HttpAnswer> =>
  requestPayout(by, key, given)
const post = (path: string, body?: object, key?: string): Promise<HttpAnswer> =>
  demo.request('POST', path, body, key === undefined ? {} : withKey(key))

const inUsd = { ...beneficiary, destination_country: 'US', currency: 'USD' }
const completed = await payOut(demo, 'the completed one')
await untilStatus(demo, `/v1/payouts/${completed}`, 'completed')

type Code = keyof typeof PAYOUT_ERRORS | 'invalid_request' | 'idempotency_conflict'
/** A new code of the registry without a case here does not compile. */
const CASES: Readonly<Record<Code, () => Promise<HttpAnswer>>> = {
  invalid_request: () => create(demo, { amount: '125000.00' }),
  invalid_beneficiary: () => create(demo, { beneficiary: payeeOf('1') }),
  beneficiary_not_found: () => demo.request('GET', `/v1/beneficiaries/ben_${UNKNOWN}`),
  unsupported_currency: () => create(demo, { currency: 'THB' }),
  unsupported_destination: () => create(demo, { currency: 'USD', beneficiary: inUsd }),
  payout_limit_exceeded: () => create(demo, { amount: '9223372036854775807' }),
  insufficient_balance: () => create(demo, { amount: '9000000000000000000' }),
  duplicate_payout: () => create(demo, { reference: 'another' }, 'the completed one'),
  compliance_rejected: () => create(demo, { reference: 'sandbox:compliance' }),
  risk_rejected: () => create(demo, { reference: 'sandbox:risk' }),
  rail_unavailable: () => create(demo, { reference: 'sandbox:rail_unavailable' }),
  payout_not_found: () => demo.request('GET', `/v1/payouts/pout_${UNKNOWN}`),
  payout_not_cancelable: () => post(`/v1/payouts/${completed}/cancel`),
  outcome_not_possible: () =>
    post(`/v1/sandbox/payouts/${completed}/simulate`, { outcome: 'failed' }),
  fx_quote_not_found: () => post('/v1/fx/conversions', { quote_id: `fxq_${UNKNOWN}` }, 'fx'),
  balance_limit_exceeded: () =>
    post('/v1/funding/deposits', { currency: 'VND', amount: '9223372036854775807' }),
  idempotency_conflict: async () => {
    await post('/v1/funding/deposits', { currency: 'JPY', amount: '1' }, 'deposit')
    return post('/v1/funding/deposits', { currency: 'JPY', amount: '2' }, 'deposit')
  },
}

/** Codes whose message names the field and the rule in the sandbox. */
const NAMES_ITS_FIELD: readonly string[] = ['invalid_request', 'invalid_beneficiary']

/** Asserts the status of the registry and the exact envelope. */
function assertRefusal(t: Test, answer: HttpAnswer, code: ErrorCode): void {
  const { http, message: general } = ERRORS[code]
  const message = NAMES_ITS_FIELD.includes(code) ? /^[a-z_.]+: must be / : general
  const request_id = answer.headers['x-request-id']
  t.match([answer.status, answer.body], [http, { error: { code, message, request_id } }], code)
}

t.test('every code of the registry is returned and changes nothing', async (t) => {
  const books = async (): Promise<string[]> => [
    (await demo.request('GET', '/v1/payouts')).text,
    (await demo.request('GET', '/v1/beneficiaries')).text,
    (await demo.request('GET', '/v1/balances')).text,
  ]
  await CASES.idempotency_conflict()
  const before = await books()
  for (const code of Object.keys(CASES) as Code[]) assertRefusal(t, await CASES[code](), code)
  t.same(await books(), before)
})

t.test('a suspended partner cannot create payouts', async (t) => {
  await acceptedAnswer(asOperator('PartnerAdmin/Suspend', { actor, partner_id: 'demo' }))
  assertRefusal(t, await create(demo), 'partner_suspended')
  const path = `/v1/payouts/${completed}`
  t.equal((await demo.request('GET', path)).status, 200, 'reads are allowed')
  await acceptedAnswer(asOperator('PartnerAdmin/Resume', { actor, partner_id: 'demo' }))
  t.equal((await create(demo)).status, 202)
})

t.test('over gRPC the code is in the status and the trailer', async (t) => {
  const payout = aPayout({ idempotency_key: 'over gRPC', amount: '125000' })
  const pay = (given: object = {}) =>
    asService<{ id: string }>('Payouts/Create', { tenant: DEMO, payout: { ...payout, ...given } })
  const made = await acceptedAnswer(pay())
  t.same(await pay(), made, 'the same key replays the answer')
  t.match(await asService('Payouts/Get', { tenant: DEMO, payout_id: made.id }), {
    ...{ id: made.id, amount: '125000', beneficiary: { account_last4: '6789' } },
  })
  t.match(await asService('Payouts/List', { tenant: DEMO, list: { limit: 1 } }), {
    data: [{ id: made.id }],
  })
  const balances = asService<{ data: { currency: string }[] }>('Payouts/Balances', { tenant: DEMO })
  t.ok((await acceptedAnswer(balances)).data.some(({ currency }) => currency === 'VND'))

  const long = (length: number): string => '🙂'.repeat(length)
  const pairs = Array.from({ length: 51 }, (_, i) => [`k${i}`, ''] as const)
  const faults: readonly (readonly [object, ErrorCode])[] = [
    [{ amount: '-1' }, 'invalid_request'],
    [{ reference: '  ' }, 'invalid_request'],
    [{ reference: long(256) }, 'invalid_request'],
    [{ description: long(501) }, 'invalid_request'],
    [{ metadata: { [long(101)]: '' } }, 'invalid_request'],
    [{ metadata: { k: long(501) } }, 'invalid_request'],
    [{ metadata: Object.fromEntries(pairs) }, 'invalid_request'],
    [{ idempotency_key: long(256) }, 'invalid_request'],
    [{ beneficiary_id: `ben_${UNKNOWN}` }, 'invalid_request'],
    [{ beneficiary: { ...beneficiary, bank_code: ' ' } }, 'invalid_beneficiary'],
    [{ reference: 'sandbox:risk' }, 'risk_rejected'],
    [{ idempotency_key: 'over gRPC', amount: '1' }, 'duplicate_payout'],
    [{ amount: '9000000000000000000' }, 'insufficient_balance'],
  ]
  for (const [fault, code] of faults) {
    const refused = await pay({ idempotency_key: `fault ${++keys}`, ...fault })
    t.equal(refused.status, ERRORS[code].grpc, JSON.stringify(fault).slice(0, 60))
    t.equal(refused.code, code)
    t.match(refused.details, code)
  }
  const bounds = { reference: ` ${long(255)} `, description: long(500), metadata: { k: long(500) } }
  const most = { ...bounds, idempotency_key: 'k'.repeat(255) }
  t.match(await pay(most), { reference: long(255) })
  const unnamed = await asService('Payouts/Get', { payout_id: made.id })
  t.equal(unnamed.status, 'INVALID_ARGUMENT')
})

t.test('of concurrent equal requests one is new and the others replay its bytes', async (t) => {
  const body = { description: 'once' }
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(demo, body, 'twins')))
  const replayed = answers.map(({ headers }) => headers['idempotent-replayed']).sort()
  t.same(replayed, ['false', ...Array.from({ length: 19 }, () => 'true')])
  for (const answer of answers) {
    const isReplay = answer.headers['idempotent-replayed'] === 'true'
    t.equal(answer.status, isReplay ? 200 : 202)
    t.equal(answer.text, answers[0]!.text)
  }
})

t.test('a replay is the first answer although the route has changed', async (t) => {
  const first = await create(demo, {}, 'kept')
  const { id } = first.body as { id: string }
  await untilStatus(demo, `/v1/payouts/${id}`, 'completed')
  const { data } = await acceptedAnswer(asOperator<RouteList>('Operator/ListRoutes'))
  const vietnam = data.find(({ country }) => country === 'VN')!
  const route = { ...vietnam, rail_fixed: '9', handling: 'deducted', amount_max: '10' }
  await acceptedAnswer(asOperator('Operator/SetRoute', { actor, route }))
  t.equal((await create(demo)).status, 422, 'a new payout is rejected')
  const again = await create(demo, {}, 'kept')
  t.same([again.status, again.headers['idempotent-replayed']], [200, 'true'])
  t.equal(again.text, first.text)
  await acceptedAnswer(asOperator('Operator/SetRoute', { actor, route: vietnam }))
})

t.test('of 200 concurrent payouts the balance pays as many as it covers', async (t) => {
  const given = { actor, partner_id: 'drained', no_funds: true }
  const made = await acceptedAnswer(asOperator<PartnerCreated>('Operator/CreatePartner', given))
  const { key_id: keyId = '', secret = '' } = made.sandbox_key ?? {}
  const drained = partnerOf(stack.sandbox, { keyId, secret })
  const tenant = { partner_id: 'drained', environment: 'sandbox' }
  const TOTAL = 133_550n // 125,000; 5,000 + 20 bps for the platform, 3,300 for the rail
  const COVERED = 73n
  const amount = (COVERED * TOTAL + TOTAL - 1n).toString()
  const deposit = { actor, tenant, currency: 'VND', amount, idempotency_key: 'd' }
  await acceptedAnswer(asOperator('Operator/Deposit', deposit))
  await eventually(
    'the gateway has the key',
    async () => (await drained.request('GET', '/v1/balances')).status === 200,
  )
  const stuck = { beneficiary: payeeOf('9990000008') }
  const answers = await Promise.all(Array.from({ length: 200 }, () => create(drained, stuck)))
  const accepted = answers.filter(({ status }) => status === 202)
  t.equal(accepted.length, Number(COVERED))
  t.match(accepted[0]?.body, { total: TOTAL.toString() })
  for (const refused of answers.filter(({ status }) => status !== 202)) {
    assertRefusal(t, refused, 'insufficient_balance')
  }
  const { body } = await drained.request('GET', '/v1/balances')
  t.same(body, {
    data: [
      {
        currency: 'VND',
        available: (TOTAL - 1n).toString(),
        reserved: (COVERED * TOTAL).toString(),
      },
    ],
  })
})

t.test('the audit finds no violation', (t) => assertCleanAudit(t, stack.dataDir))

t.test('without a processor requests get 503', async (t) => {
  stack.kill('processor')
  assertRefusal(t, await create(demo), 'configuration_error')
  t.ok(
    await eventually(
      'the processor serves again',
      async () => (await create(demo)).status === 202,
      30_000,
    ),
  )
})
