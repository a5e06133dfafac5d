/**
 * The totals of a reconciliation, by currency and status.
 *
 * - Executed amounts count as positive, returned ones as negative: a sum is the rail's net claim.
 * - Each side counts only its own lines of the period, so its statuses add up to its total. A pair
 *   across the edge of the period counts on one side.
 */
import type { Finding, Status } from './compare.js'
import { isIn, type BookedMovement, type Period, type StatementLine } from './movement.js'

export interface Sum {
  lines: number
  amount: bigint
}

export interface Counted {
  readonly currency: string
  readonly status: Status
  /** The statement's side, and the ledger's. */
  readonly stated: Sum
  readonly booked: Sum
}

export interface Totals {
  add(finding: Finding): void
  /** By currency, then in the order of STATUSES. */
  rows(): readonly Counted[]
  count(status: Status): number
}

export const STATUSES = [
  'matched',
  'different',
  'missing_here',
  'missing_there',
  'undone',
] as const satisfies readonly Status[]

export function createTotals(period: Period): Totals {
  const rows = new Map<string, Counted>()
  const counts = new Map<Status, number>()

  const rowOf = (currency: string, status: Status): Counted => {
    const key = `${currency} ${STATUSES.indexOf(status)}`
    const known = rows.get(key)
    if (known !== undefined) return known
    const row = { currency, status, stated: nothing(), booked: nothing() }
    rows.set(key, row)
    return row
  }
  const count = (sum: Sum, moved: StatementLine | BookedMovement): void => {
    if (!isIn(period, moved.at)) return
    sum.lines += 1
    sum.amount += moved.movement === 'executed' ? moved.amount : -moved.amount
  }

  return {
    add: (finding) => {
      const { status } = finding
      counts.set(status, (counts.get(status) ?? 0) + 1)
      if ('stated' in finding) {
        count(rowOf(finding.stated.currency, status).stated, finding.stated)
      }
      if ('booked' in finding) {
        count(rowOf(finding.booked.currency, status).booked, finding.booked)
      }
    },
    rows: () => [...rows].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row),
    count: (status) => counts.get(status) ?? 0,
  }
}

const nothing = (): Sum => ({ lines: 0, amount: 0n })
