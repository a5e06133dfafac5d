/**
 * The end of a run: faults have stopped, every entity reaches its final state, and the final checks
 * run.
 *
 * Does not own: single actions (actions).
 */
import assert from 'node:assert/strict'
import { DAY } from '../../src/base/clock.js'
import type { Entry } from '../../src/rails/adapter/entry.js'
import { OVER, PAID } from '../support/lifecycle.js'
import {
  call,
  callOfOperator,
  runStep,
  receiveReport,
  checkDisk,
  passTime,
  settleDelivered,
  setBus,
  setRail,
  settle,
} from './actions.js'
import { endRecall } from './calls.js'
import { checkDelivered, restoredState, type Row } from './invariant_checker.js'
import type { OperatorStop } from './operator_stops.js'
import type { SimulationContext } from './simulation_context.js'

/** After this time an operator resolves a payment without an outcome. */
const RESOLVED_AFTER_MS = 2 * DAY
const ANSWERED_MS = 1_000
const ROUNDS_MAX = 2_000

/** Runs with a working rail and bus until every entity is final. */
export async function runToEnd(simulation: SimulationContext): Promise<void> {
  const { rail, bus, processors, checker, restoreOperator } = simulation
  const { clock } = processors
  simulation.stopFaults()
  await settle(simulation)
  if (!rail.isUp) setRail(simulation, true)
  if (!bus.isUp) await setBus(simulation, true)
  await endRecovery(simulation)
  await endStops(simulation)
  await repeatLost(simulation)
  restoreOperator.onEnding()
  const resolveAfter = clock.now() + RESOLVED_AFTER_MS
  let before = -Infinity
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (restoreOperator.hasWork()) await restoreOperator.act(simulation)
    await runPending(simulation)
    const next = Math.min(rail.nextDueAt() ?? Infinity, (await checker.nextDueAt()) ?? Infinity)
    const isAnswered =
      processors.inFlight() === 0 && bus.unreported().length === 0 && !restoreOperator.hasWork()
    if (next === Infinity && isAnswered) return
    // What is not answered, or stays due, waits for a commit, which ends when time passes.
    const waits = !isAnswered || (next === before && next <= clock.now())
    before = next
    passTime(simulation, waits ? ANSWERED_MS : Math.max(0, next - clock.now()))
    if (clock.now() > resolveAfter) await resolveOpen(simulation)
    rail.work()
    const pause = processors.waiting().indexOf('pause')
    if (pause >= 0) await runStep(simulation, pause)
  }
  assert.fail('the run does not become idle')
}

/** The operator releases the restored books. */
async function endRecovery(simulation: SimulationContext): Promise<void> {
  const { processors, rail, restoreOperator } = simulation
  for (let round = 0; processors.recovery.isActive(); round++) {
    assert.ok(round < ROUNDS_MAX, 'restored books are released')
    await restoreOperator.act(simulation)
    await runPending(simulation)
    passTime(simulation, ANSWERED_MS)
    rail.work()
  }
}

/** Partners repeat what was lost. */
async function repeatLost(simulation: SimulationContext): Promise<void> {
  const { workload } = simulation
  while (workload.lost.length > 0) {
    call(simulation, workload.repeatLost())
    await runPending(simulation)
    passTime(simulation, ANSWERED_MS)
  }
}

/** Operators let everything go on. */
async function endStops(simulation: SimulationContext): Promise<void> {
  const held = (): readonly OperatorStop[] => simulation.stops.all.filter(({ mayHold }) => mayHold)
  for (let round = 0; held().length > 0; round++) {
    assert.ok(round < ROUNDS_MAX, 'operators end what they have stopped')
    for (const stop of held()) callOfOperator(simulation, stop.end())
    await runPending(simulation)
    passTime(simulation, ANSWERED_MS)
  }
}

/** Runs until no step is pending at this time. */
async function runPending(simulation: SimulationContext): Promise<void> {
  const { rail, bus, processors } = simulation
  let reported = ''
  for (;;) {
    const index = processors.waiting().findIndex((what) => what !== 'pause')
    if (index >= 0) await runStep(simulation, index)
    else if (rail.instructions() > 0) rail.receive()
    else if (rail.reports() > 0) receiveReport(simulation)
    else if (bus.inFlight() > 0) bus.deliver()
    else if (bus.unreported().length > 0 && reported !== bus.unreported().join()) {
      reported = bus.unreported().join()
      settleDelivered(simulation)
    } else return
  }
}

/**
 * An operator resolves payouts without an outcome, and recalls for which the rail returned another
 * execution than the known one: that return is a discrepancy, and the recall is not answered.
 */
async function resolveOpen(simulation: SimulationContext): Promise<void> {
  const { checker, rail, workload } = simulation
  for (const { id, state, recalled } of await checker.openRows()) {
    if (state === 'processing') call(simulation, workload.settle(id))
    if (state === 'captured' && recalled === 1 && rail.falselyReported.has(id))
      call(simulation, endRecall(id))
  }
}

export async function checkEnd(simulation: SimulationContext): Promise<void> {
  const { workload, checker, rail, processors, bus, lost } = simulation
  await checker.checkAcknowledged(workload)
  const rows = await checker.rows()
  lost.remember(rows)
  lost.checkPaidOnce(rail)
  const orphans = await checker.orphans()
  lost.checkRecorded(rail, orphans, rows)
  lost.checkAccepted(await checker.acceptedLosses())
  const matched = new Map(orphans.map(({ instruction, matchedTo }) => [matchedTo, instruction]))
  const isOrphan = new Set(orphans.map(({ instruction }) => instruction))
  for (const row of rows) {
    const { id, state } = row
    assert.ok([...OVER, ...PAID].includes(state), `${id} is final, not ${state}`)
    const instruction = matched.get(id) ?? id
    if (workload.resolvedByOperator.has(id) || rail.falselyReported.has(instruction)) continue
    const entry = rail.entries.get(instruction)
    // An execution of the payment's own that was dismissed belongs to none, nor does one of lost
    // books whose money is back.
    const isDismissed = isOrphan.has(id) && !matched.has(id)
    const isBack = entry?.state === 'returned' && lost.instructions.has(id)
    if (!isDismissed && !isBack) checkPaid(row, entry)
  }
  const [memory] = processors.memories()
  assert.ok(memory !== undefined, 'a processor serves')
  const before = restoredState(memory)
  const restored = restoredState(await processors.restart())
  assert.deepEqual(restored, before, 'a restart changes nothing')
  await checkDelivered(checker, bus, lost)
  const known = await checker.discrepancies()
  for (const id of simulation.mismatched)
    assert.ok(known.has(id), `${id} has a recorded discrepancy`)
  await checkDisk(simulation, true, true)
}

/** The bank's journal matches the books; a submitted payment fails only by the bank's report. */
function checkPaid({ id, state, submittedAt, wasHeld }: Row, entry: Entry | undefined): void {
  assert.equal(entry?.executions ?? 0, PAID.includes(state) ? 1 : 0, `${id} is ${state}`)
  // A reviewer rejects one that the rail does not have, instead of its second submission.
  const isRejected = wasHeld === 1 && entry === undefined
  if (state === 'failed' && submittedAt !== null && !isRejected)
    assert.equal(entry?.state, 'refused', id)
}
