/**
 * Where sealed texts lie, and walking them.
 *
 * Owns: the tables and columns that hold secrets and account numbers. Does not own: what is sealed
 * in them (processor), the lasting keys (processor/keys seals them anew at every start).
 *
 * - Beneficiaries come before payouts, which copy their beneficiary's sealed text: once the
 *   former are sealed anew, no new payout is sealed with an older key.
 * - A slice costs what its own rows cost, sealed or not.
 */
import type { Statement } from './database.js'

interface SealedColumn {
  /** Gives the sealed texts of a row, blanks between. */
  readonly texts: string
  /** JSON that they lie in; a row in which it is none is corrupt. */
  readonly json?: string
}

/** In the order of the walk. */
const SEALED_COLUMNS = {
  signing_keys: { texts: 'sealed_secret' },
  webhook_endpoints: {
    texts: `(SELECT group_concat(value ->> 'sealed', ' ') FROM json_each(secrets))`,
    json: 'secrets',
  },
  beneficiaries: { texts: 'sealed_account' },
  payouts: { texts: `context ->> '$.beneficiary.sealedAccount'`, json: 'context' },
  intents: { texts: `context ->> '$.scanned.destination.sealedAccount'`, json: 'context' },
} as const satisfies Record<string, SealedColumn>

export type SealedTable = keyof typeof SEALED_COLUMNS
export const SEALED_TABLES = Object.keys(SEALED_COLUMNS) as readonly SealedTable[]

export const isSealedTable = (name: string): name is SealedTable =>
  Object.hasOwn(SEALED_COLUMNS, name)

export interface SealedRow {
  readonly id: string
  /** Sealed texts, blanks between; null: this row has none. */
  readonly sealed: string | null
  /** 1: nobody knows what is sealed in it. */
  readonly corrupt: 0 | 1
}

export function sealedStatement(table: SealedTable, after: string, limit: number): Statement {
  const { texts, json }: SealedColumn = SEALED_COLUMNS[table]
  const sealed = json === undefined ? texts : `CASE WHEN json_valid(${json}) THEN ${texts} END`
  const corrupt = json === undefined ? '0' : `NOT json_valid(${json})`
  return {
    sql: `SELECT id, ${sealed} AS sealed, ${corrupt} AS corrupt FROM ${table}
      WHERE id > ? ORDER BY id LIMIT ?`,
    values: [after, limit],
  }
}
