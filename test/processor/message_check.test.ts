/**
 * Messages of internal services break the rules of the partner API's requests: each fault has the
 * same field and rule on both fronts.
 */
import t from 'tap'
import type { OperationName } from '../../src/api/operation.js'
import { OPERATIONS } from '../../src/api/operations.js'
import { messageFault } from '../../src/processor/servers/message_check.js'
import { decodeOf } from '../gateway/decoding.js'
import { aPayout, anIntent } from '../support/requests.js'

const SINCE_1970 = { ms: '1700000000000', text: '2023-11-14T22:13:20.000Z' }
const BEFORE = '1699999999999'

/** As HTTP and as gRPC send it. Absent means both alike. */
interface Sent {
  readonly json?: object
  readonly message?: object
  readonly key?: string
  /** Lists have one. */
  readonly query?: string
}

const { kyc_attestation, sanctions_attestation, ...bare } = anIntent()
const intent = { ...bare, kyc_attestation, sanctions_attestation }
const { idempotency_key: _, beneficiary_id: __, ...payout } = aPayout()
const beneficiary = payout.beneficiary!
const inDong = { ...beneficiary, currency: 'vnd' }
const intentWith = (over: object): Sent => ({ json: { ...intent, ...over } })
const payoutWith = (over: object, key = 'k'): Sent => ({ json: { ...payout, ...over }, key })
const queryWith = (query: string, message: object): Sent => ({ query, message })

const CASES: readonly (readonly [name: OperationName, pointer: string, sent: Sent])[] = [
  ['create_intent', '/partner_user_id', intentWith({ partner_user_id: '' })],
  ['create_intent', '/amount_usd_cents', intentWith({ amount_usd_cents: 0 })],
  ['create_intent', '/amount_usd_cents', intentWith({ amount_usd_cents: 100_000_001 })],
  ['create_intent', '/corridor', intentWith({ corridor: 'us_ach' })],
  [
    'create_intent',
    '/kyc_attestation/verified_at',
    intentWith({ kyc_attestation: { ...kyc_attestation, verified_at: 'today' } }),
  ],
  ['create_intent', 'header/Idempotency-Key', { json: intent, key: 'k'.repeat(257) }],
  ['create_payout', '/reference', payoutWith({ reference: ' ' })],
  ['create_payout', 'header/Idempotency-Key', payoutWith({}, 'k'.repeat(256))],
  ['create_payout', '/description', payoutWith({ description: 'd'.repeat(501) })],
  ['create_payout', '/metadata', payoutWith({ metadata: { '\\': 'x' } })],
  [
    'create_payout',
    '/beneficiary/account_number',
    payoutWith({ beneficiary: { ...beneficiary, account_number: '12' } }),
  ],
  ['create_beneficiary', '/currency', { json: inDong, message: { beneficiary: inDong } }],
  [
    'update_webhook_endpoint',
    '/enabled_events/0',
    {
      json: { enabled_events: ['payout.paid'] },
      message: { enabled_events: { types: ['payout.paid'] } },
    },
  ],
  [
    'recover_webhook_endpoint',
    '/since',
    { json: { since: '1969-12-31T23:59:59Z' }, message: { since: '-1' } },
  ],
  [
    'rotate_webhook_secret',
    '/activate_at',
    { json: { activate_at: '1969-12-31T23:59:59Z' }, message: { activate_at: '-1' } },
  ],
  ['list_payouts', '/limit', queryWith('limit=101', { limit: 101 })],
  ['list_payouts', '/status', queryWith('status=held', { status: 'held' })],
  ['list_payouts', '/reference', tooLong('reference', 256)],
  ['list_payouts', '/beneficiary_id', tooLong('beneficiary_id', 129)],
  [
    'list_payouts',
    '/created_before',
    queryWith(`created_after=${SINCE_1970.text}&created_before=${SINCE_1970.text}`, {
      created_after: SINCE_1970.ms,
      created_before: BEFORE,
    }),
  ],
  ['list_intents', '/corridor', queryWith('corridor=us_ach', { corridor: 'us_ach' })],
  ['list_intents', '/partner_user_id', tooLong('partner_user_id', 257)],
]

function tooLong(member: string, length: number): Sent {
  const text = 'x'.repeat(length)
  return queryWith(`${member}=${text}`, { [member]: text })
}

for (const [name, pointer, { json = {}, message = json, key, query = '' }] of CASES) {
  t.test(`${name}: ${pointer}`, async (t) => {
    const { method, path } = OPERATIONS[name]
    const keyed = key === undefined ? {} : { idempotency_key: key }
    const inMessage = messageFault(name, { ...message, ...keyed })
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const body = method === 'GET' ? undefined : json
    const inRequest = decodeOf(method, path)(body, headers, query)
    t.match(inMessage, { violation: { pointer } })
    t.match(inRequest, { ok: false, code: inMessage?.code })
    if (inRequest.ok) return
    const { pointer: found, rule } = inRequest.violation ?? {}
    const prefix = query === '' ? '' : 'query'
    const expected = prefix + inMessage?.violation?.pointer
    t.same({ pointer: found, rule }, { ...inMessage?.violation, pointer: expected })
  })
}

t.test('valid messages pass', async (t) => {
  t.equal(messageFault('create_intent', intent), null)
  t.equal(messageFault('create_payout', { ...payout, idempotency_key: 'k' }), null)
  t.equal(messageFault('list_events', { after: '5', limit: 100 }), null)
  t.equal(messageFault('recover_webhook_endpoint', { since: '0' }), null)
})
