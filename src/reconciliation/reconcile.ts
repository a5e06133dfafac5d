/**
 * Reconciles a rail's statement with the ledger for a period.
 *
 * Owns: the sequence of steps. Does not own: reading either side (statement, BookedSource), the
 * comparison (compare), the CSV output (findings_csv).
 *
 * - A statement line belongs to the period by the rail's time, a booking by ours. A booking follows
 *   the rail's movement, so lines of the period are compared with the bookings of all days, and
 *   bookings of the period with the whole file. A file that begins a day before the period leaves
 *   no booking without its line.
 * - Every line of the file is counted: as good, as bad, or as outside the period. A line of an
 *   accepted instruction is no movement; it is counted and not compared.
 * - Memory is bounded, whatever the size of either side.
 */
import { INSTRUCTIONS_REQUESTED_MAX } from '../base/constants.js'
import { compare, type Finding, type Sides } from './compare.js'
import { isIn, type BookedMovement, type Period } from './movement.js'
import type { BadLine, StatementFile } from './statement.js'
import { createTotals, type Totals } from './totals.js'
import type { Workbook } from './workbook.js'

/** The ledger's bookings on the rail's account. */
export interface BookedSource {
  /** Bookings of the period. */
  during(period: Period): AsyncIterable<readonly BookedMovement[]>
  /** Bookings of at most INSTRUCTIONS_REQUESTED_MAX instructions, at any time. */
  of(instructions: readonly string[]): Promise<readonly BookedMovement[]>
}

export interface Reconciliation {
  readonly period: Period
  readonly statement: StatementFile
  readonly books: BookedSource
  readonly workbook: Workbook
  /** Called for each finding that is not `matched`, one at a time. */
  onFinding(finding: Finding | BadLine): Promise<void>
}

export interface ReconciliationOutcome {
  readonly totals: Totals
  readonly lines: {
    readonly good: number
    /** Instructions that the rail has accepted and not executed. */
    readonly accepted: number
    readonly bad: number
    /** Good lines outside the period. */
    readonly outside: number
  }
}

export async function reconcile(reconciliation: Reconciliation): Promise<ReconciliationOutcome> {
  const { period, books, workbook, onFinding } = reconciliation
  const lines = await loadStatement(reconciliation)
  for await (const bookings of books.during(period)) await workbook.addBooked(bookings)

  const totals = createTotals(period)
  for await (const page of workbook.pages()) {
    const completed = await withOtherDays(page, period, books)
    for (const sides of completed.values()) {
      for (const finding of compare(sides, period)) {
        totals.add(finding)
        if (finding.status !== 'matched') await onFinding(finding)
      }
    }
  }
  return { totals, lines }
}

const BATCH_LINES = 2_000

async function loadStatement(
  reconciliation: Reconciliation,
): Promise<ReconciliationOutcome['lines']> {
  const { period, statement, workbook, onFinding } = reconciliation
  const counted = { good: 0, accepted: 0, bad: 0, outside: 0 }
  let batch = []
  for await (const read of statement.lines()) {
    if ('bad' in read) {
      counted.bad += 1
      await onFinding(read.bad)
      continue
    }
    if ('accepted' in read) {
      counted.accepted += 1
      continue
    }
    counted.good += 1
    if (!isIn(period, read.good.at)) counted.outside += 1
    batch.push(read.good)
    if (batch.length < BATCH_LINES) continue
    await workbook.addStated(batch)
    batch = []
  }
  await workbook.addStated(batch)
  return counted
}

/** Adds the bookings of other days for instructions with unmatched lines. */
async function withOtherDays(
  page: ReadonlyMap<string, Sides>,
  period: Period,
  books: BookedSource,
): Promise<ReadonlyMap<string, Sides>> {
  const unmatched = [...page]
    .filter(([, sides]) => compare(sides, period).some(isUnmatchedLine))
    .map(([instruction]) => instruction)
  const completed = new Map(page)
  for (let start = 0; start < unmatched.length; start += INSTRUCTIONS_REQUESTED_MAX) {
    const instructions = unmatched.slice(start, start + INSTRUCTIONS_REQUESTED_MAX)
    const found = await books.of(instructions)
    for (const instruction of instructions) {
      const booked = found.filter((booking) => booking.instruction === instruction)
      completed.set(instruction, { stated: page.get(instruction)?.stated ?? [], booked })
    }
  }
  return completed
}

const isUnmatchedLine = ({ status }: Finding): boolean =>
  status === 'missing_here' || status === 'different'
