/**
 * A rail's statement held against our books, for a period.
 *
 * Owns: the order of things. Does not own: reading either side (statement, and whoever gives the
 * books), the comparison (compare), what is written of it (findings_csv).
 *
 * - A line of the statement belongs to the period by the rail's time, a booking by ours. We book
 *   after the rail has moved: so lines of the period are looked for in all our books, and
 *   bookings of the period in the whole file. A file that begins a day before the period leaves
 *   no booking without its line.
 * - Every line of the file is counted: as good, as bad, or as outside the period.
 * - Memory is bounded, however long either side is.
 */
import { INSTRUCTIONS_REQUESTED_MAX } from '../base/constants.js'
import { compare, type Finding, type Sides } from './compare.js'
import { isIn, type BookedMovement, type Period } from './movement.js'
import type { BadLine, StatementFile } from './statement.js'
import { createTally, type Tally } from './tally.js'
import type { Workbook } from './workbook.js'

/** Our books, wherever they are. */
export interface BookedSource {
  /** Booked in the period. */
  during(period: Period): AsyncIterable<readonly BookedMovement[]>
  /** Booked of these instructions at any time; at most INSTRUCTIONS_REQUESTED_MAX of them. */
  of(instructions: readonly string[]): Promise<readonly BookedMovement[]>
}

export interface Reconciliation {
  readonly period: Period
  readonly statement: StatementFile
  readonly books: BookedSource
  readonly workbook: Workbook
  /** Told of all but what is matched, one after another. */
  tell(finding: Finding | BadLine): Promise<void>
}

export interface Outcome {
  readonly tally: Tally
  readonly lines: {
    readonly good: number
    readonly bad: number
    /** Good ones that are not of the period. */
    readonly outside: number
  }
}

export async function reconcile(reconciliation: Reconciliation): Promise<Outcome> {
  const { period, books, workbook, tell } = reconciliation
  const lines = await takeStatement(reconciliation)
  for await (const bookings of books.during(period)) await workbook.addBooked(bookings)

  const tally = createTally(period)
  for await (const page of workbook.pages()) {
    const completed = await withOtherDays(page, period, books)
    for (const sides of completed.values()) {
      for (const finding of compare(sides, period)) {
        tally.add(finding)
        if (finding.status !== 'matched') await tell(finding)
      }
    }
  }
  return { tally, lines }
}

const LINES_AT_ONCE = 2_000

async function takeStatement(reconciliation: Reconciliation): Promise<Outcome['lines']> {
  const { period, statement, workbook, tell } = reconciliation
  const counted = { good: 0, bad: 0, outside: 0 }
  let waiting = []
  for await (const read of statement.lines()) {
    if ('bad' in read) {
      counted.bad += 1
      await tell(read.bad)
      continue
    }
    counted.good += 1
    if (!isIn(period, read.good.at)) counted.outside += 1
    waiting.push(read.good)
    if (waiting.length < LINES_AT_ONCE) continue
    await workbook.addStated(waiting)
    waiting = []
  }
  await workbook.addStated(waiting)
  return counted
}

/** With what we booked on other days of those whose lines have found no partner yet. */
async function withOtherDays(
  page: ReadonlyMap<string, Sides>,
  period: Period,
  books: BookedSource,
): Promise<ReadonlyMap<string, Sides>> {
  const asked = [...page]
    .filter(([, sides]) => compare(sides, period).some(isUnmatchedLine))
    .map(([instruction]) => instruction)
  const completed = new Map(page)
  for (let start = 0; start < asked.length; start += INSTRUCTIONS_REQUESTED_MAX) {
    const some = asked.slice(start, start + INSTRUCTIONS_REQUESTED_MAX)
    const found = await books.of(some)
    for (const instruction of some) {
      const booked = found.filter((booking) => booking.instruction === instruction)
      completed.set(instruction, { stated: page.get(instruction)?.stated ?? [], booked })
    }
  }
  return completed
}

const isUnmatchedLine = ({ status }: Finding): boolean =>
  status === 'missing_here' || status === 'different'
