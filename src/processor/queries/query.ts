/**
 * A query: a page of a list, read beside the cycle.
 *
 * Owns: how queries run, how many. Does not own: the SQL (store/lists), whose page is read next
 * (store/read_scheduler), what a caller may see (queries/).
 *
 * - A query sees what is committed, and nothing of what is under way. What was acknowledged
 *   before it began is in it.
 * - Queries wait for one another, never commits for queries, and tenants wait for one another by
 *   turns.
 * - Beyond a bound the next one is refused at once. Whoever has none under way is taken even so:
 *   the others' number is no reason to refuse the first page.
 * - A page that nobody awaits any more is not read.
 * - A corrupt row takes no list with it: partners' lists omit it, operators' lists name it.
 */
import { createCorruptRows, type CorruptRows } from '../../base/corrupt_row.js'
import type { Logger } from '../../base/log.js'
import type { Lists } from '../../store/lists.js'
import { Cancelled } from '../../store/read_scheduler.js'
import { refuse, type Answer } from '../cycle/answer.js'
import type { QueueKey } from '../cycle/command.js'
import type { Vault } from '../keys/vault.js'
import { createFirstPageCache, type FirstPageCache } from './first_page_cache.js'

/** All that a query may look at. */
export interface Reading {
  readonly lists: Lists
  readonly vault: Vault
  readonly brand: string
  readonly firstPageCache: FirstPageCache
  /** Counts and names, once, a row that could not be read. */
  reportCorrupt(entity: string, error: unknown): void
}

/** What a reader is made of. */
export interface ReaderDependencies extends Omit<Reading, 'firstPageCache' | 'reportCorrupt'> {
  /** Those the cycle has met as well. */
  readonly corruptRows?: CorruptRows
}

export interface Query {
  /** For logs. */
  readonly name: string
  readonly queueKey: QueueKey
  run(reading: Reading): Promise<Answer>
}

export interface Reader {
  /** Never rejects. Asks whether the answer is awaited still when the query's turn comes. */
  run(query: Query, isAwaited?: () => boolean): Promise<Answer>
}

/** At some half a millisecond a page, the last one waits two seconds: less than its caller does. */
const PENDING_MAX = 4_000
const PENDING_PER_TENANT_MAX = 1_000

export function createReader(
  { corruptRows = createCorruptRows(), ...given }: ReaderDependencies,
  log: Logger,
): Reader {
  const reading: Reading = {
    ...given,
    firstPageCache: createFirstPageCache(),
    reportCorrupt: (entity, error) => {
      if (corruptRows.add(entity))
        log.error({ err: error, entity }, 'the row is corrupt; lists omit it')
    },
  }
  const pending = new Map<QueueKey, number>()
  let total = 0

  const hasRoomFor = (queueKey: QueueKey): boolean => {
    const ofKey = pending.get(queueKey) ?? 0
    return ofKey === 0 || (ofKey < PENDING_PER_TENANT_MAX && total < PENDING_MAX)
  }
  const count = (queueKey: QueueKey, change: 1 | -1): void => {
    const ofKey = (pending.get(queueKey) ?? 0) + change
    if (ofKey === 0) pending.delete(queueKey)
    else pending.set(queueKey, ofKey)
    total += change
  }

  return {
    run: async (query, isAwaited = () => true) => {
      const { queueKey } = query
      if (!hasRoomFor(queueKey)) return refuse('configuration_error')
      count(queueKey, 1)
      try {
        return await query.run({
          ...reading,
          lists: reading.lists.scheduled({ queueKey, isAwaited }),
        })
      } catch (error) {
        if (error instanceof Cancelled) return refuse('timeout')
        log.error({ err: error, query: query.name }, 'a query failed')
        return refuse('internal_error')
      } finally {
        count(queueKey, -1)
      }
    },
  }
}
