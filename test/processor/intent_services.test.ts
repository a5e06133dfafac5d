/**
 * Intent operations of internal services and operators, as unary calls to a real server: each
 * answer, and each refusal with its status and code.
 */
import t, { type Test } from 'tap'
import { Metadata, type status } from '@grpc/grpc-js'
import { bearer } from '../../src/grpc/bearer.js'
import { withEveryRole } from '../support/callers.js'
import { anIntent } from '../support/requests.js'
import { callsTo, type RpcCall } from '../support/rpc_calls.js'
import { serveShard } from '../support/served_shard.js'
import { createWorld, type World } from '../support/world.js'
import { authorized, beginLifecycle, captured, intentAt } from './intent_lifecycle.js'
import { OPERATOR } from './scenarios.js'

const TOKEN = 'it_test'
const tenant = { partner_id: 'demo', environment: 'sandbox' }
const EVIDENCE = 'line 12'

/** The calls of a world, all with the same token. */
async function openServers(t: Test): Promise<{ world: World; call: RpcCall }> {
  const world = await createWorld(t)
  const callers = withEveryRole(TOKEN, OPERATOR.name)
  const { address } = await serveShard(t, { world, callers })
  return { world, call: callsTo(t, address, TOKEN) }
}

const refusal = (name: keyof typeof status, code: string): object => ({
  status: name,
  code,
  details: new RegExp(`^${code}: .`),
})
const INVALID = refusal('INVALID_ARGUMENT', 'invalid_request')
const NOT_FOUND = refusal('NOT_FOUND', 'payment_intent_not_found')
const CONFLICT = refusal('ALREADY_EXISTS', 'idempotency_conflict')

const UNKNOWN = 'pi_00000000000000000000000000'

t.test('create', async (t) => {
  const { call } = await openServers(t)
  const create = (over: object = {}, of: object = tenant): Promise<object> =>
    call('PaymentIntents/Create', { tenant: of, intent: { ...anIntent(), ...over } })
  const created = await create({ idempotency_key: 'k' })
  t.match(created, {
    intent_id: /^pi_/,
    status: 'created',
    amount_usd_cents: 5_000,
    corridor: 'th_promptpay',
    created_at: /Z$/,
    session_token: /^ey/,
    session_expires_at: /^[0-9]{10}$/,
  })
  t.same(await create({ idempotency_key: 'k' }), created, 'the same call repeated')
  t.match(await create({ idempotency_key: 'k', amount_usd_cents: 1 }), CONFLICT)

  const { kyc_attestation: kyc, sanctions_attestation: sanctions } = anIntent()
  const unsatisfied = refusal('PERMISSION_DENIED', 'attestation_not_satisfied')
  for (const [what, over, expected] of [
    ['not verified', { kyc_attestation: { ...kyc, verified: false } }, unsatisfied],
    ['not clean', { sanctions_attestation: { ...sanctions, clean: false } }, unsatisfied],
    ['nothing attested', { kyc_attestation: null }, INVALID],
    ['no amount', { amount_usd_cents: 0 }, INVALID],
    ['an amount too high', { amount_usd_cents: 100_000_001 }, INVALID],
    ['no such corridor', { corridor: 'sg_paynow' }, INVALID],
    ['no user', { partner_user_id: '' }, INVALID],
    ['a user of 257 characters', { partner_user_id: '😀'.repeat(257) }, INVALID],
    ['an empty key', { idempotency_key: '' }, INVALID],
    ['a key that no header can carry', { idempotency_key: '😀' }, INVALID],
    ['a key of 257 characters', { idempotency_key: 'k'.repeat(257) }, INVALID],
  ] as const) {
    t.match(await create(over), expected, what)
  }
  t.match(await create({ partner_user_id: '😀'.repeat(256) }), { status: 'created' })
  t.match(await create({}, { ...tenant, partner_id: 'nobody' }), INVALID)
  t.match(await create({}, { ...tenant, environment: 'moon' }), INVALID)
  t.match(await call('PaymentIntents/Create', { tenant }), INVALID)
})

t.test('create refuses attestations that the gateway would refuse', async (t) => {
  const { world, call } = await openServers(t)
  const { kyc_attestation: kyc, sanctions_attestation: sanctions } = anIntent()
  const create = (over: object): Promise<object> =>
    call('PaymentIntents/Create', { tenant, intent: { ...anIntent(), ...over } })
  const before = world.memory().intents.size
  for (const [what, over] of [
    ['no method', { kyc_attestation: { ...kyc, method: '' } }],
    ['no time', { kyc_attestation: { ...kyc, verified_at: 'x' } }],
    ['an empty time', { kyc_attestation: { ...kyc, verified_at: '' } }],
    [
      'a day that does not exist',
      { kyc_attestation: { ...kyc, verified_at: '2026-02-30T00:00:00Z' } },
    ],
    ['no offset', { kyc_attestation: { ...kyc, verified_at: '2026-02-03T00:00:00' } }],
    ['a country of one letter', { kyc_attestation: { ...kyc, id_country: 'T' } }],
    ['an empty country', { kyc_attestation: { ...kyc, id_country: '' } }],
    ['never screened', { sanctions_attestation: { ...sanctions, screened_at: '' } }],
    [
      'an unknown screening method',
      { sanctions_attestation: { ...sanctions, screened_at: 'yesterday' } },
    ],
    ['a malformed one that is false', { kyc_attestation: { ...kyc, verified: false, method: '' } }],
  ] as const) {
    t.match(await create({ ...over, idempotency_key: what }), INVALID, what)
    t.match(await create({ idempotency_key: what }), { status: 'created' }, 'no key is bound')
  }
  t.equal(world.memory().intents.size - before, 10, 'nothing is stored')
  const all = { ...kyc, id_type: 'passport', id_country: 'tha', verified_at: '2026-02-03T00:00Z' }
  t.match(await create({ kyc_attestation: all }), { status: 'created' })
})

t.test('every call refuses NUL and lone surrogates in texts', async (t) => {
  const { world, call } = await openServers(t)
  const create = (over: object): Promise<object> =>
    call('PaymentIntents/Create', { tenant, intent: { ...anIntent(), ...over } })
  const { kyc_attestation: kyc } = anIntent()
  const log = (): Promise<number> =>
    world.store.lists
      .actions({ from: 0, below: Number.MAX_SAFE_INTEGER, equal: {} }, 1_000)
      .then(({ length }) => length)
  const before = [world.memory().intents.size, await log()]
  for (const bad of ['\0', '\ud800', 'a\udfffb', '\udc00\ud800']) {
    const partner = { partner_id: 'newcomer', no_funds: true }
    const found = { actor: OPERATOR, intent_id: UNKNOWN, outcome: 'failed', evidence: bad }
    for (const answer of [
      await create({ partner_user_id: `user${bad}` }),
      await create({ idempotency_key: bad }),
      await create({ kyc_attestation: { ...kyc, method: bad } }),
      await create({ kyc_attestation: { ...kyc, id_type: bad } }),
      await call('Operator/CreatePartner', { ...partner, actor: { name: 'ann', reason: bad } }),
      await call('Operator/CreatePartner', { ...partner, actor: { name: bad, reason: 'why' } }),
      await call('Operator/ResolveIntent', found),
      await call('PaymentIntents/Get', { tenant, intent_id: bad }),
    ])
      t.match(answer, INVALID)
  }
  t.same([world.memory().intents.size, await log()], before, 'nothing is stored')
  const unusual = { partner_user_id: 'ü😀\ufffd', idempotency_key: '~!' }
  t.match(await create(unusual), { status: 'created' })
})

t.test('services get, cancel and refund intents', async (t) => {
  const { world, call } = await openServers(t)
  const get = (intent_id: string, of = tenant): Promise<object> =>
    call('PaymentIntents/Get', { tenant: of, intent_id })
  const cancel = (intent_id: string, of = tenant): Promise<object> =>
    call('PaymentIntents/Cancel', { tenant: of, intent_id })
  const refund = (intent_id: string, key?: string): Promise<object> =>
    call('PaymentIntents/Refund', {
      tenant,
      refund: { intent_id, ...(key === undefined ? {} : { idempotency_key: key }) },
    })

  const paid = await intentAt(world, captured)
  t.match(await get(paid.id), {
    intent_id: paid.id,
    status: 'captured',
    captured_at: /Z$/,
    captured_amount_usd_cents: 1_000,
    quote: { amount_usd_cents: 1_000, local_amount_minor_units: '36000', local_currency: '764' },
  })
  const production = { ...tenant, environment: 'production' }
  t.match(await get(paid.id, production), NOT_FOUND, 'an intent of the other environment')
  t.match(await get(UNKNOWN), NOT_FOUND)

  const fresh = await beginLifecycle(world)
  t.match(await cancel(fresh.id, production), NOT_FOUND)
  t.match(await cancel(fresh.id), { status: 'cancelled', cancelled_at: /Z$/ })
  const uncancelable = refusal('FAILED_PRECONDITION', 'payment_intent_not_cancelable')
  t.match(await cancel(fresh.id), uncancelable)
  t.match(await cancel(paid.id), uncancelable)

  t.match(await refund(fresh.id), refusal('FAILED_PRECONDITION', 'payment_intent_not_refundable'))
  const requested = { status: 'captured', refund: { status: 'requested' } }
  t.match(await refund(paid.id, 'r'), requested)
  t.match(await refund(paid.id, 'r'), requested, 'the same call repeated')
  t.match(await refund((await intentAt(world, captured)).id, 'r'), CONFLICT)
  t.match(await refund(UNKNOWN), NOT_FOUND)
  t.match(await refund(paid.id, ''), INVALID)
  await paid.returned()
  t.match(await get(paid.id), { status: 'refunded', refund: { status: 'done' } })
})

t.test("services list a user's intents", async (t) => {
  const { world, call } = await openServers(t)
  const list = (over: object = {}): Promise<object> =>
    call('PaymentIntents/ListByUser', { tenant, partner_user_id: 'ann', ...over })
  t.same(await list(), { data: [] })
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.unshift((await beginLifecycle(world, { user: 'ann' })).id)
  const page = (await list({ limit: 2 })) as { next_cursor: string; data: object[] }
  t.match(page.data, [{ intent_id: ids[0] }, { intent_id: ids[1] }])
  const rest = await list({ cursor: page.next_cursor })
  t.match(rest, { data: [{ intent_id: ids[2], status: 'created', amount_usd_cents: 100_000_000 }] })
  t.notOk('next_cursor' in rest, 'the list is complete')
  t.match(await list({ partner_user_id: 'bob', cursor: page.next_cursor }), INVALID)
  t.match(await list({ partner_user_id: '' }), INVALID)
  t.match(await list({ limit: 101 }), INVALID)
  t.match(await list({ tenant: { ...tenant, partner_id: 'nobody' } }), INVALID)
})

t.test('operators list unknown outcomes, show an intent and resolve it', async (t) => {
  const { world, call } = await openServers(t)
  const lifecycle = await intentAt(world, authorized)
  world.clock.pass(5_000)
  t.match(await call('Operator/ListUnknownOutcomes'), {
    data: [{ entity: lifecycle.id, tenant: 'demo_sandbox', currency: 'THB', amount: '36000' }],
  })
  t.match(await call('Operator/ListUnknownOutcomes', { limit: 0 }), INVALID)

  const decision = { actor: OPERATOR, intent_id: lifecycle.id, evidence: EVIDENCE }
  const resolve = (over: object = {}): Promise<object> =>
    call('Operator/ResolveIntent', { ...decision, outcome: 'captured', ...over })
  t.match(await resolve({ actor: { ...OPERATOR, reason: ' ' } }), INVALID, 'without a reason')
  t.match(await resolve({ evidence: '' }), INVALID)
  t.match(await resolve({ intent_id: UNKNOWN }), NOT_FOUND)
  t.match(await resolve(), { intent_id: lifecycle.id, status: 'captured' })
  t.match(await resolve(), refusal('FAILED_PRECONDITION', 'payment_intent_not_at_rail'))

  const reverse = (over: object = {}): Promise<object> =>
    call('Operator/ReverseIntent', { ...decision, ...over })
  t.match(await reverse({ actor: { ...OPERATOR, reason: ' ' } }), INVALID, 'without a reason')
  t.match(await reverse({ intent_id: UNKNOWN }), NOT_FOUND)
  t.match(await reverse(), {
    intent_id: lifecycle.id,
    status: 'refunded',
    refund: { status: 'done' },
  })
  t.match(await reverse(), refusal('FAILED_PRECONDITION', 'payment_intent_not_captured'))

  const record = await call<{ timeline: { kind: string; text: string }[] }>('Operator/ShowIntent', {
    intent_id: lifecycle.id,
  })
  t.match(record, { tenant: 'demo_sandbox', partner_user_id: lifecycle.user, submitted_at: /Z$/ })
  const text = `resolve_intent_captured by ann: a test (${EVIDENCE})`
  t.ok(record.timeline.some((moment) => moment.kind === 'action' && moment.text === text))
  t.match(await call('Operator/ShowIntent', { intent_id: UNKNOWN }), NOT_FOUND)
})

t.test('without the token', async (t) => {
  const { call } = await openServers(t)
  const refused = refusal('UNAUTHENTICATED', 'authentication_failed')
  const none = new Metadata()
  for (const [rpc, request, credentials] of [
    ['PaymentIntents/Get', { tenant, intent_id: UNKNOWN }, none],
    ['PaymentIntents/ListByUser', { tenant, partner_user_id: 'a' }, none],
    ['Operator/ShowIntent', { intent_id: UNKNOWN }, bearer('it_other')],
    ['Operator/ShowPayout', { payout_id: 'pout_x' }, none],
    ['Operator/ListUnknownOutcomes', {}, none],
    ['Operator/ResolveIntent', {}, none],
    ['Operator/ReverseIntent', {}, none],
  ] as const)
    t.match(await call(rpc, request, credentials), refused, rpc)
})
