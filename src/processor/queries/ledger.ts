/** The ledger for accounting: the postings of a period, their entries, balances after a posting. */
import type { LedgerEntry } from '../../../protos/types/causeway/operator/v1/LedgerEntry.js'
import type { TrialBalanceLine } from '../../../protos/types/causeway/operator/v1/TrialBalanceLine.js'
import type { TenantId } from '../../base/ids.js'
import { partsOf, type AccountKey } from '../../ledger/accounts.js'
import { toWire } from '../../money/money.js'
import type { Balances, EntryPosition, ListedEntry, PostingRange } from '../../store/ledger.js'
import { answer, refuse } from '../cycle/answer.js'
import type { Vault } from '../keys/vault.js'
import { balanceTransactionId } from './balance_transaction_list.js'
import type { Query } from './query.js'

/** Rows per page: about a millisecond each of the read connection and of the processor. */
const ENTRIES_OF_A_PAGE = 200

/** What is posted now, by segment. */
export interface PeriodView {
  /** The postings of the period. */
  readonly during: readonly PostingRange[]
  /** The postings since its end. */
  readonly sinceEnd: readonly PostingRange[]
}

export const postingsDuring = (from: number, to: number): Query => ({
  name: 'ledger_postings',
  queueKey: 'internal',
  run: async ({ lists: { ledger } }) => {
    const sinceStart = await ledger.postingsSince(from)
    const sinceEnd = await ledger.postingsSince(to)
    const during = sinceStart.map((range, index) => ({
      from: range.from,
      below: sinceEnd[index]?.from ?? range.from,
    }))
    return answer({ during, sinceEnd } satisfies PeriodView)
  },
})

export interface EntriesView {
  readonly entries: readonly LedgerEntry[]
  /** Start of the next page; null on the last page. */
  readonly next: EntryPosition | null
}

export const ledgerEntries = (after: EntryPosition, below: number, tenant?: TenantId): Query => ({
  name: 'ledger_entries',
  queueKey: 'internal',
  run: async ({ lists: { ledger }, vault }) => {
    const rows = await ledger.entries(after, below, ENTRIES_OF_A_PAGE, tenant)
    const next = rows.length < ENTRIES_OF_A_PAGE ? null : (rows.at(-1) ?? null)
    const entries = rows.map((row) => entryView(row, tenant === undefined ? undefined : vault))
    return answer({ entries, next } satisfies EntriesView)
  },
})

function entryView(row: ListedEntry, vault: Vault | undefined): LedgerEntry {
  const { tenant, currency, kind } = partsOf(row.account as AccountKey)
  return {
    posting: String(row.posting),
    line: row.line,
    at: String(row.at),
    type: row.plan,
    entity: row.entity,
    ...{ tenant, account: kind, currency },
    amount: toWire(row.amount),
    balance: toWire(row.balance),
    ...(vault && { balance_transaction_id: balanceTransactionId(vault, row) }),
  }
}

export interface BalancesView {
  readonly balances: readonly TrialBalanceLine[]
  /** The same of all accounts, by account. */
  readonly byAccount: Balances
}

/**
 * @param since the postings that they are without
 * @param rest awaited between two reads; false means that the caller has disconnected
 * @param tenant only the accounts that its balance transactions show
 * @param later the balances after these postings. Default: those of now, after all postings
 */
export const ledgerBalances = (
  since: readonly PostingRange[],
  rest: () => Promise<boolean>,
  tenant?: TenantId,
  later?: Balances,
): Query => ({
  name: 'ledger_balances',
  queueKey: 'internal',
  run: async ({ lists: { ledger } }) => {
    const found = await ledger.balancesWithout(since, rest, tenant, later)
    if (found === undefined) return refuse('timeout')
    const balances = [...found].flatMap(([account, balance]) => {
      const { tenant: owner, currency, kind } = partsOf(account as AccountKey)
      const isShown = tenant === undefined || kind === 'prefund' || kind === 'reserved'
      return isShown ? [{ tenant: owner, currency, account: kind, balance: toWire(balance) }] : []
    })
    return answer({ balances, byAccount: found } satisfies BalancesView)
  },
})
