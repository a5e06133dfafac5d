/**
 * `journal`: the ledger entries of a period as CSV for a general ledger.
 *
 * - One line an entry, in order of posting; of several processors one shard after the other.
 * - The command compares what it reads with the trial balance at the end of the period
 *   (journal_check). A file that differs keeps the name `FILE.part`, and the exit code is 1.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import { csvLine } from '../../base/csv.js'
import { partsOfTenant, type TenantId } from '../../base/ids.js'
import type { Period } from '../../reconciliation/movement.js'
import { actorOf, CHANGE, type Actor } from '../cli/actor.js'
import { formatWireAmount, plainAmount } from '../cli/amounts.js'
import { choiceOf, CommandFault, type CliCommand, type Report } from '../cli/command.js'
import { createJournalCheck, mergedTotals, type AccountTotal } from './journal_check.js'
import { withLedgers, type LedgerEntry, type LedgerSource } from './ledger_client.js'
import { periodIn } from './statement_comparison.js'
import { table, type Paint } from '../cli/terminal.js'
import { openOutput, type TextOutput } from '../cli/text_output.js'

const HEAD = csvLine([
  ...['time', 'transaction', 'line', 'type', 'partner', 'environment', 'account', 'currency'],
  ...['debit', 'credit', 'entity'],
])

/** What was read of the books of one shard, or of all. */
interface Read {
  readonly lines: number
  readonly totals: readonly AccountTotal[]
  readonly faults: readonly string[]
}

export const journal: CliCommand = {
  usage: 'journal',
  about: 'ledger entries of a period as CSV for a general ledger, checked by the trial balance',
  options: [...CHANGE, 'from', 'until', 'environment', 'out'],
  run: async (context) => {
    const { flags, clock, access, paint } = context
    if (flags.json === true && flags.out === undefined) {
      throw new CommandFault('--json needs --out FILE for the entries.')
    }
    const environment = flags.environment && choiceOf(flags.environment, ENVIRONMENTS)
    const period = periodIn(flags)
    const actor = actorOf(context, 'sandbox')
    const output = openLater(flags.out, context.out)
    const read = await withLedgers(access, async (sources) => {
      const all: Read[] = []
      for (const source of sources) {
        all.push(await readJournal(source, actor, period, environment, output))
      }
      return {
        lines: all.reduce((sum, { lines }) => sum + lines, 0),
        totals: mergedTotals(all.flatMap(({ totals }) => totals)),
        faults: all.flatMap(({ faults }) => faults),
      }
    })
    await output.end(read.faults.length === 0)
    return {
      ...reportOf(read, period.to > clock.now(), paint),
      isAside: flags.out === undefined,
    }
  },
}

const ENVIRONMENTS = ['sandbox', 'production']

/** Opened by the first page, so a refusal writes nothing. */
function openLater(file: string | undefined, out: Parameters<typeof openOutput>[1]) {
  let opened: TextOutput | undefined
  const write = async (text: string): Promise<void> => {
    if (opened === undefined) {
      opened = openOutput(file, out)
      await opened.write(HEAD)
    }
    await opened.write(text)
  }
  return {
    write,
    end: async (isWhole: boolean): Promise<void> => {
      await write('')
      await (isWhole ? opened!.close() : opened!.abandon())
    },
  }
}

async function readJournal(
  source: LedgerSource,
  actor: Actor,
  period: Period,
  environment: string | undefined,
  output: { write(text: string): Promise<void> },
): Promise<Read> {
  const check = createJournalCheck()
  const isAsked = ({ tenant }: { readonly tenant: string }): boolean =>
    environment === undefined || tenant.endsWith(`_${environment}`)
  let lines = 0
  for await (const page of source.entries(actor, period)) {
    const entries = page.entries.filter(isAsked)
    for (const entry of entries) check.add(entry)
    check.addOpening(page.opening.filter(isAsked))
    check.addClosing(page.balances.filter(isAsked))
    lines += entries.length
    await output.write(entries.map((entry) => journalLine(entry, source.shard)).join(''))
  }
  return { lines, ...check.end() }
}

function journalLine(entry: LedgerEntry, shard: string): string {
  const { partner, environment } = partsOfTenant(entry.tenant as TenantId)
  const amount = BigInt(entry.amount)
  const [debit, credit] =
    amount < 0n
      ? [plainAmount(entry.currency, -amount), '']
      : ['', plainAmount(entry.currency, amount)]
  return csvLine([
    toRfc3339(instant(Number(entry.at))),
    shard === '' ? entry.posting : `${shard}-${entry.posting}`,
    ...[String(entry.line), entry.type, partner, environment, entry.account, entry.currency],
    ...[debit, credit, entry.entity],
  ])
}

function reportOf({ lines, totals, faults }: Read, isOpen: boolean, paint: Paint): Report {
  const head = ['environment', 'account', 'opening', 'debit', 'credit', 'closing']
  const rows = totals.map(({ environment, account, currency, ...sums }) => {
    const { opening, debit, credit, closing } = sums
    const amounts = [opening, debit, credit, closing].map(String)
    return [environment, account, ...amounts.map((each) => formatWireAmount(currency, each))]
  })
  const isClean = faults.length === 0
  return {
    value: {
      ...{ lines, equals_trial_balance: isClean, faults },
      totals: totals.map(({ opening, debit, credit, closing, ...of }) => ({
        ...of,
        ...{ opening: String(opening), debit: String(debit), credit: String(credit) },
        closing: String(closing),
      })),
    },
    lines: [
      table([head, ...rows], [2, 3, 4, 5]),
      ...faults,
      `${lines} entries.${isOpen ? ' The period has not ended: later entries are missing.' : ''}`,
      isClean
        ? paint('good', 'The journal equals the trial balance at the end of the period.')
        : paint('bad', 'THE JOURNAL DOES NOT EQUAL THE TRIAL BALANCE: do not use it.'),
    ],
    exitCode: isClean ? 0 : 1,
  }
}
