/**
 * `recovery release`: accepts the loss with a statement of the rail, and leaves recovery mode.
 *
 * Owns: reading the statement, what is shown before the release, the confirmation. Does not own:
 * the rule for a statement that can be right (processor/recovery/statement_check), the comparison
 * with the ledger (reconcile).
 *
 * - Nothing changes before the statement is checked and the release is confirmed.
 * - What the ledgers lack is no orphan execution where another shard has the payment. Which shard
 *   sent it says nothing: its partner can have moved since the copy was made.
 */
import type { OrphanExecution } from '../../../protos/types/causeway/operator/v1/OrphanExecution.js'
import type { StatementCheck__Output as StatementCheck } from '../../../protos/types/causeway/operator/v1/StatementCheck.js'
import type { StatementFigures } from '../../../protos/types/causeway/operator/v1/StatementFigures.js'
import { instant, plus, toRfc3339, type Instant } from '../../base/clock.js'
import {
  countIn,
  createMovementTally,
  type MovementFigures,
  type MovementSum,
} from '../../base/movements.js'
import type { Finding } from '../../reconciliation/compare.js'
import type { AcceptedLine, Period, StatementLine } from '../../reconciliation/movement.js'
import { openStatement, NoStatement, type BadLine } from '../../reconciliation/statement.js'
import { actorOf, CHANGE, deciderOf } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { CommandFault, type CliCommand, type Context } from '../cli/command.js'
import { compareStatement, statementAt, statementName } from '../money/statement_comparison.js'
import { table } from '../cli/terminal.js'
import { paymentsOfOtherShards } from './other_shards.js'

export const recoveryRelease: CliCommand = {
  usage: 'recovery release',
  about: 'accept the loss and leave recovery mode; needs --statement or --no-statement',
  options: [...CHANGE, 'statement', 'incomplete', 'no-statement', 'yes'],
  run: async (context) => {
    const { statement: file, 'no-statement': without, incomplete = false } = context.flags
    if ((file === undefined) === (without !== true)) {
      throw new CommandFault(
        "This needs --statement FILE, the rail's statement since the copy was made; or " +
          '--no-statement when the reason states how the rail was checked instead.',
      )
    }
    if (incomplete && file === undefined) throw new CommandFault('--incomplete needs --statement.')
    const actor = deciderOf(context)
    const found = file === undefined ? null : await checkedStatement(context, file)
    await context.confirm(
      found === null
        ? ['Without a statement nothing is held: what partners repeat is paid again.']
        : linesOf(found),
      'Accept the loss and leave recovery mode?',
    )
    const added = found === null ? 0 : await recordOrphans(context, orphansOf(found))
    const released = await context.recovery.call('Release', {
      actor,
      ...(found === null
        ? { rail_checked: true }
        : { statement: found.name, figures: wireFigures(found.read), incomplete }),
    })
    return {
      value: { ...released, orphans_added: added },
      lines: [
        `Recovery ${released.recovery} is released; the processor restarts.`,
        `${added} orphan executions are recorded: recovery orphans`,
        ...released.loss.map((loss) => `Accepted: ${loss}.`),
      ],
    }
  },
}

interface ReadStatement extends MovementFigures {
  /** SHA-256 of the file. */
  readonly sha256: string
  /** The first and the last time of its lines. Null if it has none. */
  readonly span: { readonly first: Instant; readonly last: Instant } | null
  /** Instructions of this shard that the rail has accepted and not executed. */
  readonly accepted: MovementFigures
  /** Those of all shards. */
  readonly acceptedLines: readonly AcceptedLine[]
}

interface CheckedStatement {
  /** Name and digest of the file. */
  readonly name: string
  readonly read: ReadStatement
  readonly check: StatementCheck
  /** Executions that were not returned and are not in the ledger. */
  readonly executions: readonly OrphanExecution[]
  /** Returns that are not in the ledger. */
  readonly returns: readonly OrphanExecution[]
  /** Instructions that the rail has accepted and not executed. */
  readonly accepted: readonly AcceptedLine[]
}

/** @throws Error with the figures when it cannot be right and is not accepted as incomplete */
async function checkedStatement(context: Context, file: string): Promise<CheckedStatement> {
  const { shard = '' } = await context.recovery.call('Show', {})
  const read = await readStatement(file, shard)
  const check = await context.recovery.call('CheckStatement', { figures: wireFigures(read) })
  if (check.faults.length > 0 && context.flags.incomplete !== true) {
    throw new Error(
      [
        ...figureLines(file, read, check),
        'Nothing was changed. See `recovery show` for the period that the statement needs;',
        '--incomplete releases in spite of this.',
      ].join('\n'),
    )
  }
  return { read, check, ...(await orphansIn(context, file, read)) }
}

/**
 * @param shard the shard of the books, as the rail names it; empty means that there are no other
 * books
 */
async function readStatement(file: string, shard: string): Promise<ReadStatement> {
  const tally = createMovementTally()
  const acceptedTally = createMovementTally()
  const acceptedLines: AcceptedLine[] = []
  const statement = statementAt(file)
  const bad: BadLine[] = []
  let [first, last] = [Number.MAX_SAFE_INTEGER, -1]
  try {
    for await (const line of statement.lines()) {
      if ('bad' in line) bad.push(line.bad)
      else if ('accepted' in line) {
        if (isOfShard(line.accepted, shard)) acceptedTally.add(line.accepted)
        acceptedLines.push(line.accepted)
      } else {
        tally.add(line.good)
        first = Math.min(first, line.good.at)
        last = Math.max(last, line.good.at)
      }
    }
  } catch (error) {
    if (!(error instanceof NoStatement)) throw error
    throw new CommandFault(`${file}: ${error.message}`)
  }
  const [unread] = bad
  if (unread !== undefined) {
    throw new CommandFault(
      `${bad.length} lines of ${file} cannot be read; line ${unread.line}: ${unread.fault}.`,
    )
  }
  return {
    ...tally.figures(),
    sha256: statement.digest(),
    span: last === -1 ? null : { first: instant(first), last: instant(last) },
    accepted: acceptedTally.figures(),
    acceptedLines,
  }
}

/** A line that names no shard may be of any. */
const isOfShard = ({ details }: AcceptedLine, shard: string): boolean =>
  shard === '' || !details?.shard || details.shard === shard

const wireFigures = ({ sums, digest, accepted, span }: ReadStatement): StatementFigures => ({
  sums: sums.map(wireSum),
  digest,
  accepted: accepted.sums.map(wireSum),
  accepted_digest: accepted.digest,
  ...(span === null ? {} : { first_at: String(span.first), last_at: String(span.last) }),
})

const wireSum = ({ amount, ...sum }: MovementSum) => ({ ...sum, amount: amount.toString() })

const linesOf = ({
  name,
  read,
  check,
  executions,
  returns,
  accepted,
}: CheckedStatement): string[] => [
  ...figureLines(name, read, check),
  `${executions.length} executions are not in the ledger and become orphan executions.`,
  ...(returns.length === 0
    ? []
    : [`${returns.length} returns are not in the ledger: ${ARE_ASKED}.`]),
  ...(accepted.length === 0
    ? []
    : [`${accepted.length} accepted instructions may still be executed: ${BECOME_ORPHANS}.`]),
]

const ARE_ASKED = 'after the release the rail is asked about the payments that the books have'
const BECOME_ORPHANS = 'those that the books have not submitted become orphan executions too'

/** Lines, period and sums of the statement, with those of the rail, and the faults. */
function figureLines(name: string, read: ReadStatement, check: StatementCheck): string[] {
  const { span } = read
  const period = span === null ? '' : `, ${toRfc3339(span.first)} to ${toRfc3339(span.last)}`
  return [
    `${name}: ${countIn(read) + countIn(read.accepted)} lines${period}`,
    ...(read.sums.length + read.accepted.sums.length + check.rail.length === 0
      ? []
      : [sumsTable(read, check)]),
    ...check.faults.map((fault) => `NOT RIGHT: ${fault}.`),
  ]
}

function sumsTable(
  { sums, accepted }: ReadStatement,
  { rail, rail_known: known }: StatementCheck,
): string {
  const cells = new Map<string, string[]>()
  const set = (at: number, sum: Sum): void => {
    const key = `${sum.currency} ${sum.movement}`
    const row = cells.get(key) ?? [sum.currency, sum.movement, '0', '', known ? '0' : '?', '']
    row[at] = String(sum.count)
    row[at + 1] = formatWireAmount(sum.currency, String(sum.amount))
    cells.set(key, row)
  }
  for (const sum of [...sums, ...accepted.sums]) set(2, sum)
  for (const sum of rail) set(4, sum)
  const rows = [...cells].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row)
  const head = ['currency', 'movement', 'statement', 'amount', 'rail', 'amount']
  return table([head, ...rows], [2, 3, 4, 5])
}

interface Sum {
  readonly currency: string
  readonly movement: string
  readonly count: number
  readonly amount: string | bigint
}

async function orphansIn(
  context: Context,
  file: string,
  read: ReadStatement,
): Promise<Pick<CheckedStatement, 'name' | 'executions' | 'returns' | 'accepted'>> {
  const statement = statementAt(file)
  const missing = new Map<string, StatementLine>()
  const returned = new Map<string, StatementLine>()
  const add = (finding: Finding | BadLine): void => {
    if ('fault' in finding || finding.status !== 'missing_here') return
    const { stated } = finding
    if (stated.movement === 'returned') returned.set(stated.instruction, stated)
    else missing.set(stated.instruction, stated)
  }
  const operation = { ...context, actor: actorOf(context, 'sandbox') }
  await compareStatement(operation, periodOf(read), statement, {
    add: (finding) => Promise.resolve(add(finding)),
    close: () => Promise.resolve(),
  })
  if (statement.digest() !== read.sha256) throw new Error(`${file} changed while it was read.`)
  const { acceptedLines } = read
  const ids = [...missing.keys(), ...returned.keys(), ...acceptedLines.map(instructionOf)]
  const elsewhere = await paymentsOfOtherShards(context, new Set(ids))
  const isOwn = (line: StatementLine | AcceptedLine): boolean => !elsewhere.has(instructionOf(line))
  const executed = [...missing.values()].filter(isOwn)
  const unreturned = executed.filter(({ instruction }) => !returned.has(instruction))
  const detailed = await withDetails(file, new Set(unreturned.map(({ line }) => line)))
  return {
    name: statementName(statement),
    executions: detailed.map(executionOf),
    returns: [...returned.values()].filter(isOwn).map(executionOf),
    accepted: acceptedLines.filter(isOwn),
  }
}

const instructionOf = ({ instruction }: StatementLine | AcceptedLine): string => instruction

/** From the first to the last line. */
function periodOf({ span }: ReadStatement): Period {
  const { first, last } = span ?? { first: instant(0), last: instant(0) }
  return { from: first, to: plus(last, 1) }
}

/** The comparison drops the optional columns, so these lines are read again. */
async function withDetails(
  file: string,
  lines: ReadonlySet<number>,
): Promise<readonly StatementLine[]> {
  const found: StatementLine[] = []
  for await (const read of openStatement(file).lines()) {
    if ('good' in read && lines.has(read.good.line)) found.push(read.good)
  }
  return found
}

const orphansOf = ({
  executions,
  returns,
  accepted,
}: CheckedStatement): readonly OrphanExecution[] => [
  ...executions,
  ...returns.map((line) => ({ ...line, state: 'returned' })),
  ...accepted.map((line) => ({ ...orphanOf(line), state: line.movement })),
]

const executionOf = (line: StatementLine): OrphanExecution => ({
  ...orphanOf(line),
  transaction_id: line.transactionId,
})

function orphanOf({ details, ...line }: StatementLine | AcceptedLine): OrphanExecution {
  const optional = <N extends string>(name: N, text: string | undefined) =>
    text === undefined || text === '' ? {} : { [name]: text }
  return {
    instruction_id: line.instruction,
    amount: line.amount.toString(),
    currency: line.currency,
    executed_at: String(line.at),
    ...optional('environment', details?.environment),
    ...optional('purpose', details?.purpose),
    ...optional('destination_account', details?.destinationAccount),
    ...optional('reference', details?.reference),
  }
}

const BATCH_SIZE = 500

/** @returns the number of new ones */
async function recordOrphans(
  context: Context,
  executions: readonly OrphanExecution[],
): Promise<number> {
  let added = 0
  for (let start = 0; start < executions.length; start += BATCH_SIZE) {
    const batch = executions.slice(start, start + BATCH_SIZE)
    const kept = await context.recovery.call('AddOrphans', {
      actor: deciderOf(context),
      executions: batch,
    })
    added += kept.added
  }
  return added
}
