/** Several rails: which of them has a payment, and what another one can do to it. */
import t, { type Test } from 'tap'
import type { RailInstruction, RailReport } from '../../src/rails/rail.js'
import {
  createRailTable,
  sandboxRail,
  type RailEntry,
  type RailTable,
} from '../../src/rails/rail_table.js'
import { routesNotCarried } from '../../src/processor/changes/payment_rail.js'
import {
  listSubmissionPauses,
  pauseSubmissions,
  resumeSubmissions,
} from '../../src/processor/commands/operators/submissions_pause.js'
import type { PayoutId } from '../../src/base/ids.js'
import { setRouteRail } from '../../src/processor/commands/operators/route_rail_set.js'
import { listRoutes } from '../../src/processor/commands/operators/route_set.js'
import { createPayout } from '../../src/processor/commands/payouts/payout_create.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import { firePayoutTimer } from '../../src/processor/commands/rail_reports/timer_fire.js'
import { railMovementsOf, type MovementsView } from '../../src/processor/queries/rail_movements.js'
import { codeOf, createWorld, DEMO, RULES, viewOf, type World } from '../support/world.js'
import { authorized, captured, intentAt, scanned } from './intent_lifecycle.js'
import {
  discrepanciesOf,
  executed,
  OPERATOR,
  operatorLog,
  pay,
  payout,
  read,
  see,
  tryPay,
  approve,
} from './scenarios.js'

const railNamed = (name: string, carries: Partial<RailEntry>): RailEntry => ({
  ...{ name, environments: ['sandbox'], payouts: [], corridors: [], isSandbox: true },
  ...carries,
})
const VIET = railNamed('viet', { payouts: ['VN/VND'] })
/** Named as reports without a rail are. */
const THAI = railNamed('sandbox', { payouts: ['TH/THB'], corridors: ['th_promptpay'] })
const OUTAGE_MS = 10_000
const COMPLETED = { status: 'completed' }

/** Read at each rebuild. */
const rulesLater: { rails: RailTable } = { rails: createRailTable([VIET]) }

const begin = (t: Test, ...entries: [RailEntry, ...RailEntry[]]): Promise<World> =>
  createWorld(t, { rules: { rails: createRailTable(entries) } })

/** The rail and the route that each instruction names. */
const routesOf = (sent: readonly RailInstruction[]): string[] =>
  sent.flatMap((each) => {
    if (each.kind === 'acknowledge' || each.kind === 'simulate') return []
    const { rail, route } = each.kind === 'instruct' ? each.instruction : each
    return [`${each.kind} ${rail} ${route}`]
  })

const reported = (world: World, rail: string, report: RailReport) =>
  world.run(applyRailReport(report, 0, rail))

/** A minute later. */
async function inquireLater(world: World, id: PayoutId): Promise<void> {
  world.clock.pass(60_000)
  await world.run(firePayoutTimer(id))
}

t.test('instruction, query and recall go to the rail of their route', async (t) => {
  const world = await begin(t, VIET, THAI)
  const { id } = await pay(world)
  await inquireLater(world, id)
  const intent = await intentAt(world, captured)
  await intent.refund()
  t.same(routesOf(world.railInstructions), [
    'instruct viet sandbox/VN/VND',
    'query viet sandbox/VN/VND',
    'instruct sandbox sandbox/th_promptpay',
    'recall sandbox sandbox/th_promptpay',
  ])
})

t.test('a payment keeps its rail when another one has its route', async (t) => {
  const world = await createWorld(t, { rules: rulesLater })
  const { id } = await pay(world)
  rulesLater.rails = createRailTable([railNamed('other', { payouts: ['VN/VND'] }), VIET])
  await world.rebuild()
  await inquireLater(world, id)
  const { id: next } = await pay(world)
  t.same(routesOf(world.railInstructions), [
    'instruct viet sandbox/VN/VND',
    'query viet sandbox/VN/VND',
    'instruct other sandbox/VN/VND',
  ])
  await reported(world, 'viet', executed(id))
  await reported(world, 'other', executed(next))
  t.match([await see(world, id), await see(world, next)], [COMPLETED, COMPLETED])
  t.same(await discrepanciesOf(world), [])
})

t.test('an operator names the rail of a route for its new payments', async (t) => {
  const other = railNamed('other', { payouts: ['VN/VND'] })
  rulesLater.rails = createRailTable([VIET, THAI, other])
  const world = await createWorld(t, { rules: rulesLater })
  const { id } = await pay(world)
  const set = async (route: string, rail: string): Promise<string> =>
    codeOf(await world.run(setRouteRail(OPERATOR, route, rail)))
  for (const route of ['VN/VND', 'test/VN/VND', 'sandbox/XX/VND', 'sandbox/', 'sandbox/VN/VND/x']) {
    t.equal(await set(route, 'other'), 'invalid_request', route)
  }
  for (const [route, rail] of [
    ['sandbox/VN/VND', 'nobody'],
    ['sandbox/VN/VND', 'sandbox'],
    ['production/VN/VND', 'other'],
  ] as const) {
    t.equal(await set(route, rail), 'rail_does_not_carry', `${route} ${rail}`)
  }
  t.equal(await set('sandbox/VN/VND', 'other'), 'ok')
  await world.rebuild()
  await inquireLater(world, id)
  await reported(world, 'viet', executed(id, { status: 'not_found' }))
  const { id: next } = await pay(world)
  t.same(routesOf(world.railInstructions), [
    'instruct viet sandbox/VN/VND',
    'query viet sandbox/VN/VND',
    'instruct viet sandbox/VN/VND',
    'instruct other sandbox/VN/VND',
  ])
  await reported(world, 'viet', executed(id))
  await reported(world, 'other', executed(next))
  t.match([await see(world, id), await see(world, next)], [COMPLETED, COMPLETED])
  t.match(await operatorLog(t), [
    { action: 'set_route_rail', actor: 'ann', subject: 'sandbox/VN/VND other' },
  ])

  rulesLater.rails = createRailTable([VIET, THAI])
  await world.rebuild()
  t.equal(codeOf(await tryPay(world)), 'rail_unavailable', 'not viet')
  t.same(routesNotCarried(world.memory(), rulesLater.rails).length, 1)
  world.downRails.set('sandbox', 1)
  t.match(viewOf<{ rails: object[] }>(await world.run(listRoutes())).rails, [
    { route: 'sandbox/TH/THB', rail: 'sandbox', state: 'down' },
    { route: 'sandbox/VN/VND', rail: 'other', state: 'not_carried', actor: 'ann' },
    { route: 'sandbox/th_promptpay', rail: 'sandbox' },
  ])
  t.equal(await set('sandbox/VN/VND', 'viet'), 'ok')
  t.match(await pay(world), { status: 'processing' })
})

for (const isAllowed of [false, true]) {
  t.test(`production on a sandbox rail, allowed ${isAllowed}`, async (t) => {
    const world = await begin(t, sandboxRail(isAllowed))
    const set = setRouteRail(OPERATOR, 'production/th_promptpay', 'sandbox')
    t.equal(codeOf(await world.run(set)), isAllowed ? 'ok' : 'rail_does_not_carry')
  })
}

const pause = (world: World, subject: string) => world.run(pauseSubmissions(OPERATOR, subject))
const resume = (world: World, subject: string) => world.run(resumeSubmissions(OPERATOR, subject))

for (const subject of ['rail viet', 'corridor VN/VND', 'environment sandbox']) {
  t.test(`what is accepted during a pause of ${subject} leaves once, after it`, async (t) => {
    const world = await begin(t, VIET, THAI)
    t.equal(codeOf(await pause(world, subject)), 'ok')
    const accepted = await pay(world)
    t.match(accepted, { status: 'processing' })
    const held = await pay(world, { reference: 'sandbox:review' })
    t.equal(codeOf(await approve(world, held.id)), 'ok')
    await intentAt(world, authorized)
    const others =
      subject === 'environment sandbox' ? [] : ['instruct sandbox sandbox/th_promptpay']
    for (let times = 0; times < 2; times++) {
      await world.fireTimers(1_000)
      await world.rebuild()
      t.same(routesOf(world.railInstructions), others)
    }
    world.railInstructions.length = 0
    t.equal(codeOf(await resume(world, subject)), 'ok')
    t.equal(codeOf(await resume(world, subject)), 'submissions_not_paused')
    await world.fireTimers()
    await world.fireTimers()
    await world.rebuild()
    await world.fireTimers()
    const sent = world.railInstructions.flatMap((each) =>
      each.kind === 'instruct' && each.instruction.rail === 'viet' ? [each.instruction.id] : [],
    )
    t.same(sent.sort(), [accepted.id, held.id].sort())
    for (const id of sent) await reported(world, 'viet', executed(id as PayoutId))
    t.match([await see(world, accepted.id), await see(world, held.id)], [COMPLETED, COMPLETED])
  })
}

t.test('an intent that waits too long for the end of a pause fails', async (t) => {
  const world = await begin(t, VIET, THAI)
  await pause(world, 'corridor th_promptpay')
  const intent = await intentAt(world, authorized)
  await world.fireTimers(RULES.railSubmitTtlMs)
  t.match(await intent.see(), { status: 'failed', failure: { code: 'rail_unavailable' } })
  await resume(world, 'corridor th_promptpay')
  await world.fireTimers(RULES.railSubmitTtlMs)
  t.same(world.railInstructions, [])
})

t.test('what was decided before a pause is asked about, and sent again after it', async (t) => {
  const world = await begin(t, VIET, THAI)
  // Decided in one batch with the pause; the process ends before the instruction is sent.
  const paused = pauseSubmissions(OPERATOR, 'rail viet')
  const [decided] = await world.runAll([createPayout(DEMO, payout()), paused])
  const { id } = viewOf<{ id: PayoutId }>(decided!)
  const notFound = () => reported(world, 'viet', executed(id, { status: 'not_found' }))
  t.same(routesOf(world.railInstructions), ['instruct viet sandbox/VN/VND'])
  world.railInstructions.length = 0
  await world.rebuild()
  for (let minute = 0; minute < 90; minute++) {
    await world.fireTimers(60_000)
    await notFound()
  }
  const queries = routesOf(world.railInstructions)
  t.same(queries, Array<string>(90).fill('query viet sandbox/VN/VND'), 'each minute, never sent')
  world.railInstructions.length = 0
  await world.rebuild()
  await resume(world, 'rail viet')
  await world.fireTimers(60_000)
  await notFound()
  await world.fireTimers(60_000)
  const goesOn = ['query', 'instruct', 'query'].map((kind) => `${kind} viet sandbox/VN/VND`)
  t.same(routesOf(world.railInstructions), goesOn, 'as after a submission')
  await reported(world, 'viet', executed(id))
  t.match(await see(world, id), COMPLETED)
})

t.test('what is captured is recalled during a pause', async (t) => {
  const world = await begin(t, VIET, THAI)
  const intent = await intentAt(world, captured)
  await pause(world, 'rail sandbox')
  await intent.refund()
  await world.fireTimers(60_000)
  t.same(routesOf(world.railInstructions).slice(1), [
    'recall sandbox sandbox/th_promptpay',
    'recall sandbox sandbox/th_promptpay',
  ])
})

t.test('pauses are listed, of what exists', async (t) => {
  const world = await begin(t, VIET, THAI)
  const unknown = ['rail gone', 'rail', 'corridor x', 'environment test', 'all', '']
  for (const subject of [...unknown, 'rail viet viet']) {
    t.equal(codeOf(await pause(world, subject)), 'invalid_request', subject)
  }
  await pause(world, 'rail viet')
  world.clock.pass(1_000)
  await pause(world, 'rail viet')
  const list = async () => viewOf<{ data: object[] }>(await world.run(listSubmissionPauses())).data
  const shown = { subject: 'rail viet', actor: 'ann', paused_at: '2026-11-21T03:00:00.000Z' }
  t.match(await list(), [shown])
  t.match(viewOf<{ rails: object[] }>(await world.run(listRoutes())).rails, [
    { route: 'sandbox/TH/THB', state: 'up' },
    { route: 'sandbox/VN/VND', state: 'paused' },
    { route: 'sandbox/th_promptpay', state: 'up' },
  ])
  await resume(world, 'rail viet')
  await world.rebuild()
  t.same(await list(), [])
  t.match(await operatorLog(t), [
    ...[{ action: 'pause_submissions', subject: 'rail viet' }, { action: 'pause_submissions' }],
    { action: 'resume_submissions', actor: 'ann', reason: 'a test' },
  ])
})

t.test('a report from another rail is a discrepancy and is not applied', async (t) => {
  const world = await begin(t, VIET, THAI)
  const { id } = await pay(world)
  await reported(world, 'sandbox', executed(id))
  t.match(await see(world, id), { status: 'processing' })
  t.match(await discrepanciesOf(world), [{ entity: id, reason: 'other_rail' }])
  t.match(world.railInstructions.at(-1), { kind: 'acknowledge' }, 'it is not repeated for ever')
  await reported(world, 'viet', executed(id, { rail: 'sandbox' }))
  t.match(await see(world, id), { status: 'processing' }, "about another rail's instruction")
  await reported(world, 'viet', executed(id))
  t.match(await see(world, id), COMPLETED)
  const { data } = viewOf<MovementsView>(await read(world, railMovementsOf([id])))
  const booked = data.map(({ movement, rail }) => `${movement} ${rail}`)
  t.same(booked, ['executed sandbox', 'executed viet'], 'by the rail that reported it')
})

t.test('the booking of an intent is of the rail of its route', async (t) => {
  const world = await begin(t, VIET, { ...THAI, name: 'thai' })
  const { id, ...intent } = await intentAt(world, authorized)
  const paid = { amount: 36_000n, currency: 'THB', destinationAccount: '0066812345678' }
  const report = { status: 'executed', id, reportId: 'report', transactionId: 'TX1', ...paid }
  await reported(world, 'thai', report as RailReport)
  t.match(await intent.see(), { status: 'captured' })
  const { data } = viewOf<MovementsView>(await read(world, railMovementsOf([id])))
  t.match(data, [{ movement: 'executed', rail: 'thai' }])
})

t.test('a rail that is down stops new payouts on its routes only', async (t) => {
  const world = await begin(t, VIET, THAI)
  world.downRails.set('viet', OUTAGE_MS)
  const waiting = await pay(world)
  t.match(waiting, { status: 'processing' }, 'a short outage is waited for')
  world.downRails.set('viet', OUTAGE_MS + 1)
  t.equal(codeOf(await tryPay(world)), 'rail_unavailable')
  await intentAt(world, authorized)
  const sent = routesOf(world.railInstructions)
  t.same(sent, ['instruct sandbox sandbox/th_promptpay'], 'the other one does not notice')
  world.downRails.clear()
  await inquireLater(world, waiting.id)
  t.same(routesOf(world.railInstructions).slice(1), ['instruct viet sandbox/VN/VND'])
})

t.test('while its rail is down an intent is refused by its confirmation only', async (t) => {
  const world = await begin(t, VIET, THAI)
  world.downRails.set('sandbox', OUTAGE_MS + 1)
  const intent = await intentAt(world, scanned)
  const key = { idempotency_key: 'confirmed once' }
  t.equal(codeOf(await intent.confirm(key)), 'configuration_error')
  t.match(await intent.see(), { status: 'created' })
  world.downRails.clear()
  t.equal(codeOf(await intent.confirm(key)), 'ok', 'neither token nor key was consumed')
})

t.test('a route that no rail carries', async (t) => {
  const world = await begin(t, railNamed('bank', { payouts: ['ID/IDR'] }))
  t.equal(codeOf(await tryPay(world)), 'rail_unavailable')
  const intent = await intentAt(world, scanned)
  t.equal(codeOf(await intent.confirm()), 'configuration_error')
})

t.test(
  'a payment from before the rails had names stays on the only rail of that time',
  async (t) => {
    const world = await begin(t, VIET, THAI)
    const { id } = await pay(world)
    const live = world.memory().payouts.get(id)!
    const { rail, ...former } = live.context
    t.equal(rail, 'viet', 'the first rail of the file has the route now')
    live.context = former
    await inquireLater(world, id)
    await reported(world, 'viet', executed(id, { status: 'not_found' }))
    t.match(await discrepanciesOf(world), [{ entity: id, reason: 'other_rail' }])
    await reported(world, 'sandbox', executed(id, { status: 'not_found' }))
    t.same(routesOf(world.railInstructions).slice(1), [
      'query sandbox sandbox/VN/VND',
      'instruct sandbox sandbox/VN/VND',
    ])
    await reported(world, 'sandbox', executed(id))
    t.match(await see(world, id), COMPLETED)
  },
)
