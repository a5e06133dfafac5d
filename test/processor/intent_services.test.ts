/**
 * Intent operations of internal services and operators, as unary calls to a real server: each
 * answer, and each refusal with its status and code.
 */
import t, { type Test } from 'tap'
import { credentials, status, type ServiceError } from '@grpc/grpc-js'
import { contracts } from '../../src/grpc/contracts.js'
import { bearer } from '../../src/grpc/bearer.js'
import { createLog } from '../../src/base/log.js'
import { systemRandom } from '../../src/base/random.js'
import { createQueryRunner } from '../../src/processor/queries/query.js'
import { createServer } from '../../src/processor/server.js'
import { directoryService } from '../../src/processor/servers/directory_stream.js'
import type { OperatorClient } from '../../protos/types/causeway/operator/v1/Operator.js'
import type { PaymentIntentsClient } from '../../protos/types/causeway/v1/PaymentIntents.js'
import type { ProtoGrpcType as IntentsProto } from '../../protos/types/intents.js'
import type { ProtoGrpcType as OperatorProto } from '../../protos/types/operator.js'
import { withEveryRole } from '../support/callers.js'
import { anIntent } from '../support/requests.js'
import { createWorld, RULES, type World } from '../support/world.js'
import {
  authorized,
  beginLifecycle,
  captured,
  type Lifecycle,
  intentAt,
} from './intent_lifecycle.js'
import { OPERATOR } from './scenarios.js'

const TOKEN = 'it_test'
const TENANT = { partner_id: 'demo', environment: 'sandbox' }
const EVIDENCE = 'line 12'

interface Servers {
  readonly world: World
  readonly intents: PaymentIntentsClient
  readonly operator: OperatorClient
}

async function openServers(t: Test): Promise<Servers> {
  const world = await createWorld(t)
  const memory = world.memory()
  const log = createLog('test', { LOG_LEVEL: 'silent' })
  const server = createServer(
    {
      clock: world.clock,
      random: systemRandom(),
      memory,
      pipeline: { submit: ({ command, reply }) => void world.run(command).then(reply) },
      reader: createQueryRunner(
        { lists: world.store.lists, vault: world.vault, brand: RULES.brand },
        log,
      ),
    },
    withEveryRole(TOKEN, OPERATOR.name),
    directoryService(memory, world.vault),
  )
  const port = await server.bind('127.0.0.1:0')
  const { causeway } = contracts<IntentsProto & OperatorProto>()
  const { PaymentIntents } = causeway.v1
  const { Operator } = causeway.operator.v1
  const at = [`127.0.0.1:${port}`, credentials.createInsecure()] as const
  const [intents, operator] = [new PaymentIntents(...at), new Operator(...at)]
  t.teardown(async () => {
    intents.close()
    operator.close()
    await server.close()
  })
  return { world, intents, operator }
}

type Done = (error: ServiceError | null, answer?: object) => void

/** The answer of one unary call, or its refusal as the caller sees it. */
const call = (start: (done: Done) => unknown): Promise<object> =>
  new Promise((resolve) => {
    start((error, answer) => {
      if (error === null) return resolve(answer ?? {})
      const { code, details, metadata } = error
      resolve({ status: status[code], details, code: metadata.get('causeway-error')[0] })
    })
  })

const refusal = (name: keyof typeof status, code: string): object => ({
  status: name,
  code,
  details: new RegExp(`^${code}: .`),
})
const INVALID = refusal('INVALID_ARGUMENT', 'invalid_request')
const NOT_FOUND = refusal('NOT_FOUND', 'payment_intent_not_found')
const CONFLICT = refusal('ALREADY_EXISTS', 'idempotency_conflict')

const META = bearer(TOKEN)
const UNKNOWN = 'pi_00000000000000000000000000'

t.test('create', async (t) => {
  const { intents } = await openServers(t)
  const create = (over: object = {}, tenant: object | undefined = TENANT): Promise<object> =>
    call((done) =>
      intents.Create({ ...(tenant && { tenant }), intent: { ...anIntent(), ...over } }, META, done),
    )
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
  t.match(await create({}, { ...TENANT, partner_id: 'nobody' }), INVALID)
  t.match(await create({}, { ...TENANT, environment: 'moon' }), INVALID)
  t.match(await call((done) => intents.Create({ tenant: TENANT }, META, done)), INVALID)
})

t.test('create refuses attestations that the gateway would refuse', async (t) => {
  const { world, intents } = await openServers(t)
  const { kyc_attestation: kyc, sanctions_attestation: sanctions } = anIntent()
  const create = (over: object): Promise<object> =>
    call((done) =>
      intents.Create({ tenant: TENANT, intent: { ...anIntent(), ...over } }, META, done),
    )
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
  const { world, intents, operator } = await openServers(t)
  const { kyc_attestation: kyc } = anIntent()
  const log = (): Promise<number> =>
    world.store.lists
      .actions({ from: 0, below: Number.MAX_SAFE_INTEGER, equal: {} }, 1_000)
      .then(({ length }) => length)
  const before = [world.memory().intents.size, await log()]
  for (const bad of ['\0', '\ud800', 'a\udfffb', '\udc00\ud800']) {
    const create = (over: object): Promise<object> =>
      call((done) =>
        intents.Create({ tenant: TENANT, intent: { ...anIntent(), ...over } }, META, done),
      )
    t.match(await create({ partner_user_id: `user${bad}` }), INVALID)
    t.match(await create({ idempotency_key: bad }), INVALID)
    t.match(await create({ kyc_attestation: { ...kyc, method: bad } }), INVALID)
    t.match(await create({ kyc_attestation: { ...kyc, id_type: bad } }), INVALID)
    const reason = { name: 'ann', reason: bad }
    const name = { name: bad, reason: 'why' }
    for (const actor of [reason, name]) {
      const partner = { actor, partner_id: 'newcomer', no_funds: true }
      t.match(await call((done) => operator.CreatePartner(partner, META, done)), INVALID)
    }
    const found = { actor: OPERATOR, intent_id: UNKNOWN, outcome: 'failed', evidence: bad }
    t.match(await call((done) => operator.ResolveIntent(found, META, done)), INVALID)
    t.match(
      await call((done) => intents.Get({ tenant: TENANT, intent_id: bad }, META, done)),
      INVALID,
    )
  }
  t.same([world.memory().intents.size, await log()], before, 'nothing is stored')
  const unusual = { partner_user_id: 'ü😀\ufffd', idempotency_key: '~!' }
  const intent = { ...anIntent(), ...unusual }
  t.match(await call((done) => intents.Create({ tenant: TENANT, intent }, META, done)), {
    status: 'created',
  })
})

t.test('services get, cancel and refund intents', async (t) => {
  const { world, intents } = await openServers(t)
  const get = (intent_id: string, tenant = TENANT): Promise<object> =>
    call((done) => intents.Get({ tenant, intent_id }, META, done))
  const cancel = (intent_id: string, tenant = TENANT): Promise<object> =>
    call((done) => intents.Cancel({ tenant, intent_id }, META, done))
  const refund = (intent_id: string, idempotency_key?: string): Promise<object> =>
    call((done) =>
      intents.Refund(
        {
          tenant: TENANT,
          refund: { intent_id, ...(idempotency_key === undefined ? {} : { idempotency_key }) },
        },
        META,
        done,
      ),
    )
  const at = async (stage: (lifecycle: Lifecycle) => Promise<void>): Promise<Lifecycle> => {
    const lifecycle = await beginLifecycle(world)
    await stage(lifecycle)
    return lifecycle
  }

  const paid = await at(captured)
  t.match(await get(paid.id), {
    intent_id: paid.id,
    status: 'captured',
    captured_at: /Z$/,
    captured_amount_usd_cents: 1_000,
    quote: { amount_usd_cents: 1_000, local_amount_minor_units: '36000', local_currency: '764' },
  })
  const production = { ...TENANT, environment: 'production' }
  t.match(await get(paid.id, production), NOT_FOUND, 'an intent of the other environment')
  t.match(await get(UNKNOWN), NOT_FOUND)

  const fresh = await at(() => Promise.resolve())
  t.match(await cancel(fresh.id, production), NOT_FOUND)
  t.match(await cancel(fresh.id), { status: 'cancelled', cancelled_at: /Z$/ })
  const uncancelable = refusal('FAILED_PRECONDITION', 'payment_intent_not_cancelable')
  t.match(await cancel(fresh.id), uncancelable)
  t.match(await cancel(paid.id), uncancelable)

  t.match(await refund(fresh.id), refusal('FAILED_PRECONDITION', 'payment_intent_not_refundable'))
  const requested = { status: 'captured', refund: { status: 'requested' } }
  t.match(await refund(paid.id, 'r'), requested)
  t.match(await refund(paid.id, 'r'), requested, 'the same call repeated')
  t.match(await refund((await at(captured)).id, 'r'), CONFLICT)
  t.match(await refund(UNKNOWN), NOT_FOUND)
  t.match(await refund(paid.id, ''), INVALID)
  await paid.returned()
  t.match(await get(paid.id), { status: 'refunded', refund: { status: 'done' } })
})

t.test("services list a user's intents", async (t) => {
  const { world, intents } = await openServers(t)
  const list = (over: object = {}): Promise<object> =>
    call((done) =>
      intents.ListByUser({ tenant: TENANT, partner_user_id: 'ann', ...over }, META, done),
    )
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
  t.match(await list({ tenant: { ...TENANT, partner_id: 'nobody' } }), INVALID)
})

t.test('operators list unknown outcomes, show an intent and resolve it', async (t) => {
  const { world, operator } = await openServers(t)
  const lifecycle = await intentAt(world, authorized)
  world.clock.pass(5_000)
  t.match(await call((done) => operator.ListUnknownOutcomes({}, META, done)), {
    data: [{ entity: lifecycle.id, tenant: 'demo_sandbox', currency: 'THB', amount: '36000' }],
  })
  t.match(await call((done) => operator.ListUnknownOutcomes({ limit: 0 }, META, done)), INVALID)

  const resolve = (over: object = {}): Promise<object> =>
    call((done) =>
      operator.ResolveIntent(
        {
          actor: OPERATOR,
          intent_id: lifecycle.id,
          outcome: 'captured',
          evidence: EVIDENCE,
          ...over,
        },
        META,
        done,
      ),
    )
  t.match(await resolve({ actor: { ...OPERATOR, reason: ' ' } }), INVALID, 'without a reason')
  t.match(await resolve({ evidence: '' }), INVALID)
  t.match(await resolve({ intent_id: UNKNOWN }), NOT_FOUND)
  t.match(await resolve(), { intent_id: lifecycle.id, status: 'captured' })
  t.match(await resolve(), refusal('FAILED_PRECONDITION', 'payment_intent_not_at_rail'))

  const reverse = (over: object = {}): Promise<object> =>
    call((done) =>
      operator.ReverseIntent(
        { actor: OPERATOR, intent_id: lifecycle.id, evidence: EVIDENCE, ...over },
        META,
        done,
      ),
    )
  t.match(await reverse({ actor: { ...OPERATOR, reason: ' ' } }), INVALID, 'without a reason')
  t.match(await reverse({ intent_id: UNKNOWN }), NOT_FOUND)
  t.match(await reverse(), {
    intent_id: lifecycle.id,
    status: 'refunded',
    refund: { status: 'done' },
  })
  t.match(await reverse(), refusal('FAILED_PRECONDITION', 'payment_intent_not_captured'))

  const show = (intent_id: string): Promise<object> =>
    call((done) => operator.ShowIntent({ intent_id }, META, done))
  const record = (await show(lifecycle.id)) as { timeline: { kind: string; text: string }[] }
  t.match(record, { tenant: 'demo_sandbox', partner_user_id: lifecycle.user, submitted_at: /Z$/ })
  const text = `resolve_intent_captured by ann: a test (${EVIDENCE})`
  t.ok(record.timeline.some((moment) => moment.kind === 'action' && moment.text === text))
  t.match(await show(UNKNOWN), NOT_FOUND)
})

t.test('without the token', async (t) => {
  const { intents, operator } = await openServers(t)
  const refused = refusal('UNAUTHENTICATED', 'authentication_failed')
  for (const start of [
    (done: Done) => intents.Get({ tenant: TENANT, intent_id: UNKNOWN }, done),
    (done: Done) => intents.ListByUser({ tenant: TENANT, partner_user_id: 'a' }, done),
    (done: Done) => operator.ShowIntent({ intent_id: UNKNOWN }, bearer('it_other'), done),
    (done: Done) => operator.ShowPayout({ payout_id: 'pout_x' }, done),
    (done: Done) => operator.ListUnknownOutcomes({}, done),
    (done: Done) => operator.ResolveIntent({}, done),
    (done: Done) => operator.ReverseIntent({}, done),
  ]) {
    t.match(await call(start), refused)
  }
})
