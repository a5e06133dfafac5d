/**
 * Parts of a database that it cannot read because its file or disk is damaged. What does not need
 * them goes on.
 */
import type { Reader } from './database.js'

/** SQLite's, and data_corrupted and index_corrupted of PostgreSQL. */
const CODES: readonly unknown[] = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'XX001', 'XX002']

export const isDamage = (error: Error): boolean => CODES.includes((error as Coded).code)

interface Coded {
  readonly code?: string
}

export function createDamageWatch() {
  let found: string | null = null
  const note = (error: Error): never => {
    if (isDamage(error)) found ??= error.message
    throw error
  }
  return {
    watched: <R extends Reader>(reader: R): R => ({
      ...reader,
      all: <Row>(...query: Parameters<Reader['all']>) => reader.all<Row>(...query).catch(note),
    }),
    /** The first damage that a watched reader has met. */
    found: () => found,
  }
}
