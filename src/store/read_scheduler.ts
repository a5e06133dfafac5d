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
 * - Equal statements of a tenant that wait are one read: it begins after all of them, so each sees
 *   what was committed before it. A client that polls a list does not fill its own queue.
 */
import { createFairQueue } from '../base/fair_queue.js'
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

interface Waiter {
  readonly priority: ReadPriority
  resolve(rows: never[]): void
  reject(error: unknown): void
}

interface PendingRead {
  /** Identifies equal statements of a tenant. */
  readonly key: string
  readonly sql: string
  readonly values: Statement['values']
  readonly waiters: Waiter[]
}

export function createReadScheduler(database: Reader): ReadScheduler {
  const queue = createFairQueue<string, PendingRead>()
  /** By key: those that have not begun. */
  const waiting = new Map<string, PendingRead>()
  let isReading = false

  const startNext = (): void => {
    const next = nextAwaited()
    isReading = next !== undefined
    if (next === undefined) return
    database.all<never>(next.sql, next.values).then(
      (rows) => {
        startNext()
        for (const { resolve } of next.waiters) resolve(rows)
      },
      (error: unknown) => {
        startNext()
        for (const { reject } of next.waiters) reject(error)
      },
    )
  }

  /** The next awaited statement; a cancelled one uses its queue's turn. */
  const nextAwaited = (): PendingRead | undefined => {
    for (let next = queue.next(); next !== undefined; next = queue.next()) {
      waiting.delete(next.key)
      if (next.waiters.some(({ priority }) => priority.isAwaited())) return next
      for (const { reject } of next.waiters) reject(new Cancelled('no longer awaited'))
    }
    return undefined
  }

  return {
    read: (priority, { sql: sqlOf, values }) =>
      new Promise((resolve, reject) => {
        const waiter: Waiter = { priority, resolve, reject }
        const sql = sqlOf(database.dialect)
        const key = JSON.stringify([priority.queueKey, sql, values])
        const equal = waiting.get(key)
        if (equal !== undefined) return void equal.waiters.push(waiter)
        const pending = { key, sql, values, waiters: [waiter] }
        waiting.set(key, pending)
        queue.add(priority.queueKey, pending)
        if (!isReading) startNext()
      }),
  }
}
