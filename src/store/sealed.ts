/**
 * Where sealed texts lie, and walking them.
 *
 * Owns: the tables and columns that hold secrets and account numbers. Does not own: what is sealed
 * in them (processor), the lasting keys (processor/keys seals them anew at every start).
 *
 * W1. Beneficiaries come before payouts, which copy their beneficiary's sealed text: once the
 *     former are sealed anew, no new payout is sealed with an older key.
 * W2. A slice costs what its own rows cost, sealed or not.
 */
import type { Statement } from './database.js'

/** In the order of the walk (W1). Each column gives the sealed texts of its row, blanks between. */
const SEALED_COLUMNS = {
  signing_keys: 'sealed_secret',
  webhook_endpoints: `(SELECT group_concat(value ->> 'sealed', ' ') FROM json_each(secrets))`,
  beneficiaries: 'sealed_account',
  payouts: `context ->> '$.beneficiary.sealedAccount'`,
  intents: `context ->> '$.scanned.destination.sealedAccount'`,
} as const

export type SealedTable = keyof typeof SEALED_COLUMNS
export const SEALED_TABLES = Object.keys(SEALED_COLUMNS) as readonly SealedTable[]

export const isSealedTable = (name: string): name is SealedTable =>
  Object.hasOwn(SEALED_COLUMNS, name)

export interface SealedRow {
  readonly id: string
  /** Sealed texts, blanks between; null: this row has none. */
  readonly sealed: string | null
}

export const sealedStatement = (table: SealedTable, after: string, limit: number): Statement => ({
  sql: `SELECT id, ${SEALED_COLUMNS[table]} AS sealed FROM ${table}
    WHERE id > ? ORDER BY id LIMIT ?`,
  values: [after, limit],
})
