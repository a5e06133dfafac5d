/**
 * Stored fingerprints: of nonces, of idempotency keys and of intents' users, one row per commit.
 *
 * Owns: loading them at startup, selecting nonces to delete. Does not own: their meaning
 * (auth/nonces, processor/cache), when to delete (processor/cycle/pipeline).
 *
 * - Rows are numbered in commit order. Nonces are deleted from the lowest numbers; the others
 *   never.
 * - There can be one row per commit ever made, so they are read in pages of text, are never all in
 *   memory, and are never searched by time.
 */
import type { Instant } from '../base/clock.js'
import type { Reader } from './database.js'
import { asText, NO_ROWS, rowsOf, type Columns } from './json_page.js'

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

export const nonceRows = (reader: Reader): AsyncIterable<StoredNonces> =>
  rowsIn(reader, 'nonces', 'id', { seen_at: 'integer', fingerprints: 'blob' })

export const keyFingerprintRows = (reader: Reader): AsyncIterable<StoredFingerprints> =>
  rowsIn(reader, 'idempotency_prints', 'first', { first: 'integer', prints: 'blob' })

export const userFingerprintRows = (reader: Reader): AsyncIterable<StoredFingerprints> =>
  rowsIn(reader, 'intent_users', 'first', { first: 'integer', prints: 'blob' })

const PAGE_ROWS = 1_024

async function* rowsIn<R>(
  reader: Reader,
  table: string,
  number: string,
  columns: Columns,
): AsyncGenerator<R> {
  const ends = await reader.all<{ first: number | null; last: number | null }>(
    `SELECT min(${number}) AS first, max(${number}) AS last FROM ${table}`,
  )
  const { first, last } = ends[0] ?? { first: null, last: null }
  for (let from = first ?? 1; from <= (last ?? 0); from += PAGE_ROWS) {
    const page = asText(
      {
        sql: () => `SELECT ${Object.keys(columns).join(', ')} FROM ${table}
          WHERE ${number} >= ? AND ${number} < ? ORDER BY ${number}`,
        values: [from, from + PAGE_ROWS],
      },
      columns,
    )
    const sql = page.sql(reader.dialect)
    const [row] = await reader.all<{ page: string | null }>(sql, page.values)
    yield* rowsOf<R>(row?.page ?? NO_ROWS, columns)
  }
}
