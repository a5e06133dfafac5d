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
  /** In the order of their turns. */
  const lanes = new Map<string, Waiting[]>()
  let isReading = false

  const startNext = (): void => {
    const next = nextIn(lanes)
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
        const lane = lanes.get(asker.lane)
        if (lane === undefined) lanes.set(asker.lane, [waiting])
        else lane.push(waiting)
        if (!isReading) startNext()
      }),
  }
}

/** The first that is awaited still; its lane goes behind the others. */
function nextIn(lanes: Map<string, Waiting[]>): Waiting | undefined {
  for (const [name, lane] of lanes) {
    lanes.delete(name)
    for (let next = lane.shift(); next !== undefined; next = lane.shift()) {
      if (next.asker.isAwaited()) {
        if (lane.length > 0) lanes.set(name, lane)
        return next
      }
      next.reject(new NotAwaited('nobody awaits it any more'))
    }
  }
  return undefined
}
