/**
 * `reconcile`: compares a bank statement with the ledger (src/reconciliation).
 *
 * - Findings go to `--out FILE`, or to standard output with the report on standard error. Nothing
 *   is written before the file is recognized as a statement.
 * - The exit code is 1 when an entry does not match or a line cannot be read.
 */
import { once } from 'node:events'
import { createWriteStream, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { DAY, instant, plus, type Instant } from '../base/clock.js'
import { FINDINGS_HEAD, findingLine } from '../reconciliation/findings_csv.js'
import type { Finding } from '../reconciliation/compare.js'
import type { Period } from '../reconciliation/movement.js'
import { reconcile, type ReconciliationOutcome } from '../reconciliation/reconcile.js'
import {
  NoStatement,
  openStatement,
  type BadLine,
  type StatementFile,
} from '../reconciliation/statement.js'
import { STATUSES } from '../reconciliation/totals.js'
import { openWorkbook } from '../reconciliation/workbook.js'
import { actorOf, CHANGE } from './actor.js'
import { formatWireAmount } from './amounts.js'
import { CommandFault, type CliCommand, type Context, type Report } from './command.js'
import type { Flags } from './options.js'
import { connectReconciliation } from './reconciliation_client.js'
import { table } from './terminal.js'

export const reconcileStatement: CliCommand = {
  usage: 'reconcile FILE',
  about: "reconcile a rail's statement with the ledger",
  options: [...CHANGE, 'from', 'to', 'out'],
  run: async (context, [file = '']) => {
    const { flags } = context
    if (flags.shard !== undefined) {
      throw new CommandFault('The statement has the payments of all shards: leave --shard out.')
    }
    if (flags.json === true && flags.out === undefined) {
      throw new CommandFault('--json needs --out FILE for the findings.')
    }
    const period = periodIn(flags)
    const statement = statementAt(file)
    const findings = findingsTo(flags.out, context.out)
    const outcome = await compareStatement(context, period, statement, findings)
    return reportOf(outcome, flags)
  },
}

export function statementAt(file: string): StatementFile {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) throw new CommandFault(`${file} does not exist.`)
  if (found.isDirectory()) throw new CommandFault(`${file} is a folder, not a statement.`)
  return openStatement(file)
}

/** Compares the statement with the ledger and records the outcome in the action log. */
export async function compareStatement(
  context: Context,
  period: Period,
  statement: StatementFile,
  findings: Findings,
): Promise<ReconciliationOutcome> {
  const books = connectReconciliation(context.access, actorOf(context, 'sandbox'), context.clock)
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
    await books.conclude({
      from: String(period.from),
      to: String(period.to),
      statement: statementName(statement),
      outcome: JSON.stringify(valueOf(outcome)),
    })
    return outcome
  } finally {
    books.close()
    await rm(folder, { recursive: true, force: true })
  }
}

export interface Findings {
  add(finding: Finding | BadLine): Promise<void>
  close(): Promise<void>
}

interface OpenFile {
  write(text: string): Promise<void>
  close(): Promise<void>
}

/** Opened by the first finding, or by close. */
function findingsTo(file: string | undefined, out: Writable): Findings {
  let opened: OpenFile | undefined
  const open = (): OpenFile => (opened ??= openFindings(file, out))
  return {
    add: (finding) => open().write(findingLine(finding)),
    close: () => open().close(),
  }
}

function openFindings(file: string | undefined, out: Writable): OpenFile {
  const stream = file === undefined ? out : createWriteStream(file)
  const failed = new Promise<never>((_resolve, reject) => stream.once('error', reject))
  failed.catch(() => undefined) // reported by the pending write
  const write = async (text: string): Promise<void> => {
    if (!stream.write(text)) await Promise.race([once(stream, 'drain'), failed])
  }
  void write(FINDINGS_HEAD)
  return {
    write,
    close: async () => {
      if (file === undefined) return
      stream.end()
      await finished(stream)
    },
  }
}

/** A day is its start in UTC; a timestamp needs an offset. */
function momentIn(name: string, text: string | undefined): Instant {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(text ?? '')
  const isMoment = /^\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|[+-]\d\d:\d\d)$/.test(text ?? '')
  const at = isDay || isMoment ? Date.parse(text ?? '') : Number.NaN
  if (!(at >= 0)) throw new CommandFault(`This needs --${name} DAY, e.g. 2026-11-21.`)
  return instant(at)
}

/** One day without `--to`. */
function periodIn({ from, to }: Flags): Period {
  const begin = momentIn('from', from)
  const end = to === undefined ? plus(begin, DAY) : momentIn('to', to)
  if (end <= begin) throw new CommandFault('--to must be later than --from.')
  return { from: begin, to: end }
}

const MISMATCHES = ['different', 'missing_here', 'missing_there'] as const

/** Name and SHA-256 of a statement, once it is read. */
export const statementName = (statement: StatementFile): string =>
  `${basename(statement.file)} sha256 ${statement.digest()}`

const isClean = ({ totals, lines }: ReconciliationOutcome): boolean =>
  lines.bad === 0 && MISMATCHES.every((status) => totals.count(status) === 0)

/** Amounts are minor units: executed minus returned. */
function valueOf(outcome: ReconciliationOutcome): object {
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

function reportOf(outcome: ReconciliationOutcome, { out }: Flags): Report {
  const { totals, lines } = outcome
  const head = ['currency', 'status', 'stated', 'amount', 'booked', 'amount']
  const rows = totals
    .rows()
    .map(({ currency, status, stated, booked }) => [
      ...[currency, status],
      ...[String(stated.lines), formatWireAmount(currency, stated.amount.toString())],
      ...[String(booked.lines), formatWireAmount(currency, booked.amount.toString())],
    ])
  return {
    value: valueOf(outcome),
    lines: [
      table([head, ...rows], [2, 3, 4, 5]),
      `${lines.good} lines read, ${lines.outside} outside the period; ${lines.bad} unreadable`,
      ...(lines.accepted === 0
        ? []
        : [`${lines.accepted} lines of accepted instructions, which are not compared`]),
      isClean(outcome) ? 'Everything matches.' : 'NOT EVERYTHING MATCHES.',
    ],
    exitCode: isClean(outcome) ? 0 : 1,
    isAside: out === undefined,
  }
}
