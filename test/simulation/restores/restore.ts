/**
 * Restores: the books are set back to an earlier copy, while the rail, the bus, the pool, the
 * partners and their users keep what they know.
 *
 * Does not own: what the operator does then (operator).
 */
import assert from 'node:assert/strict'
import { MINUTE } from '../../../src/base/clock.js'
import { afterRestart, passTime } from '../actions.js'
import type { Row } from '../invariant_checker.js'
import type { SimulationContext } from '../simulation_context.js'

/** Until the loss is noticed and a copy is in place. */
const TAKES_MS = 10 * MINUTE

export async function copyBooks({ copies, trace }: SimulationContext): Promise<void> {
  await copies.make()
  trace.add('books copied')
}

export async function restoreBooks(simulation: SimulationContext): Promise<void> {
  const { copies, lost, processors, checker, rail, workload, stops, trace } = simulation
  const before = await checker.rows()
  lost.remember(before)
  const { confirmed } = await checker.restoredTables()
  const { newer, copy } = copies.choose(simulation.restoreRandom)
  trace.add(`restored, copies that are newer: ${newer}`)
  passTime(simulation, TAKES_MS)

  const isBehind = await processors.recovery.restore(() =>
    checker.whileClosed(() => copies.restore(copy)),
  )
  const rows = await checker.rows()
  const submitted = submittedOf(rows)
  const missing = await checker.missingEvents(lost.published())
  const events = missing.filter((id) => !lost.events.has(id))
  const instructions = [...submittedOf(before)].filter((id) => !submitted.has(id))
  const kept = (await checker.events()).map(({ id }) => id)
  lost.add(events, instructions, kept)
  if (events.length + instructions.length > 0) {
    assert.ok(isBehind, 'books that have lost something are behind')
    trace.count('restored with a loss')
  }
  if (instructions.some((id) => rail.entries.has(id))) trace.count('restored without instructions')

  workload.restored({ ...(await checker.restoredTables()), confirmed, rows })
  stops.restored()
  simulation.nonces.length = 0
  const known = await checker.discrepancies()
  for (const id of simulation.mismatched) if (!known.has(id)) simulation.mismatched.delete(id)
  simulation.restoreOperator.onRestored()
  await afterRestart(simulation, 'restored')
}

const submittedOf = (rows: readonly Row[]): ReadonlySet<string> =>
  new Set(rows.flatMap(({ id, submittedAt }) => (submittedAt === null ? [] : id)))
