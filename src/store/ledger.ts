/**
 * The ledger in order of posting: entries of a period, and balances at a moment.
 *
 * - Moments do not fall from posting to posting, but for partners that came from another shard:
 *   the postings of each are a segment of their own. A period is a range of postings in each
 *   segment, so consecutive periods have each entry once.
 * - Every statement reads a bounded number of rows along one index. Balances of the past are those
 *   of now without the entries since, so they cost the entries since.
 */
import type { TenantId } from '../base/ids.js'
import type { Statement } from './database.js'
import type { Columns } from './json_page.js'
import { columnsOf, TABLES, type Row } from './tables.js'

/** Postings from one on, and below another one. */
export interface PostingRange {
  readonly from: number
  readonly below: number
}

/** An entry with the first posting that it had. Null means that it is still the same. */
export type ListedEntry = Row<'entries'> & { readonly posted_as: number | null }

export const LISTED_ENTRY = { ...TABLES.entries.columns, posted_as: 'integer' } as const
export const LISTED_ENTRY_COLUMNS = `${columnsOf('entries')}, posted_as`

/** The position of a ledger entry. */
export interface EntryPosition {
  readonly posting: number
  readonly line: number
}

/** Postings whose sums are read at once: five thousand rows, a few milliseconds. */
const SUMMED_POSTINGS = 2_000

export interface Ledger {
  /** The postings at or after a moment, also those of commits to come: a range in each segment. */
  postingsSince(moment: number): Promise<readonly PostingRange[]>
  /** Entries after a position and of postings below one. `tenant`: on its own accounts. */
  entries(
    after: EntryPosition,
    below: number,
    limit: number,
    tenant?: TenantId,
  ): Promise<readonly ListedEntry[]>
  /**
   * The balance of each account without these postings, by account. `rest` is awaited between two
   * reads, and says whether they are still awaited. Undefined means that they were not.
   * `later`: the balances that include them and no later ones. Default: those of now.
   */
  balancesWithout(
    ranges: readonly PostingRange[],
    rest: () => Promise<boolean>,
    tenant?: TenantId,
    later?: Balances,
  ): Promise<Balances | undefined>
}

/** By account. */
export type Balances = ReadonlyMap<string, bigint>

type Read = <R>(statement: Statement) => Promise<R[]>
type ReadPage = <R>(statement: Statement, columns: Columns) => Promise<readonly R[]>

export function createLedger(read: Read, readPage: ReadPage): Ledger {
  const nextPosting = async (
    from: number,
    tenant?: TenantId,
  ): Promise<{ readonly posting: number; readonly at: number } | undefined> =>
    (await read<{ posting: number; at: number }>(nextStatement(from, tenant)))[0]

  const firstPostingAt = async ({ from, below }: PostingRange, moment: number): Promise<number> => {
    let [low, high] = [from, below]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const found = await nextPosting(middle)
      if (found === undefined || found.posting >= high || found.at >= moment) high = middle
      else low = found.posting + 1
    }
    return low
  }

  /** Moments do not fall in a segment. Together they have all postings. */
  const segments = async (): Promise<readonly PostingRange[]> => {
    const [last] = await read<{ posting: number }>(LAST)
    const moved = await read<{ first: number; below: number }>(MOVED)
    const starts = [0, ...moved.flatMap(({ first, below }) => [first, below])]
    const end = (last?.posting ?? 0) + 1
    return starts.map((from, index) => ({ from, below: starts[index + 1] ?? Math.max(from, end) }))
  }

  return {
    postingsSince: async (moment) => {
      const ranges: PostingRange[] = []
      const all = await segments()
      for (const [index, segment] of all.entries()) {
        const isLast = index === all.length - 1
        const below = isLast ? Number.MAX_SAFE_INTEGER : segment.below
        ranges.push({ from: await firstPostingAt(segment, moment), below })
      }
      return ranges
    },
    entries: (after, below, limit, tenant) =>
      readPage(rangeStatement(after, below, limit, tenant), LISTED_ENTRY),
    balancesWithout: async (ranges, rest, tenant, later) => {
      const rows = later === undefined ? await read<AccountRow>(accountsStatement(tenant)) : []
      const now = rows.map(({ id, balance }) => [id, BigInt(balance)] as const)
      const balances = new Map(later ?? now)
      const last = later === undefined ? (rows[0]?.last ?? 0) + 1 : Number.MAX_SAFE_INTEGER
      for (const { from, below } of ranges) {
        const end = Math.min(below, last)
        let start = from
        while (start < end) {
          const next = await nextPosting(start, tenant)
          if (next === undefined || next.posting >= end) break
          start = Math.min(next.posting + SUMMED_POSTINGS, end)
          for (const { account, amount } of await read<SumRow>(
            sumsStatement(next.posting, start, tenant),
          )) {
            balances.set(account, (balances.get(account) ?? 0n) - BigInt(amount))
          }
          if (!(await rest())) return undefined
        }
      }
      return balances
    },
  }
}

interface AccountRow {
  readonly id: string
  readonly balance: string
  /** The last posting that the balances include: one statement reads both. */
  readonly last: number
}

interface SumRow {
  readonly account: string
  readonly amount: string
}

const LAST: Statement = {
  sql: () => 'SELECT coalesce(max(posting), 0) AS posting FROM ledger_entries',
  values: [],
}

const MOVED: Statement = {
  sql: () => 'SELECT first, below FROM moved_postings ORDER BY first',
  values: [],
}

const OF_TENANT = 'ledger_entries_of_tenant'

export const nextStatement = (from: number, tenant?: TenantId): Statement =>
  tenant === undefined
    ? {
        sql: () => `SELECT posting, at FROM ledger_entries WHERE posting >= ?
          ORDER BY posting, line LIMIT 1`,
        values: [from],
      }
    : {
        sql: (d) => `SELECT posting, at FROM ledger_entries ${d.indexedBy(OF_TENANT)}
          WHERE ${d.ofTenant} AND posting >= ? ORDER BY tenant, posting, line LIMIT 1`,
        values: [tenant, from],
      }

export const rangeStatement = (
  { posting, line }: EntryPosition,
  below: number,
  limit: number,
  tenant?: TenantId,
): Statement =>
  tenant === undefined
    ? {
        sql: () => `SELECT ${LISTED_ENTRY_COLUMNS} FROM ledger_entries
          WHERE (posting, line) > (?, ?) AND posting < ? ORDER BY posting, line LIMIT ?`,
        values: [posting, line, below, limit],
      }
    : {
        sql: (d) => `SELECT ${LISTED_ENTRY_COLUMNS} FROM ledger_entries ${d.indexedBy(OF_TENANT)}
          WHERE ${d.ofTenant} AND (posting, line) > (?, ?) AND posting < ?
          ORDER BY tenant, posting, line LIMIT ?`,
        values: [tenant, posting, line, below, limit],
      }

export const sumsStatement = (from: number, below: number, tenant?: TenantId): Statement => ({
  sql: (d) => `SELECT account, CAST(sum(amount) AS TEXT) AS amount
    FROM ledger_entries ${tenant === undefined ? '' : d.indexedBy(OF_TENANT)}
    WHERE posting >= ? AND posting < ? ${tenant === undefined ? '' : 'AND tenant = ?'}
    GROUP BY account`,
  values: tenant === undefined ? [from, below] : [from, below, tenant],
})

/** Ids of accounts begin with their tenant and a colon, which a semicolon follows. */
const accountsStatement = (tenant?: TenantId): Statement => ({
  sql: () => `SELECT id, CAST(balance AS TEXT) AS balance,
      (SELECT coalesce(max(posting), 0) FROM ledger_entries) AS last
    FROM ledger_accounts ${tenant === undefined ? '' : 'WHERE id >= ? AND id < ?'} ORDER BY id`,
  values: tenant === undefined ? [] : [`${tenant}:`, `${tenant};`],
})
