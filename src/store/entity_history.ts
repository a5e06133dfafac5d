/**
 * Everything the tables hold about one intent or payout.
 *
 * - Each part uses an index of its own and has a row limit, because a person reads it.
 * - Entries and operator actions on its discrepancies are included.
 */
import type { Statement } from './database.js'
import {
  columnsOf,
  fromStored,
  type ActorRow,
  type Row,
  type StoredRow,
  type TableName,
} from './tables.js'

export type EntityKind = 'intents' | 'payouts'

/** Each part is in time order. */
export interface EntityHistory {
  readonly entity: ActorRow
  readonly events: readonly HistoryEvent[]
  readonly entries: readonly Row<'entries'>[]
  readonly discrepancies: readonly Row<'discrepancies'>[]
  readonly actions: readonly Row<'operatorLog'>[]
}

export interface HistoryEvent {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly at: number
  /** Null while the event is open. */
  readonly settledAt: number | null
}

type Read = <R>(statement: Statement) => Promise<R[]>

const ROWS_MAX = 200

/** @returns undefined when there is no such entity */
export async function readEntityHistory(
  read: Read,
  kind: EntityKind,
  id: string,
): Promise<EntityHistory | undefined> {
  const [entity] = await read<ActorRow>({
    sql: () => `SELECT id, tenant, state, context FROM ${kind} WHERE id = ?`,
    values: [id],
  })
  if (entity === undefined) return undefined
  const part = async <N extends TableName>(name: N, statement: Statement): Promise<Row<N>[]> =>
    (await read<StoredRow>(statement)).map((row) => fromStored(name, row))

  const discrepancies = await part('discrepancies', discrepanciesOfEntity(id))
  const ids = [id, ...discrepancies.map((found) => found.id)]
  return {
    entity,
    events: await read<HistoryEvent>(eventsOfEntity(id)),
    entries: await part('entries', entriesOfEntities(ids)),
    discrepancies,
    actions: await part('operatorLog', actionsOnSubjects(ids)),
  }
}

/**
 * Uses the unique index on (entity, type). Repeatable events have the entity `{id}@{number}`; `A`
 * follows `@` in the collation.
 */
export const eventsOfEntity = (id: string): Statement => ({
  sql: (
    d,
  ) => `SELECT id, type, sequence, created_at AS at, ${d.settledAt} AS "settledAt" FROM events
    WHERE entity >= ?1 AND entity < ?1 || 'A' ORDER BY position LIMIT ${ROWS_MAX}`,
  values: [id],
})

export const discrepanciesOfEntity = (id: string): Statement => ({
  sql: (d) => `SELECT ${columnsOf('discrepancies')} FROM discrepancies
    ${d.indexedBy('discrepancies_of_entity')} WHERE entity = ? ORDER BY at LIMIT ${ROWS_MAX}`,
  values: [id],
})

export const entriesOfEntities = (ids: readonly string[]): Statement => ({
  sql: (d) => `SELECT ${columnsOf('entries')}
    FROM ledger_entries ${d.indexedBy('ledger_entries_of_entity')}
    WHERE entity IN (${d.texts('?')}) ORDER BY posting, line LIMIT ${ROWS_MAX}`,
  values: [JSON.stringify(ids)],
})

export const actionsOnSubjects = (ids: readonly string[]): Statement => ({
  sql: (d) => `SELECT ${columnsOf('operatorLog')}
    FROM operator_log ${d.indexedBy('operator_log_of_subject')}
    WHERE subject IN (${d.texts('?')}) ORDER BY id LIMIT ${ROWS_MAX}`,
  values: [JSON.stringify(ids)],
})
