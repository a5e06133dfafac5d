/** The document breaks no client of the last release (test/golden/openapi.json). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { projectRoot } from '../../src/base/project_root.js'
import { readDocument } from '../support/documented_answers.js'
import { breakingChanges } from './breaking_changes.js'

type Document = Record<string, unknown>
const current = (): Document => structuredClone(readDocument()) as unknown as Document

/** What the released service refused already, and its document did not say. */
const SAID_LATER = [
  ...['the pattern is another one', 'minLength rose', 'maxLength fell'].map(
    (change) => `POST /v1/payouts body.reference: ${change}`,
  ),
  ...[
    'POST /v1/payment_intents body.kyc_attestation.verified_at',
    'POST /v1/payment_intents body.sanctions_attestation.screened_at',
    'GET /v1/payment_intents query created_after',
    'GET /v1/payment_intents query created_before',
    'POST /v1/payment_intents/{intent_id}/session body.kyc_attestation.verified_at',
    'POST /v1/payment_intents/{intent_id}/session body.sanctions_attestation.screened_at',
    'POST /v1/payment_intents/{intent_id}/scan body.local_amount_minor_units',
    'GET /v1/payouts query created_after',
    'GET /v1/payouts query created_before',
    'POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret body.activate_at',
    'POST /v1/webhook_endpoints/{endpoint_id}/recover body.since',
  ].map((where) => `${where}: the pattern is another one`),
]

t.test('the document has no breaking change since the last release', async (t) => {
  const released = readFileSync(join(projectRoot(), 'test/golden/openapi.json'), 'utf8')
  const changes = breakingChanges(JSON.parse(released) as Document, current())
  t.same(
    changes.filter((change) => !SAID_LATER.includes(change)),
    [],
  )
})

/** Sets the value at this where of the document; undefined removes it. */
function withChange(where: string, value: unknown): Document {
  const document = current()
  const names = where.split(' > ')
  const last = names.pop() ?? ''
  const parent = names.reduce((at, name) => at[name] as Document, document)
  if (value === undefined) Reflect.deleteProperty(parent, last)
  else parent[last] = value
  return document
}

const PAYOUTS = 'paths > /v1/payouts'
const CREATE = `${PAYOUTS} > post`
const REQUEST = 'components > schemas > CreatePayoutRequest'
const PAYOUT = 'components > schemas > Payout'
const NARROWED = `${CREATE} > responses > 422 > content > application/json > schema > allOf > 1`

const PAYOUT_EVENT = 'components > schemas > PayoutEvent'

const BREAKING: readonly (readonly [where: string, value: unknown, fault: RegExp])[] = [
  [PAYOUTS, undefined, /POST \/v1\/payouts: the operation is removed/],
  [`${PAYOUTS} > get`, undefined, /GET \/v1\/payouts: the operation is removed/],
  [`${CREATE} > operationId`, 'other', /operationId/],
  [`${CREATE} > security`, [{ sessionToken: [] }], /authentication is removed/],
  ['paths > /openapi.json > get > security', [{ sessionToken: [] }], /needs an authentication/],
  [`${CREATE} > parameters`, [], /parameter header Idempotency-Key is removed/],
  [`${PAYOUTS} > get > parameters > 0 > required`, true, /parameter query limit is required/],
  [`${PAYOUTS} > get > parameters > 0 > schema > maximum`, 50, /limit: maximum fell/],
  [`${CREATE} > responses > 202`, undefined, /status 202 is removed/],
  [`${CREATE} > responses > 201`, {}, /status 201 is a new success/],
  [`${CREATE} > responses > 202 > headers`, {}, /header X-Request-Id is removed/],
  [`${NARROWED} > properties > error > properties > code > enum`, [], /is no longer a 422/],
  [
    'paths > /v1/events/{event_id}/resend > post > requestBody > required',
    true,
    /body is required/,
  ],
  [`${REQUEST} > required`, ['amount', 'metadata'], /member metadata is required/],
  [`${REQUEST} > properties > metadata`, undefined, /member metadata is removed/],
  [`${REQUEST} > properties > amount > pattern`, '^1$', /pattern/],
  [`${REQUEST} > properties > amount > type`, 'integer', /type was string and is integer/],
  [`${REQUEST} > properties > description > maxLength`, 5, /maxLength fell/],
  [`${REQUEST} > properties > description > minLength`, 5, /minLength rose/],
  ['components > schemas > Corridor > enum', ['vn_vietqr'], /value th_promptpay is removed/],
  [`${PAYOUT} > properties > total`, undefined, /member total is removed/],
  [`${PAYOUT_EVENT} > properties > data > properties`, {}, /member payout is removed/],
  [`${PAYOUT_EVENT} > required`, ['id'], /member webhook_event_id can be absent/],
  [`${PAYOUT} > required`, [], /member id can be absent/],
  [`${PAYOUT} > properties > reference > type`, ['string', 'null'], /type was string and is/],
  ['components > schemas > Timestamp > format', 'date', /format/],
  ['webhooks > payout.failed', undefined, /payout.failed: the webhook is removed/],
]

t.test('each kind of breaking change is found', async (t) => {
  for (const [where, value, fault] of BREAKING) {
    const faults = breakingChanges(current(), withChange(where, value))
    t.ok(
      faults.some((one) => fault.test(one)),
      `${where}: ${faults.slice(0, 3).join('; ')}`,
    )
  }
})

t.test('additions are not breaking changes', async (t) => {
  const additions: readonly (readonly [where: string, value: unknown])[] = [
    ['paths > /v1/new', { get: { responses: {} } }],
    [`${PAYOUT} > properties > note`, { type: 'string' }],
    [`${REQUEST} > properties > note`, { type: 'string' }],
    [`${REQUEST} > properties > description > maxLength`, 5_000],
    ['components > schemas > PayoutStatus > enum > 5', 'returned'],
    ['webhooks > payout.new', {}],
    ['info > description', 'Other words.'],
  ]
  for (const [where, value] of additions) {
    t.same(breakingChanges(current(), withChange(where, value)), [], where)
  }
})
