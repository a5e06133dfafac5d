/** Changes that a second operator must approve: each one with one and with two operators. */
import t, { type Test } from 'tap'
import { DAY } from '../../src/base/clock.js'
import {
  approveRequest,
  listApprovalRequests,
  rejectRequest,
} from '../../src/processor/commands/approvals/approval_request_decide.js'
import { createCaller } from '../../src/processor/commands/callers/caller_create.js'
import { rotateCaller } from '../../src/processor/commands/callers/caller_rotate.js'
import { deposit } from '../../src/processor/commands/funds/deposit.js'
import { enterRecovery } from '../../src/processor/commands/operators/recovery_enter.js'
import { releaseRecovery } from '../../src/processor/commands/operators/recovery_release.js'
import { approvePayout, rejectPayout } from '../../src/processor/commands/payouts/payout_review.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { GUARDED_CHANGES, OPERATOR_CHANGES } from '../../src/processor/changes/second_operator.js'
import type { Actor } from '../../src/processor/changes/operator_log.js'
import type { Answer } from '../../src/processor/cycle/answer.js'
import { rulesOf, type Rules } from '../../src/processor/cycle/rules.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { NO_FINDINGS, RELEASE } from '../support/statements.js'
import { codeOf, createWorld, DEMO, viewOf, type World } from '../support/world.js'
import { discrepanciesOf, operatorLog, pay } from './scenarios.js'
import {
  CASES,
  RAILS,
  ANN,
  EVIDENCE,
  callersIn,
  aDiscrepancy,
  BEN,
  approve,
  requestIn,
  linksIn,
} from './approval_cases.js'

const CID: Actor = { name: 'cid', reason: 'checked too' }

const ruleOf = (text: string): Rules['secondOperator'] =>
  rulesOf(readSettings({ SECOND_OPERATOR_FROM: text }, '')).secondOperator

t.setTimeout(0)

/** `aPayout` is of VND 12,500,000, a payment of 360 baht of USD 10.00. */
const FROM_THE_PAYOUT = ruleOf('VND:12500000,USD:1000')

const reject = (world: World, by: Actor, id: string): Promise<Answer> =>
  world.run(rejectRequest(by, id))

const pending = async (world: World): Promise<readonly Record<string, string>[]> =>
  viewOf<{ data: Record<string, string>[] }>(await world.run(listApprovalRequests(false))).data

t.test('each guarded operation has a case, and each is called by an rpc', async (t) => {
  const operations = Object.keys(GUARDED_CHANGES).sort()
  const called = Object.values<object>(OPERATOR_CHANGES)
    .flatMap((rpcs) => Object.values(rpcs) as unknown[])
    .filter((change) => typeof change === 'string')
  t.same([...new Set(Object.values(CASES).map(({ operation }) => operation))].sort(), operations)
  t.same([...new Set(called)].sort(), operations)
})

async function worldOf(t: Test, rebuilt: boolean, secondOperator = FROM_THE_PAYOUT) {
  return createWorld(t, { rebuilt, rules: { secondOperator, rails: RAILS } })
}

for (const [name, { operation, action = operation, prepare }] of Object.entries(CASES)) {
  for (const rebuilt of [false, true]) {
    t.test(`${name}, ${rebuilt ? 'restarted before each step' : 'warm'}`, async (t) => {
      const world = await worldOf(t, rebuilt)
      const { command, isDone } = await prepare(world)
      const logged = (await operatorLog(t)).length

      const first = requestIn(await world.run(command(ANN)))
      t.equal(await isDone(), false, 'one operator is not enough')
      t.equal(
        requestIn(await world.run(command(ANN))),
        first,
        'a repeated change returns the same request',
      )
      t.equal(
        requestIn(await world.run(command(BEN))),
        first,
        'a second operator gets the same request',
      )
      t.match(await pending(world), [{ id: first, requested_by: 'ann', status: 'pending' }])
      t.equal(codeOf(await world.run(approve(world, ANN, first))), 'approver_is_requester')
      t.equal(await isDone(), false, 'the requesting operator cannot approve')

      world.clock.pass(DAY)
      t.same(await pending(world), [], 'the request expires after 24 hours')
      t.equal(codeOf(await world.run(approve(world, BEN, first))), 'approval_request_expired')
      t.equal(codeOf(await reject(world, BEN, first)), 'approval_request_expired')

      const second = requestIn(await world.run(command(ANN)))
      t.not(second, first)
      t.equal(codeOf(await reject(world, BEN, second)), 'ok')
      t.equal(codeOf(await world.run(approve(world, CID, second))), 'approval_request_decided')
      t.equal(await isDone(), false, 'a rejected request cannot be used')

      const third = requestIn(await world.run(command(ANN)))
      world.clock.pass(DAY - 1)
      const both = await world.runAll([approve(world, BEN, third), approve(world, CID, third)])
      t.same(
        both.map(codeOf),
        ['ok', 'approval_request_decided'],
        'two concurrent approvals apply the change once',
      )
      t.equal(await isDone(), true, 'two operators are enough')
      t.equal(codeOf(await world.run(approve(world, BEN, third))), 'approval_request_decided')

      t.same((await stepsOf(t)).slice(logged), [
        ...['ann request_approval', 'ann request_approval', 'ben reject_request'],
        'ann request_approval',
        ...[action].flat().map((each) => `ben ${each}`),
        'ben approve_request',
      ])
      t.ok((await world.trialBalance()).balanced, 'the books balance')
    })
  }

  t.test(`${name} is shown to the second operator as it would be made`, async (t) => {
    const world = await worldOf(t, false)
    const { command } = await prepare(world)
    requestIn(await world.run(command(ANN)))
    const { subject, amount, currency, arguments: given } = (await pending(world)).at(-1)!
    const shown = [subject, currency, amount].join(' ')
    for (const value of shownValues(JSON.parse(given!))) t.match(shown, value)
  })

  t.test(`${name} needs one operator while the setting is empty`, async (t) => {
    const world = await worldOf(t, false, ruleOf(''))
    const { command, isDone } = await prepare(world)
    t.equal(codeOf(await world.run(command(ANN))), 'ok')
    t.equal(await isDone(), true)
    t.equal(world.memory().approvalRequests.size, 0)
  })
}

/**
 * Lists show the evidence beside the subject, which has a digest or words for the others. An
 * idempotency key changes nothing.
 */
const SHOWN_OTHERWISE = [
  ...['evidence', 'idempotency_key', 'public_key', 'figures', 'rail_checked', 'incomplete'],
]

function shownValues(given: unknown): string[] {
  if (given === null) return []
  if (typeof given !== 'object') return [JSON.stringify(given).replaceAll('"', '')]
  const members = Object.entries(given).filter(([name]) => !SHOWN_OTHERWISE.includes(name))
  return members.flatMap(([, value]) => shownValues(value))
}

const stepsOf = async (t: Test): Promise<string[]> =>
  (await operatorLog(t)).map(({ actor, action }) => `${actor} ${action}`)

t.test(
  'approval is needed from the configured amount, and at any amount of other currencies',
  async (t) => {
    const world = await worldOf(t, false)
    const of = async (currency: string, amount: string): Promise<string> => {
      const request = { currency, amount, idempotencyKey: `${currency} ${amount}` }
      return codeOf(await world.run(deposit(ANN, DEMO, request)))
    }
    t.equal(await of('USD', '999'), 'ok')
    t.equal(await of('USD', '1000'), 'second_operator_required')
    t.equal(await of('THB', '1'), 'second_operator_required')
    const small = await pay(world, { reference: 'sandbox:review', amount: '12499999' })
    t.equal(codeOf(await world.run(approvePayout(ANN, small.id))), 'ok')
    t.throws(() => ruleOf('UDS:5'), /UDS/)
    t.throws(() => ruleOf('USD:5,USD:6'), /USD/)
  },
)

t.test(
  'rejecting, keeping, rotating an own token and adding readers need one operator',
  async (t) => {
    const world = await worldOf(t, false)
    const { id } = await pay(world, { reference: 'sandbox:review' })
    t.equal(codeOf(await world.run(rejectPayout(ANN, id))), 'ok')
    await aDiscrepancy(world, 'charge_partner')
    const [found] = await discrepanciesOf(world)
    const keep = { settlement: 'keep', evidence: EVIDENCE }
    t.equal(codeOf(await world.run(resolveDiscrepancy(ANN, found!.id, keep))), 'ok')
    const own = rotateCaller({ ...ANN, name: 'root' }, callersIn(world), 'root')
    t.equal(codeOf(await world.run(own)), 'ok')
    const reader = { name: 'eve', kind: 'operator', roles: ['read'], partners: [] }
    t.equal(codeOf(await world.run(createCaller(ANN, callersIn(world), reader))), 'ok')
  },
)

t.test('a change that would be refused is not requested', async (t) => {
  const world = await worldOf(t, false)
  const key = { idempotencyKey: 'k' }
  const bad = deposit(ANN, DEMO, { currency: 'VND', amount: '-1', ...key })
  t.equal(codeOf(await world.run(bad)), 'invalid_request')
  t.equal(codeOf(await world.run(approvePayout(ANN, 'pout_1'))), 'payout_not_found')
  t.equal(
    codeOf(await world.run(releaseRecovery(ANN, RELEASE, NO_FINDINGS))),
    'recovery_not_active',
  )
  t.equal(world.memory().approvalRequests.size, 0)
})

t.test('a change is checked again when it is approved', async (t) => {
  const world = await worldOf(t, false)
  const { id } = await pay(world, { reference: 'sandbox:review' })
  const request = requestIn(await world.run(approvePayout(ANN, id)))
  await world.run(enterRecovery('a test'))
  const inRecovery = await world.run(approve(world, BEN, request))
  t.equal(codeOf(inRecovery), 'recovery_active', 'in recovery mode')
  await world.run(
    releaseRecovery({ ...ANN, approves: await releaseBy(world) }, RELEASE, NO_FINDINGS),
  )
  await world.rebuild()
  await world.run(rejectPayout(CID, id))
  t.equal(codeOf(await world.run(approve(world, BEN, request))), 'payout_not_held')
  t.match(await pending(world), [{ id: request }], 'the request stays pending')
})

async function releaseBy(world: World) {
  const id = requestIn(await world.run(releaseRecovery(ANN, RELEASE, NO_FINDINGS)))
  const request = world.memory().approvalRequests.get(id)!
  await world.run(rejectRequest(ANN, id))
  return request
}

t.test(
  'a release requested in an earlier recovery cannot be approved in a later one',
  async (t) => {
    const world = await worldOf(t, false)
    await world.run(enterRecovery('the first'))
    const old = requestIn(await world.run(releaseRecovery(ANN, RELEASE, NO_FINDINGS)))
    const other = { ...RELEASE, statement: 'another.csv' }
    const used = requestIn(await world.run(releaseRecovery(ANN, other, NO_FINDINGS)))
    t.equal(codeOf(await world.run(approve(world, BEN, used))), 'ok')
    await world.rebuild()
    await world.run(enterRecovery('the second'))
    t.equal(codeOf(await world.run(approve(world, BEN, old))), 'approval_request_outdated')
    t.equal(await world.store.stoppedByRecovery(), 'writes')
  },
)

t.test('a release is approved for its statement, and as incomplete or not', async (t) => {
  const world = await worldOf(t, false)
  await world.run(enterRecovery('a test'))
  const findings = { ...NO_FINDINGS, faults: ['it has 2 movements, and the rail made 3'] }
  const request = (incomplete: boolean): Promise<Answer> =>
    world.run(releaseRecovery(ANN, { ...RELEASE, incomplete }, NO_FINDINGS))
  const right = requestIn(await request(false))
  const incomplete = requestIn(await request(true))
  t.not(right, incomplete)
  t.same((await pending(world)).map(({ subject }) => subject).sort(), [
    '1 day.csv sha256 00, 0 movements',
    '1 day.csv sha256 00, 0 movements, accepted as incomplete',
  ])
  const approveWith = (id: string): Promise<Answer> =>
    world.run(approveRequest(BEN, id, { ...linksIn(world), findings }))
  t.equal(codeOf(await approveWith(right)), 'statement_refused', 'compared again at the approval')
  t.equal(codeOf(await approveWith(incomplete)), 'ok')
})

t.test('a release that an earlier version stored is not approved', async (t) => {
  const world = await worldOf(t, false)
  await world.run(enterRecovery('a test'))
  const id = requestIn(await world.run(releaseRecovery(ANN, RELEASE, NO_FINDINGS)))
  const stored = world.memory().approvalRequests.get(id)!
  const given = { recovery: 1, statement: 'day.csv sha256 00', rail_checked: false }
  world.memory().approvalRequests.set(id, { ...stored, arguments: JSON.stringify(given) })
  t.equal(codeOf(await world.run(approve(world, BEN, id))), 'invalid_request')
})

t.test('an approved deposit is replayed by its idempotency key', async (t) => {
  const world = await worldOf(t, false)
  const request = { currency: 'VND', amount: '12500000', idempotencyKey: 'd1' }
  const id = requestIn(await world.run(deposit(ANN, DEMO, request)))
  const done = viewOf<{ deposit: object }>(await world.run(approve(world, BEN, id)))
  const again = await world.run(deposit(ANN, DEMO, request))
  t.match(again, { ok: true, replayed: true, view: done.deposit })
})

t.test('an unknown request is not found', async (t) => {
  const world = await worldOf(t, false)
  t.equal(codeOf(await world.run(approve(world, BEN, 'apr_1'))), 'approval_request_not_found')
  t.equal(codeOf(await reject(world, BEN, 'apr_1')), 'approval_request_not_found')
})
