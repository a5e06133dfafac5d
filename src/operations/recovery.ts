/** Commands of recovery mode, and decisions on orphan executions and held intents. */
import type { OrphanExecution } from '../../protos/types/causeway/operator/v1/OrphanExecution.js'
import type { OrphanRecord__Output as Orphan } from '../../protos/types/causeway/operator/v1/OrphanRecord.js'
import type { ReviewedIntent__Output as ReviewedIntent } from '../../protos/types/causeway/operator/v1/ReviewedIntent.js'
import { instant, plus } from '../base/clock.js'
import type { Finding } from '../reconciliation/compare.js'
import type { Period, StatementLine } from '../reconciliation/movement.js'
import { openStatement, NoStatement, type BadLine } from '../reconciliation/statement.js'
import { CHANGE, deciderOf, evidenceOf } from './actor.js'
import { formatWireAmount } from './amounts.js'
import { CommandFault, type CliCommand, type Context, type Report } from './command.js'
import { PAGE, page, pageLines } from './page.js'
import { compareStatement, statementAt, statementName } from './reconcile.js'

export const recoveryShow: CliCommand = {
  usage: 'recovery show',
  about: 'whether recovery mode is active, why, and which sources are ahead',
  run: async ({ recovery }) => {
    const state = await recovery.call('Show', {})
    const lines = state.active
      ? [`Recovery mode since ${state.entered_at}: ${state.cause}.`]
      : ['Not in recovery mode.']
    const open = state.open_orphans
    if (open > 0) lines.push(`${open} orphan executions are open: recovery orphans`)
    return { value: state, lines: [...lines, ...state.behind.map(sentence)] }
  },
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

export const recoveryRelease: CliCommand = {
  usage: 'recovery release',
  about: 'accept the loss and leave recovery mode; needs --statement or --no-statement',
  options: [...CHANGE, 'statement', 'no-statement'],
  run: async (context) => {
    const { statement: file, 'no-statement': without } = context.flags
    if ((file === undefined) === (without !== true)) {
      throw new CommandFault(
        "This needs --statement FILE, the rail's statement since the copy was made; or " +
          '--no-statement when the reason states how the rail was checked instead.',
      )
    }
    const actor = deciderOf(context)
    const found = file === undefined ? null : await orphansIn(context, file)
    const added = found === null ? 0 : await recordOrphans(context, found.executions)
    const released = await context.recovery.call('Release', {
      actor,
      ...(found === null ? { rail_checked: true } : { statement: found.statement }),
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

interface Found {
  readonly statement: string
  readonly executions: readonly OrphanExecution[]
}

/** Executions in the statement that were not returned and are not in the ledger. */
async function orphansIn(context: Context, file: string): Promise<Found> {
  const statement = statementAt(file)
  const missing = new Map<string, StatementLine>()
  const returned = new Set<string>()
  const bad: BadLine[] = []
  const add = (finding: Finding | BadLine): void => {
    if ('fault' in finding) bad.push(finding)
    else if (finding.status === 'missing_here') {
      const { stated } = finding
      if (stated.movement === 'returned') returned.add(stated.instruction)
      else missing.set(stated.instruction, stated)
    }
  }
  await compareStatement(context, await periodOf(file), statement, {
    add: (finding) => Promise.resolve(add(finding)),
    close: () => Promise.resolve(),
  })
  const [first] = bad
  if (first !== undefined) {
    throw new CommandFault(
      `${bad.length} lines of ${file} cannot be read; line ${first.line}: ${first.fault}.`,
    )
  }
  const unreturned = [...missing.values()].filter(({ instruction }) => !returned.has(instruction))
  const detailed = await withDetails(file, new Set(unreturned.map(({ line }) => line)))
  return { statement: statementName(statement), executions: detailed.map(executionOf) }
}

/** From the first to the last line. */
async function periodOf(file: string): Promise<Period> {
  let from = Number.MAX_SAFE_INTEGER
  let to = 0
  try {
    for await (const read of openStatement(file).lines()) {
      if (!('good' in read)) continue
      from = Math.min(from, read.good.at)
      to = Math.max(to, read.good.at)
    }
  } catch (error) {
    if (!(error instanceof NoStatement)) throw error
    throw new CommandFault(`${file}: ${error.message}`)
  }
  return { from: instant(Math.min(from, to)), to: plus(instant(to), 1) }
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

function executionOf({ details, ...line }: StatementLine): OrphanExecution {
  const optional = <N extends string>(name: N, text: string | undefined) =>
    text === undefined || text === '' ? {} : { [name]: text }
  return {
    instruction_id: line.instruction,
    amount: line.amount.toString(),
    currency: line.currency,
    transaction_id: line.transactionId,
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

export const recoveryOrphans: CliCommand = {
  usage: 'recovery orphans',
  about: 'open orphan executions: at the rail, but not in the ledger',
  options: [...PAGE, 'resolved'],
  run: async ({ recovery, flags }) => {
    const list = await recovery.call('ListOrphans', {
      ...page(flags.cursor),
      resolved: flags.resolved ?? false,
    })
    const rows = list.data.map(rowOf)
    const listing = { rows, rightAligned: [2], empty: 'There are no orphan executions.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

function rowOf({ currency, amount, held, matched_to: matched, ...orphan }: Orphan): string[] {
  const account = orphan.account_last4 === undefined ? '' : `****${orphan.account_last4}`
  const waiting = held.length === 0 ? '' : `held: ${held.join(' ')}`
  return [
    ...[orphan.instruction_id, orphan.executed_at, formatWireAmount(currency, amount), account],
    ...[orphan.reference ?? '', `${orphan.status} ${matched ?? ''}`.trim(), waiting],
  ]
}

export const recoveryResolve: CliCommand = {
  usage: 'recovery resolve INSTRUCTION',
  about: 'match an orphan execution with a held payment, or dismiss it',
  options: [...CHANGE, 'match', 'dismiss', 'evidence'],
  run: async (context, [instruction_id = '']) => {
    const { match, dismiss } = context.flags
    if ((match === undefined) === (dismiss !== true)) {
      throw new CommandFault('This needs --match PAYMENT or --dismiss.')
    }
    const resolved = await context.recovery.call('ResolveOrphan', {
      actor: deciderOf(context),
      instruction_id,
      resolution: match === undefined ? 'dismissed' : 'matched',
      ...(match === undefined ? {} : { payment_id: match }),
      evidence: evidenceOf(context),
    })
    const target = resolved.matched_to === undefined ? '' : ` to ${resolved.matched_to}`
    return { value: resolved, lines: [`${resolved.instruction_id}: ${resolved.status}${target}`] }
  },
}

export const intentApprove: CliCommand = {
  usage: 'intent approve INTENT',
  about: 'submit an intent that is held for an orphan execution',
  options: CHANGE,
  run: async (context, [intent_id = '']) =>
    reportOf(
      await context.recovery.call('ApproveIntent', { actor: deciderOf(context), intent_id }),
    ),
}

export const intentReject: CliCommand = {
  usage: 'intent reject INTENT',
  about: 'fail a held intent and release its reservation',
  options: CHANGE,
  run: async (context, [intent_id = '']) =>
    reportOf(await context.recovery.call('RejectIntent', { actor: deciderOf(context), intent_id })),
}

const reportOf = (intent: ReviewedIntent): Report => ({
  value: intent,
  lines: [`${intent.intent_id}: ${intent.status}`],
})
