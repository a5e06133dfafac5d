/**
 * How far a set of books has come, and whether it has what another process knows of.
 *
 * Owns: these queries and the row that counts commits. Does not own: what follows when the books
 * are behind (processor/recovery).
 */
import type { Database } from './database.js'

/** How far books have come. A higher epoch is further than any batch of a lower one. */
export interface Progress {
  /** Random, one for each set of books: a database that was made anew has another. */
  readonly booksId: string
  readonly epoch: number
  /** The number of the last commit that wrote rows. */
  readonly lastBatch: number
}

export interface ProgressQueries {
  /** After the last commit that is on disk. */
  progress(): Progress
  hasEvent(id: string): Promise<boolean>
  /** Whether these books have submitted it, or may have. */
  hasInstruction(id: string): Promise<boolean>
  /** The newest event, null when there is none. */
  newestEvent(): Promise<{ readonly id: string; readonly createdAt: number } | null>
  /** What operators accepted as lost; ids of one kind in their order. */
  acceptedLosses(kind: 'event' | 'instruction'): Promise<readonly string[]>
}

const PROGRESS = `SELECT epoch, last_batch AS lastBatch,
    (SELECT value FROM meta WHERE name = 'books_id') AS booksId
  FROM owner`
const EVENT = 'SELECT 1 FROM events WHERE id = ?'
/** A context that cannot be read may have been submitted. */
const SUBMITTED = `NOT json_valid(context) OR context ->> 'handedOverAt' IS NOT NULL`
const INSTRUCTION = `SELECT 1 FROM payouts WHERE id = ?1 AND (${SUBMITTED})
  UNION ALL SELECT 1 FROM intents WHERE id = ?1 AND (${SUBMITTED})`
const NEWEST_EVENT = `SELECT id, created_at AS createdAt FROM events
  ORDER BY position DESC LIMIT 1`
const ACCEPTED = 'SELECT id FROM accepted_losses WHERE kind = ? ORDER BY id'

export async function readProgress(database: Database): Promise<Progress> {
  const [row] = await database.all<Progress>(PROGRESS)
  if (row === undefined) throw new Error('the books have no owner row')
  return row
}

export function progressQueries(reader: Database, progress: () => Progress): ProgressQueries {
  const isThere = async (sql: string, id: string): Promise<boolean> =>
    (await reader.all(sql, [id])).length > 0
  return {
    progress,
    hasEvent: (id) => isThere(EVENT, id),
    hasInstruction: (id) => isThere(INSTRUCTION, id),
    newestEvent: async () => {
      const [newest] = await reader.all<{ id: string; createdAt: number }>(NEWEST_EVENT)
      return newest ?? null
    },
    acceptedLosses: async (kind) =>
      (await reader.all<{ id: string }>(ACCEPTED, [kind])).map(({ id }) => id),
  }
}
