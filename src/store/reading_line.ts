/**
 * The line at the connection that reads lists.
 *
 * Owns: whose statement is next. Does not own: how many may wait (processor/queries/query), SQL.
 *
 * R1. One statement at a time: a second one would only occupy a thread of the pool that commits
 *     need.
 * R2. A lane a tenant, and lanes take turns: whoever asks for a thousand pages delays another one
 *     by a page each time.
 * R3. The next statement starts before the rows of the last one are handed over, so that it is
 *     read while they become an answer.
 * R4. What nobody awaits any more when its turn comes is not read.
 */
import { createFairQueue, type FairQueue } from '../base/fair_queue.js'
import type { Database, Statement } from './database.js'

/** Who stands in the line. */
export interface Asker {
  readonly lane: string
  isAwaited(): boolean
}

/** Why a statement was not run; there is nobody left to tell. */
export class NotAwaited extends Error {}

export interface ReadingLine {
  read<R>(asker: Asker, statement: Statement): Promise<R[]>
}

interface Waiting {
  readonly asker: Asker
  readonly statement: Statement
  resolve(rows: never[]): void
  reject(error: unknown): void
}

export function createReadingLine(database: Pick<Database, 'all'>): ReadingLine {
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
    read: (asker, statement) =>
      new Promise((resolve, reject) => {
        const waiting: Waiting = { asker, statement, resolve, reject }
        queue.add(asker.lane, waiting)
        if (!isReading) startNext()
      }),
  }
}

/** The first that is still awaited; one that is not uses its turn up. */
function nextAwaited(queue: FairQueue<string, Waiting>): Waiting | undefined {
  for (let next = queue.next(); next !== undefined; next = queue.next()) {
    if (next.asker.isAwaited()) return next
    next.reject(new NotAwaited('nobody awaits it any more'))
  }
  return undefined
}
