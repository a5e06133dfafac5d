/** Booked rail movements: each exactly once, in pages, with its instruction. */
import { noteAction } from '../../src/processor/commands/operators/action_note.js'
import { resolveDiscrepancy } from '../../src/processor/commands/rail_reports/discrepancy_resolve.js'
import { applyRailReport } from '../../src/processor/commands/rail_reports/rail_report_apply.js'
import {
  MOVEMENTS_OF_A_PAGE,
  railMovements,
  railMovementsOf,
  type MovementsView,
} from '../../src/processor/queries/rail_movements.js'
import { codeOf, viewOf, type World } from '../support/world.js'
import { execution, LOST, resolve, restored } from './recovery/orphans.js'
import {
  accountOf,
  discrepanciesOf,
  executed,
  OPERATOR,
  operatorLogOf,
  pay,
  read,
  runOnBothStores,
} from './scenarios.js'

const EVIDENCE = 'statement of 21 November, line 4'

async function booked(world: World, from = 0, to = Number.MAX_SAFE_INTEGER) {
  const found = []
  let after: MovementsView['next'] = { at: from, posting: -1 }
  while (after !== null) {
    const page: MovementsView = viewOf(await read(world, railMovements(after, to)))
    found.push(...page.data)
    after = page.next
  }
  return found
}

const of = async (world: World, ...ids: string[]) =>
  viewOf<MovementsView>(await read(world, railMovementsOf(ids))).data

runOnBothStores({
  'executions and returns of payouts and discrepancies': async (t, world) => {
    const { id } = await pay(world)
    const beganAt = world.clock.now()
    await world.railReports(executed(id))
    world.clock.pass(10)
    await world.railReports(executed(id, { transactionId: 'TX2', amount: 5n, reportId: 'odd' }))
    world.clock.pass(10)
    await world.railReports(executed(id, { status: 'returned', reportId: 'back' }))
    const [mismatch] = await discrepanciesOf(world)
    world.clock.pass(10)
    const resolution = { settlement: 'undo', evidence: EVIDENCE }
    viewOf(await world.run(resolveDiscrepancy(OPERATOR, mismatch!.id, resolution)))

    const all = await booked(world)
    t.match(all, [
      { movement: 'executed', amount: '12500000', undone: false, booked_at: String(beganAt) },
      { movement: 'executed', amount: '5', undone: true },
      { movement: 'returned', amount: '12500000', undone: false },
      { movement: 'returned', amount: '5', undone: true },
    ])
    t.ok(all.every(({ instruction_id }) => instruction_id === id))
    t.same(await of(world, id), all)
    const second = await booked(world, beganAt + 10, beganAt + 20)
    t.same(second, all.slice(1, 2), 'the end of the period is excluded')
    t.same(await of(world, 'pout_none'), [])
    t.equal(await accountOf(world, 'rail_clearing'), '0')
  },

  'of a payment that an orphan execution is matched to': async (t, world) => {
    await restored(world, execution())
    const { id } = await pay(world)
    viewOf(await resolve(world, 'pout_lost', id))
    world.clock.pass(10)
    await world.railReports({ ...LOST, status: 'returned' })
    world.clock.pass(10)
    const own = { id: id as never, reportId: 'own', transactionId: 'TX8' }
    await world.railReports({ ...LOST, ...own, status: 'executed' })

    const all = await booked(world)
    t.match(all, [
      { movement: 'executed', instruction_id: 'pout_lost', amount: '12500000' },
      { movement: 'returned', instruction_id: 'pout_lost', amount: '12500000' },
      { movement: 'executed', instruction_id: id, amount: '12500000' },
    ])
    t.same(await of(world, 'pout_lost'), all.slice(0, 2), 'as the statement of the rail has it')
    t.same(await of(world, id, 'pout_lost'), all)
  },

  'a settlement toward the partner is no rail movement': async (t, world) => {
    const { id } = await pay(world)
    await world.railReports(executed(id, { amount: 5n }))
    const before = await booked(world)
    const [mismatch] = await discrepanciesOf(world)
    const resolution = { settlement: 'charge_partner', evidence: EVIDENCE }
    viewOf(await world.run(resolveDiscrepancy(OPERATOR, mismatch!.id, resolution)))
    t.same(await booked(world), before)
    t.match(before, [{ amount: '5', undone: false }])
  },

  'invalid requests are refused, notes are logged': async (t, world) => {
    const many = Array.from({ length: 501 }, String)
    for (const ids of [[], many]) {
      t.equal(codeOf(await read(world, railMovementsOf(ids))), 'invalid_request')
    }
    const note = { action: 'reconcile', subject: 'a day', evidence: ' ' }
    t.equal(codeOf(await world.run(noteAction(OPERATOR, note))), 'invalid_request')
    viewOf(await world.run(noteAction(OPERATOR, { ...note, evidence: 'no differences' })))
    t.match(await operatorLogOf(t, 'a day'), [{ actor: 'ann', action: 'reconcile' }])
  },

  'more movements than fit a page': async (t, world) => {
    const { id } = await pay(world)
    const reports = Array.from({ length: MOVEMENTS_OF_A_PAGE + 1 }, (_, i) =>
      executed(id, { amount: BigInt(i + 1), transactionId: `TX${i}` }),
    )
    await world.runAll(reports.map((report) => applyRailReport(report, 0)))
    const amounts = (await booked(world)).map(({ amount }) => Number(amount))
    const all = reports.map((_, i) => i + 1)
    t.same(amounts, all)
  },
})
