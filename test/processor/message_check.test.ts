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

interface Case {
  readonly name: OperationName
  /** As HTTP and as gRPC send it. Absent means both alike. */
  readonly json: object
  readonly message?: object
  readonly key?: string
  /** A query, for lists. */
  readonly query?: string
  readonly pointer: string
}

const { kyc_attestation, sanctions_attestation, ...bare } = anIntent()
const intent = { ...bare, kyc_attestation, sanctions_attestation }
const { idempotency_key: _, beneficiary_id: __, ...payout } = aPayout()
const beneficiary = {
  type: 'bank_account',
  name: 'Nguyen Van A',
  destination_country: 'VN',
  currency: 'VND',
  account_number: '0123456789',
  bank_code: 'VCB',
}
const inline = { ...payout, metadata: {}, beneficiary }
const list = (query: string, message: object, pointer: string): Case => ({
  ...{ name: 'list_payouts', json: {}, query, message, pointer },
})
const onIntents = (query: string, message: object, pointer: string): Case => ({
  ...list(query, message, pointer),
  name: 'list_intents',
})

const CASES: readonly Case[] = [
  { name: 'create_intent', json: { ...intent, partner_user_id: '' }, pointer: '/partner_user_id' },
  { name: 'create_intent', json: { ...intent, amount_usd_cents: 0 }, pointer: '/amount_usd_cents' },
  {
    name: 'create_intent',
    json: { ...intent, amount_usd_cents: 100_000_001 },
    pointer: '/amount_usd_cents',
  },
  { name: 'create_intent', json: { ...intent, corridor: 'us_ach' }, pointer: '/corridor' },
  {
    name: 'create_intent',
    json: { ...intent, kyc_attestation: { ...kyc_attestation, verified_at: 'today' } },
    pointer: '/kyc_attestation/verified_at',
  },
  { name: 'create_intent', json: intent, key: 'k'.repeat(257), pointer: 'header/Idempotency-Key' },
  {
    name: 'create_payout',
    json: { ...inline, reference: ' ' },
    key: 'k',
    pointer: '/reference',
  },
  { name: 'create_payout', json: inline, key: 'k'.repeat(256), pointer: 'header/Idempotency-Key' },
  {
    name: 'create_payout',
    json: { ...inline, description: 'd'.repeat(501) },
    key: 'k',
    pointer: '/description',
  },
  {
    name: 'create_payout',
    json: { ...inline, metadata: { '\\': 'x' } },
    key: 'k',
    pointer: '/metadata',
  },
  {
    name: 'create_payout',
    json: { ...inline, beneficiary: { ...beneficiary, account_number: '12' } },
    key: 'k',
    pointer: '/beneficiary/account_number',
  },
  {
    name: 'create_beneficiary',
    json: { ...beneficiary, currency: 'vnd' },
    message: { beneficiary: { ...beneficiary, currency: 'vnd' } },
    pointer: '/currency',
  },
  {
    name: 'update_webhook_endpoint',
    json: { enabled_events: ['payout.paid'] },
    message: { enabled_events: { types: ['payout.paid'] } },
    pointer: '/enabled_events/0',
  },
  {
    name: 'recover_webhook_endpoint',
    json: { since: '1969-12-31T23:59:59Z' },
    message: { since: '-1' },
    pointer: '/since',
  },
  {
    name: 'rotate_webhook_secret',
    json: { activate_at: '1969-12-31T23:59:59Z' },
    message: { activate_at: '-1' },
    pointer: '/activate_at',
  },
  list('limit=101', { limit: 101 }, '/limit'),
  list('status=held', { status: 'held' }, '/status'),
  list(`reference=${'r'.repeat(256)}`, { reference: 'r'.repeat(256) }, '/reference'),
  list(`beneficiary_id=${'b'.repeat(129)}`, { beneficiary_id: 'b'.repeat(129) }, '/beneficiary_id'),
  list(
    `created_after=${SINCE_1970.text}&created_before=${SINCE_1970.text}`,
    { created_after: SINCE_1970.ms, created_before: BEFORE },
    '/created_before',
  ),
  onIntents('corridor=us_ach', { corridor: 'us_ach' }, '/corridor'),
  onIntents(
    `partner_user_id=${'u'.repeat(257)}`,
    { partner_user_id: 'u'.repeat(257) },
    '/partner_user_id',
  ),
]

for (const { name, json, message = json, key, query = '', pointer } of CASES) {
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
    const found = inRequest.violation
    const prefix = query === '' ? '' : 'query'
    t.same(
      { pointer: found?.pointer, rule: found?.rule },
      { ...inMessage?.violation, pointer: prefix + inMessage?.violation?.pointer },
    )
  })
}

t.test('valid messages pass', async (t) => {
  t.equal(messageFault('create_intent', intent), null)
  t.equal(messageFault('create_payout', { ...inline, idempotency_key: 'k' }), null)
  t.equal(messageFault('list_events', { after: '5', limit: 100 }), null)
  t.equal(messageFault('recover_webhook_endpoint', { since: '0' }), null)
})
