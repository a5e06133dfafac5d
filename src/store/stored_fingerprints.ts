/**
 * Stored fingerprints: of nonces, of idempotency keys and of intents' users, one row per commit.
 *
 * Owns: loading them at startup, selecting nonces to delete. Does not own: their meaning
 * (auth/nonces, processor/cache), when to delete (processor/cycle/pipeline).
 *
 * - Rows are numbered in commit order, also those that come with a partner. Nonces are deleted from
 *   the lowest numbers; the others never.
 * - There can be one row per commit ever made, so they are read in pages of text, are never all in
 *   memory, and are never searched by time.
 */
import type { Instant } from '../base/clock.js'
import type { Reader } from './database.js'
import { asText, NO_ROWS, rowsOf, type Columns } from './json_page.js'
import { checkedNumber, checkFingerprints } from './stored_numbers.js'

export interface StoredNonces {
  readonly seen_at: Instant
  /** 8 bytes each. */
  readonly fingerprints: Buffer
}

export interface StoredFingerprints {
  /** The number of the first fingerprint; the others follow consecutively. */
  readonly first: number
  /** 8 bytes each. */
  readonly prints: Buffer
}

/** More rows than are added between two commits that delete. */
const NONCE_ROWS_PER_DELETE = 256
/** The candidates for deletion. */
export const OLDEST_NONCES = `SELECT id, seen_at FROM nonces
  ORDER BY id LIMIT ${NONCE_ROWS_PER_DELETE}`

export interface AllFingerprints {
  readonly nonces: AsyncIterable<StoredNonces>
  readonly keyFingerprints: AsyncIterable<StoredFingerprints>
  readonly userFingerprints: AsyncIterable<StoredFingerprints>
}

/** The numbers of the last rows. 0 means that there is none. */
export interface LastFingerprints {
  readonly nonces: number
  readonly keys: number
  readonly users: number
}

const NONE: LastFingerprints = { nonces: 0, keys: 0, users: 0 }
const LAST = `SELECT (SELECT coalesce(max(id), 0) FROM nonces) AS nonces,
  (SELECT coalesce(max(first), 0) FROM idempotency_prints) AS keys,
  (SELECT coalesce(max(first), 0) FROM intent_users) AS users`

export const readLastFingerprints = async (reader: Reader): Promise<LastFingerprints> =>
  (await reader.all<LastFingerprints>(LAST))[0] ?? NONE

/** Those after the given rows, read while they are iterated over. */
export const fingerprintRows = (reader: Reader, after = NONE): AllFingerprints => ({
  nonces: rowsIn(reader, 'nonces', 'id', after.nonces, {
    seen_at: 'integer',
    fingerprints: 'blob',
  }),
  keyFingerprints: rowsIn(reader, 'idempotency_prints', 'first', after.keys, COLUMNS),
  userFingerprints: rowsIn(reader, 'intent_users', 'first', after.users, COLUMNS),
})

const COLUMNS = { first: 'integer', prints: 'blob' } as const

const PAGE_ROWS = 1_024

/** By key, not by steps of numbers: one damaged number must not make a read that never ends. */
async function* rowsIn<R>(
  reader: Reader,
  table: string,
  number: string,
  after: number,
  columns: Columns,
): AsyncGenerator<R> {
  const read = { number: 'integer', ...columns } as const
  for (let last = after; ;) {
    const page = asText(
      {
        sql: () => `SELECT ${number} AS number, ${Object.keys(columns).join(', ')} FROM ${table}
          WHERE ${number} > ? ORDER BY ${number} LIMIT ${PAGE_ROWS}`,
        values: [last],
      },
      read,
    )
    const [found] = await reader.all<{ page: string | null }>(page.sql(reader.dialect), page.values)
    const rows = rowsOf<R & { readonly number: number }>(found?.page ?? NO_ROWS, read)
    last = checkedNumber(`a row of ${table}`, rows.at(-1)?.number ?? last)
    for (const { number: row, ...read } of rows) {
      for (const bytes of Object.values(read))
        if (bytes instanceof Uint8Array) checkFingerprints(table, row, bytes)
      yield read as R
    }
    if (rows.length < PAGE_ROWS) return
  }
}
