/** Both sides of a reconciliation for tests: a statement file and a list of bookings. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { csvLine } from '../../src/base/csv.js'
import { instant, toRfc3339 } from '../../src/base/clock.js'
import type { MovementKind } from '../../src/base/movements.js'
import type { Finding } from '../../src/reconciliation/compare.js'
import { isIn, type BookedMovement, type Period } from '../../src/reconciliation/movement.js'
import { reconcile, type ReconciliationOutcome } from '../../src/reconciliation/reconcile.js'
import {
  openStatement,
  STATEMENT_COLUMNS,
  type BadLine,
} from '../../src/reconciliation/statement.js'
import { openWorkbook } from '../../src/reconciliation/workbook.js'

export const DAY_1 = Date.UTC(2026, 10, 21)
export const PERIOD: Period = { from: instant(DAY_1), to: instant(DAY_1 + 86_400_000) }

export interface Moved {
  readonly instruction: string
  readonly movement: MovementKind
  readonly currency: string
  readonly amount: bigint
  readonly at: number
}

export const stated = ({ instruction, movement, currency, amount, at }: Moved): string =>
  csvLine([...[toRfc3339(instant(at)), 'TX', instruction, movement, currency], amount.toString()])

let bookings = 0
export function booked(moved: Moved, undone = false): BookedMovement {
  bookings += 1
  return { ...moved, id: String(bookings), at: instant(moved.at), undone }
}

export interface Reconciled extends ReconciliationOutcome {
  readonly findings: readonly Finding[]
  readonly badLines: readonly BadLine[]
}

let files = 0
export async function reconciled(
  t: Test,
  lines: readonly string[],
  books: readonly BookedMovement[],
): Promise<Reconciled> {
  files += 1
  const file = join(t.testdirName, `${files}.csv`)
  writeFileSync(file, csvLine([...STATEMENT_COLUMNS]) + lines.join(''))
  const workbook = await openWorkbook(join(t.testdirName, `${files}.db`))
  const findings: Finding[] = []
  const badLines: BadLine[] = []
  let isTelling = false
  const outcome = await reconcile({
    period: PERIOD,
    statement: openStatement(file),
    workbook,
    books: {
      during: async function* (period) {
        yield books.filter(({ at }) => isIn(period, at))
      },
      of: async (instructions) => books.filter((one) => instructions.includes(one.instruction)),
    },
    // As when each is written to a file: one at a time, and all before the end.
    onFinding: async (finding) => {
      if (isTelling) throw new Error('two findings at a time')
      isTelling = true
      await new Promise((resolve) => setImmediate(resolve))
      isTelling = false
      if ('fault' in finding) badLines.push(finding)
      else findings.push(finding)
    },
  })
  await workbook.close()
  return { ...outcome, findings, badLines }
}

/** Findings as sorted texts, e.g. `different pout_1 amount`. */
export const inWords = (findings: readonly Finding[]): string[] =>
  findings
    .map((finding) => {
      const about = 'stated' in finding ? finding.stated : finding.booked
      const differs = 'differs' in finding ? ` ${finding.differs.join(' ')}` : ''
      return `${finding.status} ${about.instruction} ${about.movement}${differs}`
    })
    .sort()
