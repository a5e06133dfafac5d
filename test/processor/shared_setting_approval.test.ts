/** In a cluster, settings for all shards that a second operator must approve. */
import { createRailTable, sandboxRail } from '../../src/rails/rail_table.js'
import { Metadata, type ServiceError } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { callerEntry, configuredCaller, createCallers } from '../../src/auth/callers.js'
import { readSettings } from '../../src/settings/settings_reader.js'
import { THB } from '../../src/money/currency.js'
import { rateKey } from '../../src/quotes/rates.js'
import { callersService } from '../../src/processor/servers/callers.js'
import { approvalsService } from '../../src/processor/servers/approvals.js'
import { operatorService } from '../../src/processor/servers/operator/operator.js'
import type { UnaryDependencies } from '../../src/processor/servers/unary_handler.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'
import { settingsOf, testSettings } from '../support/shared_settings.js'
import { EVERY_STATEMENT_IS_RIGHT } from '../support/statements.js'
import { createWorld } from '../support/world.js'
import { systemRandom } from '../../src/base/random.js'
import { aRoute } from './scenarios.js'

const SET_AT = Date.UTC(2026, 10, 21, 3)
const ANN = { name: 'ann', reason: 'a test' }
const BEN = { name: 'ben', reason: 'checked' }
const RAILS = createRailTable([sandboxRail(true), { ...sandboxRail(true), name: 'other' }])
const { secondOperator } = rulesOf(readSettings({ SECOND_OPERATOR_FROM: 'USD:100' }, ''))

type Handler = (
  call: never,
  callback: (error: ServiceError | null, answer?: unknown) => void,
) => void

async function openCluster(t: Test, rules: object = { secondOperator, rails: RAILS }) {
  const world = await createWorld(t, { rules })
  const cluster = testSettings(() => SET_AT)
  const dependencies: UnaryDependencies = {
    clock: world.clock,
    random: systemRandom(),
    memory: world.memory(),
    pipeline: world,
    reader: { run: () => Promise.resolve({ ok: false, code: 'internal_error' }) },
  }
  const callers = createCallers(
    ['ann', 'ben'].map((name) => configuredCaller(callerEntry('operator', name, name))),
    world.clock,
  )
  const recovery = {
    ...{ behind: () => [], isBusChecked: () => true, released: () => undefined },
    statements: EVERY_STATEMENT_IS_RIGHT,
  }
  const operator = operatorService(dependencies, {} as never, undefined, cluster)
  const approvals = approvalsService(dependencies, callers, recovery, cluster)
  const callerCalls = callersService(dependencies, callers, undefined, cluster)
  const call = (handler: unknown, request: object) =>
    new Promise<{ error: string | undefined; approval: string; answer: unknown }>((resolve) => {
      const given = { request, metadata: new Metadata(), sendMetadata: () => undefined }
      ;(handler as Handler)(given as never, (error, answer) =>
        resolve({
          error: error === null ? undefined : String(error.metadata.get('causeway-error')[0]),
          approval: String(error?.metadata.get('causeway-approval-request')[0]),
          answer,
        }),
      )
    })
  return {
    world,
    stored: async () =>
      (await cluster.settingsFrom(1, 100)).map(({ kind, key, actor }) => [kind, key, actor]),
    catchUp: () => settingsOf(world, cluster).catchUp(),
    setRate: (rate: string, force = false) =>
      call(operator.SetRate, { actor: ANN, currency: 'THB', rate, force }),
    setRoute: (given: object) => call(operator.SetRoute, { actor: ANN, route: aRoute(given) }),
    setRouteRail: (route: string, rail: string) =>
      call(operator.SetRouteRail, { actor: ANN, route, rail }),
    pause: (subject: string) => call(operator.PauseSubmissions, { actor: ANN, subject }),
    resume: (subject: string) => call(operator.ResumeSubmissions, { actor: ANN, subject }),
    createCaller: (given: object) =>
      call(callerCalls.Create, { actor: ANN, roles: [], partners: [], ...given }),
    approve: (id: string) => call(approvals.Approve, { actor: BEN, id }),
  }
}

/** The answer of a call. @throws when it is refused */
async function answerOf(
  call: Promise<{ error: string | undefined; answer: unknown }>,
): Promise<unknown> {
  const { error, answer } = await call
  if (error !== undefined) throw new Error(`refused: ${error}`)
  return answer
}

t.test('an approved rate or route is stored for all shards, not before', async (t) => {
  const { world, stored, catchUp, setRate, setRoute, approve } = await openCluster(t)
  const rate = await setRate('36.10', true)
  const route = await setRoute({})
  t.same([rate.error, route.error], ['second_operator_required', 'second_operator_required'])
  t.same(await stored(), [])
  t.match(await answerOf(approve(rate.approval)), {
    request: { status: 'approved' },
    rate: { settings_version: 1 },
  })
  t.match(await answerOf(approve(route.approval)), {
    route: { country: 'VN', settings_version: 2 },
  })
  t.equal((await approve(rate.approval)).error, 'approval_request_decided')
  t.same(await stored(), [
    ['rate', 'THB', 'ben'],
    ['route', 'VN VND', 'ben'],
  ])
  t.notOk(world.memory().rates.has(rateKey('production', THB)), 'each shard applies it by itself')
  await catchUp()
  t.ok(world.memory().rates.has(rateKey('production', THB)))
  t.match(await answerOf(setRate('36.20')), { settings_version: 3 })
  t.match(await setRoute({ review_from: '1' }), { error: undefined })
})

t.test('an approved caller is stored for all shards, not before', async (t) => {
  const { world, stored, catchUp, createCaller, approve } = await openCluster(t)
  const given = { name: 'till', kind: 'gateway', token_sha256: 'a'.repeat(64) }
  const asked = await createCaller(given)
  t.equal(asked.error, 'second_operator_required')
  t.same(await stored(), [])
  t.match(await answerOf(approve(asked.approval)), {
    caller: { caller: { name: 'till', status: 'active' }, settings_version: 1 },
  })
  t.same(await stored(), [['caller', 'till', 'ben']])
  t.notOk(world.memory().callers.has('till'), 'each shard applies it by itself')
  await catchUp()
  t.match(world.memory().callers.get('till')?.tokens, [{ digest: 'a'.repeat(64), endsAt: null }])
})

t.test('the rail of a route is stored for all shards', async (t) => {
  const { world, stored, catchUp, setRouteRail, approve } = await openCluster(t)
  t.equal((await setRouteRail('sandbox/VN/VND', 'nobody')).error, 'rail_does_not_carry')
  t.same(await stored(), [])
  t.match(await answerOf(setRouteRail('sandbox/VN/VND', 'sandbox')), {
    route: 'sandbox/VN/VND',
    settings_version: 1,
  })
  const asked = await setRouteRail('sandbox/VN/VND', 'other')
  t.equal(asked.error, 'second_operator_required')
  t.match(await answerOf(approve(asked.approval)), {
    route_rail: { rail: 'other', settings_version: 2 },
  })
  await catchUp()
  t.match(world.memory().railRoutes.get('sandbox/VN/VND'), { rail: 'other', actor: 'ben' })
})

t.test('a pause is stored for all shards at once, its end after an approval', async (t) => {
  const { world, catchUp, pause, resume, approve } = await openCluster(t)
  t.equal((await pause('rail nobody')).error, 'invalid_request')
  t.equal((await resume('rail other')).error, 'submissions_not_paused')
  t.match(await answerOf(pause('rail other')), { subject: 'rail other', settings_version: 1 })
  await catchUp()
  t.match([...world.memory().pauses.values()], [{ subject: 'rail other', reason: 'a test' }])
  const asked = await resume('rail other')
  t.equal(asked.error, 'second_operator_required')
  t.match(await answerOf(approve(asked.approval)), {
    submission_pause: { subject: 'rail other', settings_version: 2 },
  })
  await catchUp()
  t.equal(world.memory().pauses.size, 0)
})

t.test('without a second operator a large change is confirmed', async (t) => {
  const { stored, setRate } = await openCluster(t, {})
  t.equal((await setRate('40.00')).error, 'rate_change_unconfirmed')
  t.same(await stored(), [])
  t.match(await answerOf(setRate('40.00', true)), { settings_version: 1 })
})
