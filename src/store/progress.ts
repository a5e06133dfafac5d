/**
 * The progress of the books: epoch, last batch, and whether they contain a given event or
 * instruction.
 *
 * Does not own: handling books that are behind a mark (processor/recovery).
 */
import { instantOf } from '../base/ids.js'
import type { Reader } from './database.js'
import type { Dialect } from './dialect.js'
import { checkedNumber } from './stored_numbers.js'

/** Ordered by epoch, then batch. */
export interface Progress {
  /** Random per database: a re-created one has another. */
  readonly booksId: string
  readonly epoch: number
  /** The number of the last commit that wrote rows. */
  readonly lastBatch: number
  /**
   * The epoch that began when an operator last accepted a loss. 0 means that no operator did.
   * Absent where nothing else begins an epoch; on PostgreSQL each take-over does.
   */
  readonly acceptedEpoch?: number
  /** The last commit of the epochs before this one. Absent where `acceptedEpoch` is. */
  readonly lastBatchBefore?: number
}

export interface ProgressQueries {
  /** As of the last commit on disk. */
  progress(): Progress
  /**
   * Also true when it is not newer than events that were deleted when their retention ended, or
   * than a release: its loss is accepted.
   */
  hasEvent(id: string): Promise<boolean>
  /**
   * True when these books have submitted it, also when it has moved to another shard or to the
   * archive since, or its row is corrupt.
   */
  hasInstruction(id: string): Promise<boolean>
  /** The newest event, null when there is none. */
  newestEvent(): Promise<{ readonly id: string; readonly createdAt: number } | null>
  /**
   * When these books submitted one of their newest instructions, as epoch ms. Null if they
   * submitted none. None of a lost time is older.
   */
  newestSubmission(): Promise<number | null>
  /**
   * One of the newest payments that this rail has executed. Null if there is none among the newest.
   */
  newestExecuted(rail: string): Promise<{ readonly id: string; readonly tenant: string } | null>
  /** Whether an operator accepted exactly this loss with a release. */
  isAcceptedLoss(kind: 'event' | 'instruction', id: string): Promise<boolean>
}

const PROGRESS = `SELECT epoch, last_batch AS "lastBatch",
    (SELECT value FROM meta WHERE name = 'books_id') AS "booksId"
  FROM owner`
const ACCEPTED_EPOCH = `SELECT value FROM meta WHERE name = 'accepted_epoch'`
/**
 * Lost events are newer than all that the books have, and so than any that was deleted. A copy of
 * before a release has no row of it.
 */
const EVENT = `SELECT 1 FROM events WHERE id = ?1
  UNION ALL SELECT 1 FROM event_retention WHERE created_at >= ?2
  UNION ALL SELECT 1 FROM recoveries WHERE released_at >= ?2`
/** A payment with a corrupt context may have been submitted. */
const submitted = (d: Dialect): string => `CASE WHEN ${d.isJson('context')}
  THEN ${d.text('context', 'handedOverAt')} IS NOT NULL ELSE true END`
const instruction = (d: Dialect): string =>
  `SELECT 1 FROM payouts WHERE id = ?1 AND ${submitted(d)}
  UNION ALL SELECT 1 FROM intents WHERE id = ?1 AND ${submitted(d)}
  UNION ALL SELECT 1 FROM moved_payments WHERE id = ?1
  UNION ALL SELECT 1 FROM archived_payments WHERE id = ?1`
/** When the newest row of a table was submitted, found in the order of an index. */
const newestSubmission = (d: Dialect, table: string, order: string): string =>
  `SELECT ${d.integer('context', 'handedOverAt')} AS at FROM ${table}
  WHERE ${order} IS NOT NULL
    AND CASE WHEN ${d.isJson('context')} THEN ${d.text('context', 'handedOverAt')} IS NOT NULL
      ELSE false END
  ORDER BY ${order} DESC LIMIT 1`
/** Payments that are looked at: so many can wait for their rails, or be of other rails. */
const LOOKED_AT = 1_000
/**
 * The rail has what was matched to an orphan execution under the id of that. A payment from before
 * the rails had names is on the sandbox rail.
 */
const newestExecuted = (
  d: Dialect,
  { table, order, rail }: { table: string; order: string; rail: readonly string[] },
): string =>
  `SELECT id, tenant FROM (
    SELECT id, tenant, context, ${order} AS position FROM ${table} WHERE ${order} IS NOT NULL
      ORDER BY ${order} DESC LIMIT ${LOOKED_AT}) AS newest
  WHERE CASE WHEN ${d.isJson('context')} THEN ${d.text('context', 'transactionId')} IS NOT NULL
      AND ${d.text('context', 'handedOverAt')} IS NOT NULL
      AND coalesce(${d.text('context', ...rail)}, 'sandbox') = ?
      ELSE false END
    AND NOT EXISTS (SELECT 1 FROM orphan_executions WHERE matched_to = newest.id)
  ORDER BY position DESC LIMIT 1`
const PAYOUTS = { table: 'payouts', order: 'id', rail: ['rail'] }
const INTENTS = { table: 'intents', order: 'confirmed_at', rail: ['confirmation', 'rail'] }
const NEWEST_EVENT = `SELECT id, created_at AS "createdAt" FROM events
  ORDER BY position DESC LIMIT 1`
const ACCEPTED = 'SELECT 1 FROM accepted_losses WHERE kind = ? AND id = ?'

export async function readProgress(database: Reader): Promise<Progress> {
  const [row] = await database.all<Progress>(PROGRESS)
  if (row === undefined) throw new Error('the books have no owner row')
  checkedNumber('owner.epoch', row.epoch)
  checkedNumber('owner.last_batch', row.lastBatch)
  return row
}

/** Where take-overs begin epochs too. */
export async function readAcceptedEpoch(database: Reader): Promise<number> {
  const [row] = await database.all<{ value: string }>(ACCEPTED_EPOCH)
  return Number(row?.value ?? 0)
}

export function progressQueries(reader: Reader, progress: () => Progress): ProgressQueries {
  const isThere = async (sql: string, ...values: (string | number)[]): Promise<boolean> =>
    (await reader.all(sql, values)).length > 0
  return {
    progress,
    hasEvent: (id) => isThere(EVENT, id, instantOf(id)),
    hasInstruction: (id) => isThere(instruction(reader.dialect), id),
    newestEvent: async () => {
      const [newest] = await reader.all<{ id: string; createdAt: number }>(NEWEST_EVENT)
      return newest ?? null
    },
    newestSubmission: async () => {
      const [payouts, intents] = await Promise.all([
        reader.all<{ at: number }>(newestSubmission(reader.dialect, 'payouts', 'id')),
        reader.all<{ at: number }>(newestSubmission(reader.dialect, 'intents', 'confirmed_at')),
      ])
      const found = [...payouts, ...intents].map(({ at }) => at)
      return found.length === 0 ? null : Math.max(...found)
    },
    newestExecuted: async (rail) => {
      const find = (kind: typeof PAYOUTS): Promise<{ id: string; tenant: string }[]> =>
        reader.all(newestExecuted(reader.dialect, kind), [rail])
      const found = (await Promise.all([find(PAYOUTS), find(INTENTS)])).flat()
      const [newest] = found.sort((one, other) => instantOf(other.id) - instantOf(one.id))
      return newest ?? null
    },
    isAcceptedLoss: (kind, id) => isThere(ACCEPTED, kind, id),
  }
}
