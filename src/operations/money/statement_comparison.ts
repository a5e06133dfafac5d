/**
 * Compares a bank statement with the ledger on behalf of an operator: the CLI and the console.
 *
 * - Nothing is reported before the file is recognized as a statement.
 * - The action log has who compared which file, for which period, and the outcome.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DAY, instant, plus, type Clock, type Instant } from '../../base/clock.js'
import { EVIDENCE_MAX } from '../../base/constants.js'
import { parseDateTime } from '../../base/date_time.js'
import type { Finding, Status } from '../../reconciliation/compare.js'
import type { Period } from '../../reconciliation/movement.js'
import { reconcile, type ReconciliationOutcome } from '../../reconciliation/reconcile.js'
import {
  NoStatement,
  openStatement,
  type BadLine,
  type StatementFile,
} from '../../reconciliation/statement.js'
import { STATUSES } from '../../reconciliation/totals.js'
import { openWorkbook } from '../../reconciliation/workbook.js'
import type { Actor } from '../cli/actor.js'
import type { Flags } from '../cli/options.js'
import type { OperatorAccess } from '../calls/calls.js'
import { CommandFault } from '../calls/command_fault.js'
import { connectReconciliation } from './reconciliation_client.js'

/** Who compares, and how the processors are reached. */
export interface Operation {
  readonly access: OperatorAccess
  readonly actor: Actor
  readonly clock: Clock
}

export function statementAt(file: string): StatementFile {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFault(`${file} does not exist.`)
  if (found.isDirectory()) throw new CommandFault(`${file} is a folder, not a statement.`)
  return openStatement(file)
}

/**
 * Compares the statement with the ledger and records the outcome in the action log.
 *
 * @param rail whose statement it is; undefined means that it has the lines of all rails
 */
export async function compareStatement(
  { access, actor, clock }: Operation,
  period: Period,
  statement: StatementFile,
  findings: Findings,
  rail?: string,
): Promise<ReconciliationOutcome> {
  const books = connectReconciliation(access, actor, clock, rail)
  const folder = await mkdtemp(join(tmpdir(), 'causeway-reconcile-'))
  try {
    const workbook = await openWorkbook(join(folder, 'workbook.db'))
    const outcome = await reconcile({
      ...{ period, statement, books, workbook },
      onFinding: (finding) => findings.add(finding),
    })
      .catch((error: unknown) => {
        if (!(error instanceof NoStatement)) throw error
        throw new CommandFault(`${statement.file}: ${error.message}`)
      })
      .finally(() => workbook.close())
    await findings.close()
    const name = statementName(statement) + (rail === undefined ? '' : `, rail ${rail}`)
    await books.conclude({
      from: String(period.from),
      to: String(period.to),
      statement: name,
      outcome: loggedOutcome(outcome, name),
    })
    return outcome
  } finally {
    books.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Without the sums when those of many currencies do not fit into the action log. */
function loggedOutcome(outcome: ReconciliationOutcome, statement: string): string {
  const { sums, ...counted } = valueOf(outcome)
  const whole = JSON.stringify({ ...counted, sums })
  return `${statement}: ${whole}`.length <= EVIDENCE_MAX ? whole : JSON.stringify(counted)
}

export interface Findings {
  add(finding: Finding | BadLine): Promise<void>
  close(): Promise<void>
}

/** A day is its start in UTC; a timestamp needs an offset. */
export function momentIn(name: string, text: string | undefined): Instant {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text ?? '')
  const at = parseDateTime(isDay ? `${text}T00:00Z` : (text ?? ''))
  if (at === undefined || at.ms < 0)
    throw new CommandFault(`This needs --${name} DAY, e.g. 2026-11-21.`)
  return instant(at.ms)
}

/** One day without `until`. @throws CommandFault unless they are days or timestamps in order */
export function periodIn({ from, until }: Pick<Flags, 'from' | 'until'>): Period {
  const begin = momentIn('from', from)
  const end = until === undefined ? plus(begin, DAY) : momentIn('until', until)
  if (end <= begin) throw new CommandFault('--until must be later than --from.')
  return { from: begin, to: end }
}

const MISMATCHES = ['different', 'missing_here', 'missing_there'] as const

/** Name and SHA-256 of a statement, once it is read. */
export const statementName = (statement: StatementFile): string =>
  `${basename(statement.file)} sha256 ${statement.digest()}`

export const isClean = ({ totals, lines }: ReconciliationOutcome): boolean =>
  lines.bad === 0 && MISMATCHES.every((status) => totals.count(status) === 0)

interface SideView {
  readonly lines: number
  readonly amount: string
}

/** Amounts are minor units: executed minus returned. */
export interface OutcomeView {
  readonly clean: boolean
  readonly lines: ReconciliationOutcome['lines']
  readonly counts: Readonly<Record<string, number>>
  readonly sums: readonly {
    readonly currency: string
    readonly status: Status
    readonly stated: SideView
    readonly booked: SideView
  }[]
}

export function valueOf(outcome: ReconciliationOutcome): OutcomeView {
  const { totals, lines } = outcome
  return {
    clean: isClean(outcome),
    lines,
    counts: Object.fromEntries(STATUSES.map((status) => [status, totals.count(status)])),
    sums: totals.rows().map(({ currency, status, stated, booked }) => ({
      currency,
      status,
      stated: { lines: stated.lines, amount: stated.amount.toString() },
      booked: { lines: booked.lines, amount: booked.amount.toString() },
    })),
  }
}
