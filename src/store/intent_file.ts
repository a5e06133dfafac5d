/**
 * All that the tables hold about one intent.
 *
 * F1. Each part is found by an index of its own and ends at a bound: a person reads it.
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

/** Each part in the order of time. */
export interface IntentFile {
  readonly intent: ActorRow
  readonly events: readonly Row<'events'>[]
  readonly entries: readonly Row<'entries'>[]
  readonly discrepancies: readonly Row<'discrepancies'>[]
  readonly actions: readonly Row<'operatorLog'>[]
}

type Read = <R>(statement: Statement) => Promise<R[]>

const ROWS_MAX = 200

const PARTS = {
  events: 'FROM events WHERE entity = ? ORDER BY position',
  entries:
    'FROM ledger_entries INDEXED BY ledger_entries_of_entity WHERE entity = ? ORDER BY posting',
  discrepancies:
    'FROM discrepancies INDEXED BY discrepancies_of_entity WHERE entity = ? ORDER BY at',
  operatorLog: 'FROM operator_log INDEXED BY operator_log_of_subject WHERE subject = ? ORDER BY id',
} as const satisfies Partial<Record<TableName, string>>

/** @returns undefined when there is no such intent */
export async function readIntentFile(read: Read, id: string): Promise<IntentFile | undefined> {
  const part = async <N extends keyof typeof PARTS>(name: N): Promise<Row<N>[]> => {
    const sql = `SELECT ${columnsOf(name)} ${PARTS[name]} LIMIT ${ROWS_MAX}`
    return (await read<StoredRow>({ sql, values: [id] })).map((row) => fromStored(name, row))
  }
  const [intent] = await read<ActorRow>({
    sql: 'SELECT id, tenant, state, context FROM intents WHERE id = ?',
    values: [id],
  })
  if (intent === undefined) return undefined
  return {
    intent,
    events: await part('events'),
    entries: await part('entries'),
    discrepancies: await part('discrepancies'),
    actions: await part('operatorLog'),
  }
}
