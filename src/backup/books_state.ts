/** The state of books that a manifest names. */
import { instant, toRfc3339 } from '../base/clock.js'
import type { Reader } from '../store/database.js'
import { BackupFault, type BooksState } from './manifest.js'

const STATE = `SELECT epoch, last_batch AS batch,
    (SELECT value FROM meta WHERE name = 'books_id') AS id,
    (SELECT created_at FROM events ORDER BY position DESC LIMIT 1) AS newest
  FROM owner`
const MASTER_KEYS = 'SELECT kid FROM master_keys WHERE emptied_at IS NULL ORDER BY kid'

export async function stateOf(books: Pick<Reader, 'all'>): Promise<BooksState> {
  const [state] = await books.all<Omit<BooksState, 'master_keys'> & { newest: number | null }>(
    STATE,
  )
  if (state === undefined) throw new BackupFault('the books have no owner.')
  const keys = await books.all<{ kid: string }>(MASTER_KEYS)
  const { id, epoch, batch, newest } = state
  return {
    ...{ id, epoch, batch },
    newest_event_at: newest === null ? '' : toRfc3339(instant(newest)),
    master_keys: keys.map(({ kid }) => kid),
  }
}
