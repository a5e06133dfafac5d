/**
 * Fingerprints as they are stored: of nonces, of idempotency keys and of intents' users, a row a
 * commit.
 *
 * Owns: reading all of them at a start, and which nonces a commit looks at to forget. Does not own:
 * what they mean (auth/nonces, processor/cache), when a commit forgets (processor/cycle/pipeline).
 *
 * - Rows are numbered in the order of their commits. Nonces are deleted from among the lowest
 *   numbers, the others never.
 * - There may be as many rows as there were commits, so they are read as pages of text, and never
 *   looked through by time.
 */
import type { Instant } from '../base/clock.js'
import type { Database } from './database.js'
import { asText, NO_ROWS, rowsOf, type Columns } from './json_page.js'

export interface StoredNonces {
  readonly seen_at: Instant
  /** 8 bytes each. */
  readonly fingerprints: Buffer
}

export interface StoredFingerprints {
  /** The number of the first; the others follow. */
  readonly first: number
  /** 8 bytes each. */
  readonly prints: Buffer
}

/** More than come between two commits that forget. */
const FORGOTTEN_AT_ONCE = 256
/** A look for old ones is a look at these. */
export const OLDEST_NONCES = `SELECT id, seen_at FROM nonces ORDER BY id LIMIT ${FORGOTTEN_AT_ONCE}`

export const readNonces = (reader: Database): Promise<StoredNonces[]> =>
  readAll(reader, 'nonces', 'id', { seen_at: 'integer', fingerprints: 'blob' })

export const readKeyFingerprints = (reader: Database): Promise<StoredFingerprints[]> =>
  readAll(reader, 'idempotency_prints', 'first', { first: 'integer', prints: 'blob' })

export const readUserFingerprints = (reader: Database): Promise<StoredFingerprints[]> =>
  readAll(reader, 'intent_users', 'first', { first: 'integer', prints: 'blob' })

const PAGE_ROWS = 1_024

/** By number. */
async function readAll<R>(
  reader: Database,
  table: string,
  number: string,
  columns: Columns,
): Promise<R[]> {
  const ends = await reader.all<{ first: number | null; last: number | null }>(
    `SELECT min(${number}) AS first, max(${number}) AS last FROM ${table}`,
  )
  const { first, last } = ends[0] ?? { first: null, last: null }
  const all: R[] = []
  for (let from = first ?? 1; from <= (last ?? 0); from += PAGE_ROWS) {
    const page = asText(
      {
        sql: `SELECT ${Object.keys(columns).join(', ')} FROM ${table}
          WHERE ${number} >= ? AND ${number} < ? ORDER BY ${number}`,
        values: [from, from + PAGE_ROWS],
      },
      columns,
    )
    const [row] = await reader.all<{ page: string | null }>(page.sql, page.values)
    for (const one of rowsOf<R>(row?.page ?? NO_ROWS, columns)) all.push(one)
  }
  return all
}
