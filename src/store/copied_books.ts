/**
 * The mark in a backup's copy of the books, by which they know that they may lack commits, however
 * they come to be opened: restored by the command, or copied into a DATA_DIR by hand.
 *
 * - The mark is two rows of `meta`. It holds until the first release of recovery mode after it, so
 *   nothing has to remove it.
 */
import type { Reader } from './database.js'

/** The first schema with recovery mode; earlier books cannot have the mark. */
export const MARKED_FROM_SCHEMA = 12

const RELEASES = 'SELECT count(*) FROM recoveries WHERE released_at IS NOT NULL'
const COPIED_AT = `SELECT value AS "copiedAt" FROM meta WHERE name = 'copied_at' AND (${RELEASES}) =
  (SELECT CAST(value AS bigint) FROM meta WHERE name = 'releases_before_copy')`

/**
 * SQL that marks a copy in SQLite.
 *
 * @param at RFC 3339, of the backup
 */
export const markOfCopy = (at: string): string =>
  `INSERT OR REPLACE INTO meta (name, value)
    SELECT 'copied_at', '${at}' UNION ALL SELECT 'releases_before_copy', (${RELEASES})`

/** @returns RFC 3339, of the backup; null when the books are no copy, or were released since */
export async function readCopiedAt(books: Reader): Promise<string | null> {
  const [row] = await books.all<{ copiedAt: string }>(COPIED_AT)
  return row?.copiedAt ?? null
}
