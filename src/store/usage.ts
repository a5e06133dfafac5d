/**
 * What a tenant has paid, by state and currency, over a range of ids.
 *
 * - A read sums the newest rows of its range, up to a limit, along one index.
 * - The amount of an intent is what its quote debits, and 0 before it is confirmed.
 * - Sums are BigInt: those of SQLite are of 64 bits, and a sum of payments can be more.
 */
import type { TenantId } from '../base/ids.js'
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'

export type UsageKind = 'intents' | 'payouts'

export interface UsageRange {
  readonly tenant: TenantId
  /** Lowest id, inclusive. */
  readonly from: string
  /** Highest id, exclusive. */
  readonly below: string
}

export interface UsedAmount {
  /** Lowest of them. */
  readonly id: string
  readonly state: string
  readonly currency: string
  readonly count: number
  /** Decimal text, minor units. */
  readonly amount: string
}

/** Corrupt contexts have no amount, and no currency of a payout. */
const AMOUNTS: Readonly<Record<UsageKind, (d: Dialect) => string>> = {
  intents: (d) => `'USD' AS currency, CASE
    WHEN state IN ('authorized', 'captured', 'refunded') AND ${d.isJson('context')}
    THEN CAST(${d.text('context', 'scanned', 'quote', 'cents')} AS BIGINT) END AS amount`,
  payouts: (d) => `CASE WHEN ${d.isJson('context')}
      THEN ${d.text('context', 'currency')} ELSE '' END AS currency,
    CASE WHEN ${d.isJson('context')}
      THEN CAST(${d.text('context', 'total')} AS BIGINT) END AS amount`,
}

/** Amounts are summed in two parts, neither of which can be too large. */
const PART = 1_000_000_000n

interface UsageRow extends Omit<UsedAmount, 'amount'> {
  readonly wholes: string
  readonly rests: string
}

export async function readUsage(
  read: <R>(statement: Statement) => Promise<R[]>,
  ...[kind, range, limit]: Parameters<typeof usageStatement>
): Promise<readonly UsedAmount[]> {
  const rows = await read<UsageRow>(usageStatement(kind, range, limit))
  return rows.map(({ wholes, rests, ...of }) => ({
    ...of,
    amount: (BigInt(wholes) * PART + BigInt(rests)).toString(),
  }))
}

/** Ordered by tenant, so that PostgreSQL reads no rows of others. */
export const usageStatement = (
  kind: UsageKind,
  { tenant, from, below }: UsageRange,
  limit: number,
): Statement => ({
  sql: (d) => `SELECT min(id) AS id, state, currency, count(*) AS count,
      CAST(coalesce(sum(amount / ${PART}), 0) AS TEXT) AS wholes,
      CAST(coalesce(sum(amount % ${PART}), 0) AS TEXT) AS rests
    FROM (SELECT id, state, ${AMOUNTS[kind](d)}
      FROM ${kind} ${d.indexedBy(`${kind}_of_tenant`)} WHERE ${d.ofTenant} AND id >= ? AND id < ?
      ORDER BY ${d.tenantFirst}id DESC LIMIT ?) AS used
    GROUP BY state, currency`,
  values: [tenant, from, below, limit],
})
