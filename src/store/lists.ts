/**
 * Lists: pages of committed rows, each walked along one index.
 *
 * Owns: the SQL of every list and the index it takes. Does not own: cursors, filters as callers
 * write them, views (processor/queries).
 *
 * L1. A page costs what its own rows cost, however many there are: the index is named in the
 *     statement, and it yields rows in the order of the list. With several filters the one that is
 *     expected to leave the least takes its index.
 * L2. A connection runs one list at a time: a second one would only occupy a thread of the pool
 *     that commits need.
 * L3. Pages go by the last row's place, not by counting, so rows that arrive meanwhile shift
 *     nothing.
 */
import type { TenantId } from '../base/ids.js'
import type { Bindable, Database } from './database.js'
import type { ActorRow } from './store.js'
import { columnsOf, fromStored, type Row, type StoredRow } from './tables.js'

export interface PayoutFilter {
  readonly tenant: TenantId
  readonly state?: string
  readonly reference?: string
  readonly beneficiary?: string
  /** Ids from here on, included. */
  readonly from: string
  /** Ids up to here, excluded. */
  readonly below: string
}

/** Where an entry stands in the ledger. */
export interface EntryPlace {
  readonly posting: number
  readonly line: number
}

/** Where a discrepancy stands among the others. */
export interface DiscrepancyPlace {
  readonly at: number
  readonly id: string
}

export interface Lists {
  /** Newest first. */
  payouts(filter: PayoutFilter, limit: number): Promise<readonly ActorRow[]>
  /** Those that wait for their review, of all tenants, the oldest first. */
  heldPayouts(after: string, limit: number): Promise<readonly ActorRow[]>
  /** Newest first. */
  beneficiaries(
    tenant: TenantId,
    below: string,
    limit: number,
  ): Promise<readonly Row<'beneficiaries'>[]>
  /** Entries of the partner's own money, newest first. */
  entries(tenant: TenantId, below: EntryPlace, limit: number): Promise<readonly Row<'entries'>[]>
  /** The oldest first. */
  discrepancies(
    resolved: boolean,
    after: DiscrepancyPlace,
    limit: number,
  ): Promise<readonly Row<'discrepancies'>[]>
  /** The operators' log, newest first: ids below this one. */
  actions(below: number, limit: number): Promise<readonly LoggedAction[]>
}

export interface LoggedAction {
  readonly id: number
  readonly row: Row<'operatorLog'>
}

export function createLists(database: Database): Lists {
  let lastTurn: Promise<unknown> = Promise.resolve()
  const inTurn = <R>({ sql, values }: Statement): Promise<R[]> => {
    const turn = lastTurn.then(() => database.all<R>(sql, values))
    lastTurn = turn.catch(() => undefined)
    return turn
  }

  return {
    payouts: (filter, limit) => inTurn(payoutsStatement(filter, limit)),
    heldPayouts: (after, limit) => inTurn(heldPayoutsStatement(after, limit)),
    beneficiaries: async (tenant, below, limit) => {
      const rows = await inTurn<StoredRow>(beneficiariesStatement(tenant, below, limit))
      return rows.map((row) => fromStored('beneficiaries', row))
    },
    entries: async (tenant, below, limit) => {
      const rows = await inTurn<StoredRow>(entriesStatement(tenant, below, limit))
      return rows.map((row) => fromStored('entries', row))
    },
    discrepancies: async (resolved, after, limit) => {
      const rows = await inTurn<StoredRow>(discrepanciesStatement(resolved, after, limit))
      return rows.map((row) => fromStored('discrepancies', row))
    },
    actions: async (below, limit) => {
      const rows = await inTurn<StoredRow & { id: number }>(actionsStatement(below, limit))
      return rows.map((row) => ({ id: row.id, row: fromStored('operatorLog', row) }))
    },
  }
}

export interface Statement {
  readonly sql: string
  readonly values: readonly Bindable[]
}

export function payoutsStatement(filter: PayoutFilter, limit: number): Statement {
  const { tenant, state, reference, beneficiary, from, below } = filter
  const equal = Object.entries({ reference, beneficiary, state }).filter(
    (column): column is [string, string] => column[1] !== undefined,
  )
  const index = `payouts_${equal[0] === undefined ? 'of_tenant' : `by_${equal[0][0]}`}`
  const conditions = ['tenant = ?', ...equal.map(([column]) => `${column} = ?`)]
  return {
    sql: `SELECT id, tenant, state, context FROM payouts INDEXED BY ${index}
      WHERE ${conditions.join(' AND ')} AND id >= ? AND id < ? ORDER BY id DESC LIMIT ?`,
    values: [tenant, ...equal.map(([, value]) => value), from, below, limit],
  }
}

export const actionsStatement = (below: number, limit: number): Statement => ({
  sql: `SELECT id, ${columnsOf('operatorLog')} FROM operator_log
    WHERE id < ? ORDER BY id DESC LIMIT ?`,
  values: [below, limit],
})

export const heldPayoutsStatement = (after: string, limit: number): Statement => ({
  sql: `SELECT id, tenant, state, context FROM payouts INDEXED BY payouts_held
    WHERE state = 'created' AND id > ? ORDER BY id LIMIT ?`,
  values: [after, limit],
})

export const beneficiariesStatement = (
  tenant: TenantId,
  below: string,
  limit: number,
): Statement => ({
  sql: `SELECT ${columnsOf('beneficiaries')} FROM beneficiaries INDEXED BY beneficiaries_of_tenant
    WHERE tenant = ? AND id < ? ORDER BY id DESC LIMIT ?`,
  values: [tenant, below, limit],
})

export const entriesStatement = (
  tenant: TenantId,
  { posting, line }: EntryPlace,
  limit: number,
): Statement => ({
  sql: `SELECT ${columnsOf('entries')} FROM ledger_entries INDEXED BY ledger_entries_of_tenant
    WHERE tenant = ? AND (posting, line) < (?, ?) ORDER BY posting DESC, line DESC LIMIT ?`,
  values: [tenant, posting, line, limit],
})

export const discrepanciesStatement = (
  resolved: boolean,
  { at, id }: DiscrepancyPlace,
  limit: number,
): Statement => ({
  sql: `SELECT ${columnsOf('discrepancies')} FROM discrepancies
    INDEXED BY discrepancies_${resolved ? 'resolved' : 'open'}
    WHERE resolved_at IS ${resolved ? 'NOT NULL' : 'NULL'} AND (at, id) > (?, ?)
    ORDER BY at, id LIMIT ?`,
  values: [at, id, limit],
})
