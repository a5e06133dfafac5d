/** The last reconciliation of an operator, kept in memory with the session. */
import type { Instant } from '../../base/clock.js'
import type { OutcomeView } from '../../operations/money/statement_comparison.js'
import type { Finding } from '../../reconciliation/compare.js'
import type { BadLine } from '../../reconciliation/statement.js'

export interface StatementRun {
  readonly file: string
  readonly from: Instant
  readonly to: Instant
  readonly outcome: OutcomeView
  /** The first of those that do not match. */
  readonly findings: readonly (Finding | BadLine)[]
  /** All findings as CSV, as far as they fit. */
  readonly csv: string
  /** Findings that did not fit. */
  readonly left: number
}
