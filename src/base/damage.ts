/** Errors of a database that cannot read a part of itself, because its file or disk is damaged. */

/** SQLite's, and data_corrupted and index_corrupted of PostgreSQL. */
const CODES: readonly unknown[] = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'XX001', 'XX002']

export const isDamage = (error: Error): boolean =>
  CODES.includes((error as Error & { readonly code?: string }).code)
