/**
 * Queries: read-only requests that run outside the commit cycle.
 *
 * Owns: running queries, admission. Does not own: the SQL (store/lists), the order of reads
 * (store/read_scheduler), what a caller may see (queries/).
 *
 * - A query sees committed data only, including everything acknowledged before it started.
 * - Queries never delay commits; tenants are read in turn.
 * - Above a bound a query is refused at once, except the first query of a tenant: other tenants'
 *   load does not block it.
 * - A page is not read after its caller has disconnected.
 * - A corrupt row does not fail a list: partners' lists omit it, operators' lists name it.
 */
import { createCorruptRows, type CorruptRows } from '../../base/corrupt_row.js'
import type { Logger } from '../../base/log.js'
import type { Lists } from '../../store/lists.js'
import { Cancelled } from '../../store/read_scheduler.js'
import { refuse, type Answer } from '../cycle/answer.js'
import type { QueueKey } from '../cycle/command.js'
import type { Vault } from '../keys/vault.js'
import { createFirstPageCache, type FirstPageCache } from './first_page_cache.js'

/** The inputs of a query. */
export interface QueryContext {
  readonly lists: Lists
  readonly vault: Vault
  readonly brand: string
  readonly firstPageCache: FirstPageCache
  /** Counts and logs a corrupt row, once. */
  reportCorrupt(entity: string, error: unknown): void
}

export interface QueryRunnerOptions extends Omit<QueryContext, 'firstPageCache' | 'reportCorrupt'> {
  /** Shared with the cycle. */
  readonly corruptRows?: CorruptRows
}

export interface Query {
  /** For logs. */
  readonly name: string
  readonly queueKey: QueueKey
  run(ctx: QueryContext): Promise<Answer>
}

export interface QueryRunner {
  /** Never rejects. Calls `isAwaited` before each read and cancels the query when it is false. */
  run(query: Query, isAwaited?: () => boolean): Promise<Answer>
}

/** At 0.5 ms a page the last one waits 2 s, which is below the caller's deadline. */
const PENDING_MAX = 4_000
const PENDING_PER_TENANT_MAX = 1_000

export function createQueryRunner(
  { corruptRows = createCorruptRows(), ...given }: QueryRunnerOptions,
  log: Logger,
): QueryRunner {
  const ctx: QueryContext = {
    ...given,
    firstPageCache: createFirstPageCache(),
    reportCorrupt: (entity, error) => {
      if (corruptRows.add(entity))
        log.error({ error, entity_id: entity }, 'the row is corrupt; lists omit it')
    },
  }
  const pending = new Map<QueueKey, number>()
  let total = 0

  const hasCapacityFor = (queueKey: QueueKey): boolean => {
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
      if (!hasCapacityFor(queueKey)) return refuse('configuration_error')
      count(queueKey, 1)
      try {
        return await query.run({
          ...ctx,
          lists: ctx.lists.scheduled({ queueKey, isAwaited }),
        })
      } catch (error) {
        if (error instanceof Cancelled) return refuse('timeout')
        log.error({ error, query: query.name }, 'query failed')
        return refuse('internal_error')
      } finally {
        count(queueKey, -1)
      }
    },
  }
}
