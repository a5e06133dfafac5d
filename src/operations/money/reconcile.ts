/**
 * `reconcile`: compares a bank statement with the ledger (statement_comparison).
 *
 * - With `--rail NAME` the statement is of that rail alone, and so are the bookings. A name that no
 *   route has is refused unless bookings of the period have it: those of a former rail do.
 * - Findings go to `--out FILE`, or to standard output with the report on standard error. A
 *   terminal gets what a bank wrote with its control characters escaped.
 * - The exit code is 1 when an entry does not match or a line cannot be read.
 */
import type { Writable } from 'node:stream'
import { toVisibleText } from '../../base/visible_text.js'
import { FINDINGS_HEAD, findingLine } from '../../reconciliation/findings_csv.js'
import type { Period } from '../../reconciliation/movement.js'
import type { ReconciliationOutcome } from '../../reconciliation/reconcile.js'
import { actorOf, CHANGE, type Actor } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { CommandFault, type CliCommand, type Context, type Report } from '../cli/command.js'
import type { Flags } from '../cli/options.js'
import { connectReconciliation } from './reconciliation_client.js'
import {
  compareStatement,
  isClean,
  periodIn,
  statementAt,
  valueOf,
  type Findings,
} from './statement_comparison.js'
import { table } from '../cli/terminal.js'
import { openOutput, type TextOutput } from '../cli/text_output.js'

export const reconcileStatement: CliCommand = {
  usage: 'reconcile FILE',
  about: "reconcile a rail's statement with the ledger",
  options: [...CHANGE, 'from', 'until', 'out', 'rail'],
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
    const actor = actorOf(context, 'sandbox')
    const operation = { ...context, actor }
    if (flags.rail !== undefined) await requireRail(operation, period, flags.rail)
    const outcome = await compareStatement(operation, period, statement, findings, flags.rail)
    return reportOf(outcome, flags)
  },
}

/** @throws CommandFault unless a route or a booking of the period is of the rail */
async function requireRail(
  { operator, access, actor, clock }: Context & { readonly actor: Actor },
  period: Period,
  rail: string,
): Promise<void> {
  const { rails } = await operator.call('ListRoutes', {})
  const known = new Set(rails.map((each) => each.rail))
  if (known.has(rail)) return
  const books = connectReconciliation(access, actor, clock)
  try {
    for await (const name of books.railsDuring(period)) known.add(name)
  } finally {
    books.close()
  }
  if (known.has(rail)) return
  const names = [...known].filter((name) => name !== '').sort()
  throw new CommandFault(
    `No route and no booking of the period is of the rail ${rail}: ${names.join(', ')}.`,
  )
}

/** Opened by the first finding, or by close. */
export function findingsTo(file: string | undefined, out: Writable): Findings {
  const isTerminal = file === undefined && 'isTTY' in out && out.isTTY === true
  const shown = (line: string): string =>
    isTerminal ? `${toVisibleText(line.replace(/\r\n$/, ''))}\n` : line
  let opened: TextOutput | undefined
  const open = (): TextOutput => {
    if (opened === undefined) {
      opened = openOutput(file, out)
      void opened.write(FINDINGS_HEAD)
    }
    return opened
  }
  return {
    add: (finding) => open().write(shown(findingLine(finding))),
    close: () => open().close(),
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
