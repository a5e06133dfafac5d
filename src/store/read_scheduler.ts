/**
 * Schedules list statements on the read connection, round robin over tenants.
 *
 * Does not own: how many may wait (processor/queries/query), the SQL.
 *
 * - One statement runs at a time: a second would occupy a thread of the pool that commits use.
 * - Each tenant has a queue and the queues take turns, so a tenant with 1,000 queued pages delays
 *   another by one page at a time.
 * - The next statement starts before the previous rows are returned, so reading overlaps with
 *   processing.
 * - A statement that is no longer awaited when it is scheduled is cancelled.
 */
import { createFairQueue, type FairQueue } from '../base/fair_queue.js'
import type { Reader, Statement } from './database.js'

export interface ReadPriority {
  readonly queueKey: string
  isAwaited(): boolean
}

/** The statement was not run because its result is no longer awaited. */
export class Cancelled extends Error {}

export interface ReadScheduler {
  read<R>(priority: ReadPriority, statement: Statement): Promise<R[]>
}

interface PendingRead {
  readonly priority: ReadPriority
  readonly statement: Statement
  resolve(rows: never[]): void
  reject(error: unknown): void
}

export function createReadScheduler(database: Reader): ReadScheduler {
  const queue = createFairQueue<string, PendingRead>()
  let isReading = false

  const startNext = (): void => {
    const next = nextAwaited(queue)
    isReading = next !== undefined
    if (next === undefined) return
    const { statement } = next
    database.all<never>(statement.sql(database.dialect), statement.values).then(
      (rows) => {
        startNext()
        next.resolve(rows)
      },
      (error: unknown) => {
        startNext()
        next.reject(error)
      },
    )
  }

  return {
    read: (priority, statement) =>
      new Promise((resolve, reject) => {
        const pending: PendingRead = { priority, statement, resolve, reject }
        queue.add(priority.queueKey, pending)
        if (!isReading) startNext()
      }),
  }
}

/** The next awaited statement; a cancelled one uses its queue's turn. */
function nextAwaited(queue: FairQueue<string, PendingRead>): PendingRead | undefined {
  for (let next = queue.next(); next !== undefined; next = queue.next()) {
    if (next.priority.isAwaited()) return next
    next.reject(new Cancelled('no longer awaited'))
  }
  return undefined
}
