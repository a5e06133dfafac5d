/**
 * The line at the connection that reads lists.
 *
 * Owns: whose statement is next. Does not own: how many may wait (processor/queries/query), SQL.
 *
 * - One statement at a time: a second one would only occupy a thread of the pool that commits
 *   need.
 * - A queue a tenant, and queues take turns: whoever asks for a thousand pages delays another one
 *   by a page each time.
 * - The next statement starts before the rows of the last one are submitted, so that it is
 *   read while they become an answer.
 * - What nobody awaits any more when its turn comes is not read.
 */
import { createFairQueue, type FairQueue } from '../base/fair_queue.js'
import type { Database, Statement } from './database.js'

/** Who stands in the line. */
export interface ReadPriority {
  readonly queueKey: string
  isAwaited(): boolean
}

/** Why a statement was not run; there is nobody left to tell. */
export class Cancelled extends Error {}

export interface ReadScheduler {
  read<R>(priority: ReadPriority, statement: Statement): Promise<R[]>
}

interface Waiting {
  readonly priority: ReadPriority
  readonly statement: Statement
  resolve(rows: never[]): void
  reject(error: unknown): void
}

export function createReadScheduler(database: Pick<Database, 'all'>): ReadScheduler {
  const queue = createFairQueue<string, Waiting>()
  let isReading = false

  const startNext = (): void => {
    const next = nextAwaited(queue)
    isReading = next !== undefined
    if (next === undefined) return
    const { sql, values } = next.statement
    database.all<never>(sql, values).then(
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
        const waiting: Waiting = { priority, statement, resolve, reject }
        queue.add(priority.queueKey, waiting)
        if (!isReading) startNext()
      }),
  }
}

/** The first that is still awaited; one that is not uses its turn up. */
function nextAwaited(queue: FairQueue<string, Waiting>): Waiting | undefined {
  for (let next = queue.next(); next !== undefined; next = queue.next()) {
    if (next.priority.isAwaited()) return next
    next.reject(new Cancelled('nobody awaits it any more'))
  }
  return undefined
}
