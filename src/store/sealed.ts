/**
 * The columns that hold encrypted texts, and reading them in pages.
 *
 * Owns: the tables and columns with encrypted secrets and account numbers. Does not own: their
 * content (processor), the lasting keys (processor/keys re-encrypts those at every start).
 *
 * - Beneficiaries precede payouts, which copy the beneficiary's ciphertext: once beneficiaries are
 *   re-encrypted, no new payout uses an older key.
 * - A page costs its own rows only, whether they hold ciphertext or not.
 */
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'

interface SealedColumn {
  /** SQL for the encrypted texts of a row, separated by spaces. */
  texts(dialect: Dialect): string
  /** The JSON column that contains them; a row with invalid JSON is corrupt. */
  readonly json?: string
}

/** In reading order. */
const SEALED_COLUMNS = {
  signing_keys: { texts: () => 'sealed_secret' },
  webhook_endpoints: {
    texts: (d) => `(SELECT ${d.joined(d.text('value', 'sealed'), ' ')} FROM ${d.items('secrets')})`,
    json: 'secrets',
  },
  beneficiaries: { texts: () => 'sealed_account' },
  payouts: {
    texts: (d) => d.text('context', 'beneficiary', 'sealedAccount'),
    json: 'context',
  },
  intents: {
    texts: (d) => d.text('context', 'scanned', 'destination', 'sealedAccount'),
    json: 'context',
  },
} as const satisfies Record<string, SealedColumn>

export type SealedTable = keyof typeof SEALED_COLUMNS
export const SEALED_TABLES = Object.keys(SEALED_COLUMNS) as readonly SealedTable[]

export const isSealedTable = (name: string): name is SealedTable =>
  Object.hasOwn(SEALED_COLUMNS, name)

export interface SealedRow {
  readonly id: string
  /** Encrypted texts separated by spaces. Null if there is none. */
  readonly sealed: string | null
  /** 1: its encrypted texts cannot be read. */
  readonly corrupt: 0 | 1
}

export function sealedStatement(table: SealedTable, after: string, limit: number): Statement {
  const { texts, json }: SealedColumn = SEALED_COLUMNS[table]
  const cells = (d: Dialect): string => {
    if (json === undefined) return `${texts(d)} AS sealed, 0 AS corrupt`
    return `CASE WHEN ${d.isJson(json)} THEN ${texts(d)} END AS sealed,
      CASE WHEN ${d.isJson(json)} THEN 0 ELSE 1 END AS corrupt`
  }
  return {
    sql: (d) => `SELECT id, ${cells(d)} FROM ${table} WHERE id > ? ORDER BY id LIMIT ?`,
    values: [after, limit],
  }
}
