/**
 * Ways of one operator around a second one: split amounts, keys and routes, small steps of a rate,
 * credentials that an approver would see, and requests of an operator who is gone.
 */
import { CORRIDOR_NAMES } from '../../src/qr/corridor.js'
import { constants, generateKeyPairSync, privateDecrypt } from 'node:crypto'
import t, { type Test } from 'tap'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { tokenDigest } from '../../src/auth/caller_token.js'
import { DAY, HOUR } from '../../src/base/clock.js'
import { tenantOf, type PartnerId, type TenantId } from '../../src/base/ids.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import {
  approveRequest,
  listApprovalRequests,
} from '../../src/processor/commands/approvals/approval_request_decide.js'
import { createCaller, type NewCaller } from '../../src/processor/commands/callers/caller_create.js'
import { revokeCaller } from '../../src/processor/commands/callers/caller_revoke.js'
import { rotateCaller } from '../../src/processor/commands/callers/caller_rotate.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { setRate } from '../../src/processor/commands/operators/rate_set.js'
import { setRoute } from '../../src/processor/commands/operators/route_set.js'
import { issueKey, keysOf } from '../../src/processor/commands/partners/key_issue.js'
import { createPartner } from '../../src/processor/commands/partners/partner_create.js'
import { reversePayout } from '../../src/processor/commands/payouts/payout_resolve.js'
import type { Actor } from '../../src/processor/changes/operator_log.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'
import { NO_FINDINGS } from '../support/statements.js'
import { codeOf, createWorld, DEMO, viewOf, type World, PRODUCTION } from '../support/world.js'
import { ANN, BEN, requestIn } from './approval_cases.js'
import { aRoute, executed, pay } from './scenarios.js'

t.setTimeout(0)
const SECOND = 'second_operator_required'
/** USD 10,000.00 and VND 250,000,000. */
const { secondOperator } = rulesOf(
  readSettings({ SECOND_OPERATOR_FROM: 'USD:1000000,VND:250000000' }, ''),
)

const worldOf = (t: Test, rules: object = { secondOperator }): Promise<World> =>
  createWorld(t, { rules })

function callersOf(world: World, names: readonly string[] = ['ann', 'ben']) {
  const configured = [
    ...names.map((name) => callerEntry('operator', name, `token-of-${name}`)),
    'gateway:edge:certificate:edge.internal',
  ]
  return createCallers(configured.map(configuredCaller), world.clock, world.memory().callers)
}

const approve = (world: World, request: string, by = BEN, callers = callersOf(world)) =>
  world.run(approveRequest(by, request, { callers, findings: NO_FINDINGS, isCluster: false }))

/** A deposit that needs a second operator. */
const BIG = { currency: 'USD', amount: '1000000', idempotencyKey: 'big' }
let keys = 0
async function deposited(
  world: World,
  amount: string,
  { by = ANN, to = DEMO, currency = 'USD' }: { by?: Actor; to?: TenantId; currency?: string } = {},
): Promise<string> {
  keys += 1
  const request = { currency, amount, idempotencyKey: `wire-${keys}` }
  return codeOf(await world.run(deposit(by, to, request)))
}

t.test('of fifty deposits of USD 9,999.99 the second needs another operator', async (t) => {
  const world = await worldOf(t)
  t.equal(await deposited(world, '999999'), 'ok')
  for (let count = 2; count <= 50; count++) t.equal(await deposited(world, '999999'), SECOND)
})

t.test('a sum is of an operator, a tenant, a currency and a UTC day', async (t) => {
  const world = await worldOf(t)
  const acmes = { corridors: CORRIDOR_NAMES, withFunds: false }
  viewOf(await world.run(createPartner(ANN, 'acme', acmes)))
  t.equal(await deposited(world, '600000'), 'ok')
  t.equal(await deposited(world, '399999'), 'ok', 'one cent less than the limit')
  t.equal(await deposited(world, '1'), SECOND)
  await world.rebuild()
  t.equal(await deposited(world, '1'), SECOND, 'after a restart')
  t.equal(await deposited(world, '999999', { by: BEN }), 'ok', 'another operator')
  t.equal(await deposited(world, '1000', { currency: 'VND' }), 'ok', 'another currency')
  const acme = tenantOf('acme' as PartnerId, 'sandbox')
  t.equal(await deposited(world, '999999', { to: acme }), 'ok', 'another partner')
  t.equal(await deposited(world, '999999', { to: PRODUCTION }), 'ok', 'another environment')
  world.clock.pass(20 * HOUR)
  t.equal(await deposited(world, '1'), SECOND, 'the last hour of the day')
  world.clock.pass(HOUR)
  t.equal(await deposited(world, '999999'), 'ok', 'the next day')
  world.clock.pass(-DAY)
  t.equal(await deposited(world, '1'), SECOND, 'a clock that is set back')
  await world.rebuild()
  t.equal(await deposited(world, '1'), SECOND, 'also after a restart')
})

t.test('a sum has every change of one operator, and none that two made', async (t) => {
  const world = await worldOf(t)
  const payout = await pay(world, { amount: '200000000' })
  await world.railReports(executed(payout.id, { amount: 200_000_000n }))
  t.equal(codeOf(await world.run(reversePayout(ANN, payout.id, 'line 7'))), 'ok')
  t.equal(await deposited(world, '49999999', { currency: 'VND' }), 'ok')
  t.equal(await deposited(world, '1', { currency: 'VND' }), SECOND)
  viewOf(await approve(world, requestIn(await world.run(deposit(ANN, DEMO, BIG)))))
  t.equal(await deposited(world, '999999'), 'ok', 'of who requested')
  t.equal(await deposited(world, '999999', { by: BEN }), 'ok', 'of who approved')
  await world.rebuild()
  t.equal(await deposited(world, '1'), SECOND)
})

t.test('a replayed deposit counts once', async (t) => {
  const world = await worldOf(t)
  const same = deposit(ANN, DEMO, { currency: 'USD', amount: '500000', idempotencyKey: 'once' })
  t.same([codeOf(await world.run(same)), codeOf(await world.run(same))], ['ok', 'ok'])
  t.equal(await deposited(world, '499999'), 'ok')
})

const pair = (modulusLength: number) =>
  generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

t.test('a signing key of production is sealed for the partner', async (t) => {
  const world = await worldOf(t)
  const { publicKey, privateKey } = pair(2_048)
  t.equal(codeOf(await world.run(issueKey(ANN, DEMO))), 'ok', 'of the sandbox: one operator')
  t.equal(codeOf(await world.run(issueKey(ANN, PRODUCTION))), 'owner_credential_required')
  for (const bad of [privateKey, pair(1_024).publicKey, 'no key', '']) {
    t.equal(codeOf(await world.run(issueKey(ANN, PRODUCTION, bad))), 'invalid_request')
  }
  const request = requestIn(await world.run(issueKey(ANN, PRODUCTION, publicKey)))
  const approved = await approve(world, request)
  const { key } = viewOf<{ key: { key_id: string; sealed_secret: string } }>(approved)
  const [issued] = keysOf(world.memory(), PRODUCTION)
  t.equal(key.key_id, issued?.id)
  t.notMatch(JSON.stringify(viewOf(approved)), issued?.secret ?? '', 'no operator sees the secret')
  const opened = privateDecrypt(
    { key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
    Buffer.from(key.sealed_secret, 'base64'),
  )
  t.equal(opened.toString(), issued?.secret, 'the partner can open it')
})

t.test('a route that loosens the one in force needs two operators', async (t) => {
  const world = await worldOf(t)
  const strict = { amount_max: '900000000', review_from: '200000000' }
  const set = async (given: object, tenant: TenantId | null = DEMO): Promise<string> =>
    codeOf(await world.run(setRoute(ANN, tenant, aRoute({ ...strict, ...given }))))
  t.equal(await set({}), 'ok', 'stricter than the default')
  for (const given of [
    { review_from: undefined },
    { review_from: '200000001' },
    { amount_max: undefined },
    { amount_max: '900000001' },
    { platform_fixed: '5001' },
    { platform_bps: 19 },
    { rail_fixed: '0' },
    { handling: 'deducted' },
    { refund_fees_on_reversal: false },
  ]) {
    t.equal(await set(given), SECOND, JSON.stringify(given))
  }
  t.equal(await set({}, null), SECOND, 'the first one for all tenants applies to production')
  t.equal(await set({}, PRODUCTION), SECOND, 'the first one of a tenant')
  t.equal(await set({ review_from: '1', amount_max: '500000000', amount_min: '7' }), 'ok')
  t.equal(await set({ enabled: false, review_from: undefined }), 'ok', 'it is closed')
  t.equal(await set({ review_from: '1' }), SECOND, 'it is opened again')
})

t.test('an approved route is what later ones are compared with', async (t) => {
  const world = await worldOf(t)
  const open = setRoute(ANN, PRODUCTION, aRoute({ review_from: '500000000' }))
  const approved = await approve(world, requestIn(await world.run(open)))
  t.match(viewOf(approved), { route: { country: 'VN', review_from: '500000000' } })
  t.equal(codeOf(await world.run(open)), 'ok', 'the same again')
})

const rated = async (world: World, rate: string, force = false): Promise<string> =>
  codeOf(await world.run(setRate(ANN, 'THB', rate, { force })))

t.test('a rate moves by 5 % in a day by one operator', async (t) => {
  const world = await worldOf(t)
  const first = requestIn(await world.run(setRate(ANN, 'THB', '36.00', { force: true })))
  t.equal(await rated(world, '36.00'), SECOND, 'the first of a currency')
  viewOf(await approve(world, first))
  t.equal(await rated(world, '37.80'), 'ok')
  t.equal(await rated(world, '37.81'), SECOND, 'small steps add up')
  await world.rebuild()
  t.equal(await rated(world, '37.81', true), SECOND, 'also after a restart, and with --force')
  t.equal(await rated(world, '34.20'), 'ok', 'both ways from the opening rate')
  world.clock.pass(DAY)
  t.equal(await rated(world, '35.91'), 'ok', 'the next day begins at the last rate')
  t.equal(await rated(world, '35.92'), SECOND)
  const approved = requestIn(await world.run(setRate(ANN, 'THB', '40.00')))
  viewOf(await approve(world, approved))
  t.equal(await rated(world, '42.00'), 'ok', 'from the approved one')
  t.equal(await rated(world, '42.01'), SECOND)
})

t.test('without a second operator a large change of a rate is confirmed', async (t) => {
  const world = await worldOf(t, {})
  t.equal(await rated(world, '37.80'), 'ok', 'within 5 % of the default')
  t.equal(await rated(world, '3.78'), 'rate_change_unconfirmed')
  t.equal(await rated(world, '3.78', true), 'ok')
  t.equal(await rated(world, '3.79'), 'ok')
})

const created = async (world: World, given: Partial<NewCaller>): Promise<Answer> => {
  const caller = { name: 'dot', kind: 'gateway', roles: [], partners: [], ...given }
  return world.run(createCaller(ANN, callersOf(world), caller))
}

t.test('a credential is made by its owner, and never shown to an approver', async (t) => {
  const world = await worldOf(t)
  for (const given of [
    { kind: 'gateway' },
    { kind: 'webhooks' },
    { kind: 'service' },
    { kind: 'operator', roles: ['operate'] },
    { kind: 'operator', roles: ['read', 'decide'] },
  ]) {
    const without = codeOf(await created(world, given))
    t.equal(without, 'owner_credential_required', JSON.stringify(given))
    t.equal(codeOf(await created(world, { ...given, certificate: 'dot.internal' })), SECOND)
  }
  t.equal(codeOf(await created(world, { tokenSha256: 'abc' })), 'invalid_request')
  const tokenSha256 = tokenDigest('made by dot')
  const both = { certificate: 'dot.internal', tokenSha256 }
  t.equal(codeOf(await created(world, both)), 'invalid_request')

  const request = requestIn(await created(world, { tokenSha256 }))
  const approved = viewOf<{ caller: object }>(await approve(world, request))
  t.notOk('token' in approved.caller)
  t.match(world.memory().callers.get('dot'), { tokens: [{ digest: tokenSha256 }] })

  const rotate = (given?: string) => world.run(rotateCaller(ANN, callersOf(world), 'dot', given))
  t.equal(codeOf(await rotate()), 'owner_credential_required')
  const rotation = requestIn(await rotate(tokenDigest('the next')))
  const rotated = { caller: { previous_until: /Z$/, token: undefined } }
  t.match(viewOf(await approve(world, rotation)), rotated)
})

t.test('a credential that a caller has, or had, is refused', async (t) => {
  const world = await worldOf(t, {})
  const digest = tokenDigest('made by eve')
  viewOf(await created(world, { name: 'eve', tokenSha256: digest }))
  viewOf(await created(world, { name: 'fay', certificate: 'fay.internal' }))
  for (const revoked of [false, true]) {
    for (const given of [
      { certificate: 'edge.internal' },
      { certificate: 'fay.internal' },
      { tokenSha256: tokenDigest('token-of-ben') },
      { tokenSha256: digest },
    ]) {
      const refused = codeOf(await created(world, given))
      t.equal(refused, 'credential_in_use', `${JSON.stringify(given)} ${revoked}`)
    }
    if (revoked) continue
    for (const name of ['eve', 'fay'])
      viewOf(await world.run(revokeCaller(BEN, callersOf(world), name)))
  }
  const again = rotateCaller(BEN, callersOf(world), 'ben', tokenDigest('token-of-ben'))
  t.equal(codeOf(await world.run(again)), 'credential_in_use', 'the same token again')
})

async function statusOf(world: World, id: string): Promise<string | undefined> {
  const lists = await Promise.all(
    [false, true].map((resolved) => world.run(listApprovalRequests(resolved))),
  )
  const all = lists.flatMap((list) => viewOf<{ data: { id: string; status: string }[] }>(list).data)
  return all.find((request) => request.id === id)?.status
}

for (const [name, end] of [
  ['is revoked', (world: World) => revokeCaller(BEN, callersOf(world), 'ann')],
  [
    'has another token',
    (world: World) => rotateCaller(ANN, callersOf(world), 'ann', tokenDigest('another')),
  ],
] as const) {
  t.test(`a request ends when its requester ${name}`, async (t) => {
    const world = await worldOf(t)
    const request = requestIn(await world.run(deposit(ANN, DEMO, BIG)))
    t.equal(await statusOf(world, request), 'pending')
    world.clock.pass(1)
    await world.run(end(world))
    t.equal(await statusOf(world, request), 'ended')
    await world.rebuild()
    t.equal(codeOf(await approve(world, request)), 'approval_request_ended')
    world.clock.pass(1)
    const next = requestIn(await world.run(deposit(BEN, DEMO, BIG)))
    t.not(next, request, 'the same change is another request')
  })
}

t.test('a request ends when its requester is no longer configured', async (t) => {
  const world = await worldOf(t)
  const request = requestIn(await world.run(deposit(ANN, DEMO, BIG)))
  const left = callersOf(world, ['ben'])
  t.equal(codeOf(await approve(world, request, BEN, left)), 'approval_request_ended')
  t.equal(codeOf(await approve(world, request)), 'ok')
})
