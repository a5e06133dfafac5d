/**
 * Corruptions of books that two webhook pools share.
 *
 * An event finished by one pool may be missing or open in the other; these corruptions exceed that.
 */
import type { Corruption } from '../corruption.js'
import { clockAfter, type BookFile, type SmallBooks } from '../small_books.js'

interface CorruptionOfTwo extends Omit<Corruption, 'file' | 'of'> {
  readonly files: readonly BookFile[]
}

export const BOTH_HAVE = '(SELECT min(position) FROM events WHERE position % 3 = 2)'
const ONLY_THE_SECOND_HAS = '(SELECT min(position) FROM events WHERE position % 3 = 0)'

/** An event in both pools, whose delivery was attempted once without success. */
export function waitsIn(books: SmallBooks): string {
  const dueAt = clockAfter(books).now()
  return `
  UPDATE deliveries SET state = 'waiting', due_at = ${dueAt},
    context = json_set(context, '$.dueAt', ${dueAt}, '$.tries', 1, '$.attempts', 1)
    WHERE event_id = (SELECT id FROM events WHERE position = ${BOTH_HAVE});
  UPDATE events SET open = 1 WHERE position = ${BOTH_HAVE}`
}

export const ofTwoPools = (books: SmallBooks): readonly CorruptionOfTwo[] => [
  {
    what: 'a settled event that both pools have lost',
    files: ['webhooks.db', 'webhooks-2.db'],
    sql: `DELETE FROM events WHERE position = ${BOTH_HAVE}`,
    breaks: 'settled_events_are_final',
  },
  {
    what: 'an event settled while its delivery waits in both pools',
    files: ['webhooks.db', 'webhooks-2.db'],
    sql: waitsIn(books),
    breaks: 'settled_events_are_final',
  },
  {
    what: 'an open delivery that the second pool does not count',
    files: ['webhooks-2.db'],
    sql: `${waitsIn(books)}; UPDATE events SET open = 0`,
    breaks: 'deliveries_are_counted',
  },
  {
    what: 'a delivery that the second pool has lost',
    files: ['webhooks-2.db'],
    sql: `DELETE FROM deliveries WHERE event_id =
        (SELECT id FROM events WHERE type = 'payout.created'
               ORDER BY position LIMIT 1 OFFSET 2)`,
    breaks: 'deliveries_have_no_gap',
  },
  {
    what: 'a body that the second pool has changed',
    files: ['webhooks-2.db'],
    sql: `UPDATE events SET body = body || ' ' WHERE position = ${ONLY_THE_SECOND_HAS}`,
    breaks: 'pool_events_match',
  },
]
