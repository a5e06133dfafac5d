/**
 * The pool's store of events, deliveries and attempts: a port, and its implementation on SQLite.
 *
 * Owns: group commit on the one writing connection, and the pool's queries. Does not own: row
 * shapes (store/schema), PostgreSQL (store/postgres), what to write (intake/event_consumer,
 * webhook/pool).
 *
 * - One commit at a time. Changes that arrive during a commit, or within GATHER_MS, form the next
 *   one: a commit costs as much as the rows of twenty deliveries, and no receiver waits for it.
 * - `commit` resolves when its changes are on disk. It never rejects: a failed commit has an
 *   unknown outcome, so callers must not continue and the process recovers from disk.
 * - Reads use a connection of their own and see committed rows only. `dedupWindow` also contains
 *   events whose commit is in progress, and events of which only deliveries are left.
 * - A failed read ends the process as a failed commit does. A corrupt row is set apart: it is
 *   reported once, and no read returns it until a commit has rewritten it.
 */
import { join } from 'node:path'
import type { Instant } from '../../../src/base/clock.js'
import type { DeliveryId, EndpointId, EventId, TenantId } from '../../../src/base/ids.js'
import { projectRoot } from '../../../src/base/project_root.js'
import { openDatabase } from '../../../src/store/sqlite/database.js'
import type { Reader } from '../../../src/store/database.js'
import { createDedupWindow } from './dedup_window.js'
import {
  COMMIT_STATEMENT,
  COMMIT_VIEW,
  commitParameters,
  type Changes,
  type EventRow,
  type FailingRow,
} from './schema.js'
import {
  isBodyOf,
  readDelivery,
  WRONG_BODY,
  type Delivery,
  type StoredDelivery,
} from './stored_delivery.js'

export type { Delivery }

/** An endpoint with open deliveries. */
export interface EndpointBacklog {
  readonly endpointId: EndpointId
  /** When its first delivery is due. */
  readonly dueAt: Instant
  readonly deliveries: number
}

export interface WebhookStore {
  commit(changes: Changes): Promise<void>
  /** Which of these events are stored, or being stored. */
  dedupWindow(ids: readonly EventId[]): Promise<ReadonlySet<EventId>>
  /**
   * Open deliveries of an endpoint that are due by `until`, earliest first; no corrupt ones. Those
   * of `except` are not read: most of what is due is in memory.
   */
  due(
    endpointId: EndpointId,
    until: Instant,
    limit: number,
    except?: ReadonlySet<DeliveryId>,
  ): Promise<readonly Delivery[]>
  /** The due time of the next delivery after `after`. */
  nextDue(endpointId: EndpointId, after: Instant): Promise<Instant | null>
  /** Endpoints with open deliveries. */
  backlog(): Promise<readonly EndpointBacklog[]>
  /** Settled events that their processor has not confirmed; of these tenants, or of all. */
  unreported(limit: number, of?: readonly TenantId[]): Promise<readonly TenantEvent[]>
  /** The tenants of such events. */
  unreportedTenants(): Promise<readonly TenantId[]>
  failing(): Promise<readonly StoredFailing[]>
  /** The newest event whose tenant passes, among the last ones received. Null if none does. */
  lastReceived(isOf?: (tenant: TenantId) => boolean): Promise<TenantEvent | null>
  /** Events of a tenant without a delivery to this endpoint. */
  eventsWithout(
    endpointId: EndpointId,
    tenant: TenantId,
    within: MissedWithin,
  ): Promise<readonly MissedEvent[]>
  /** Scans the next page of events in order of receipt and removes those past their retention. */
  removeSettled(before: KeptSince, after: ReceiptPosition): Promise<ScannedPage>
  /** Sets a delivery apart that cannot be attempted. */
  setApart(delivery: CorruptRow, why: string): void
  /** The number of corrupt rows found since the start, without those rewritten. */
  corruptRows(): number
  close(): Promise<void>
}

/** A delivery, or an event without one. */
export interface CorruptRow {
  readonly id: DeliveryId | EventId
  readonly eventId: EventId
  readonly endpointId: EndpointId
}

export interface StoreReports {
  /** Called once when a commit or a read fails; the process must exit. */
  readonly failed: (fault: unknown) => void
  /** Called once for each corrupt row. */
  readonly corrupt: (row: CorruptRow, why: string) => void
}

export type TenantEvent = Pick<EventRow, 'id' | 'tenant'>

/** An earlier version has stored no `failedAt`. */
export type StoredFailing = Omit<FailingRow, 'failedAt'> & { readonly failedAt: Instant | null }

export type MissedEvent = Pick<
  EventRow,
  'id' | 'tenant' | 'type' | 'createdAt' | 'receivedAt' | 'requestId' | 'traceparent' | 'body'
>

export interface MissedWithin {
  readonly receivedSince: Instant
  /** A later one is of a clock that was far ahead, so of long ago. Clocks differ by a little. */
  readonly receivedBy: Instant
  readonly createdSince: Instant
}

/** Events received earlier are removed: settled ones, and those with a dead delivery. */
export interface KeptSince {
  readonly delivered: Instant
  readonly dead: Instant
}

/** A position in the order of receipt. */
export interface ReceiptPosition {
  readonly receivedAt: Instant
  readonly position: number
}

export interface ScannedPage {
  /** The position of its last event. */
  readonly upTo: ReceiptPosition
  /** There are no further events. */
  readonly isEnd: boolean
}

const WEBHOOK_SCHEMA = join(projectRoot(), 'actors/webhook/store/schema')
const TRUNCATE = 'PRAGMA wal_checkpoint(TRUNCATE)'
const SCAN_PAGE_ROWS = 1_000
const GATHER_MS = 20
/** How many of the newest events are searched for one of a processor's tenants. */
const LAST_RECEIVED_MAX = 1_000
const NONE: ReadonlySet<EventId> = new Set()
const NO_DELIVERY: ReadonlySet<DeliveryId> = new Set()

/** The connections of one kind of database. */
export interface StoreBackend {
  readonly reader: Reader
  /** Writes all changes or none. A rejection has an unknown outcome. */
  commit(batch: readonly Changes[]): Promise<void>
  /** Removes those of these events that are still settled and reported. */
  remove(positions: readonly number[]): Promise<void>
  close(): Promise<void>
}

export async function openWebhookStore(file: string, reports: StoreReports): Promise<WebhookStore> {
  const writer = await openDatabase(file, { migrations: WEBHOOK_SCHEMA, sole: true })
  await writer.exec(COMMIT_VIEW)
  const reader = await openDatabase(file, { readOnly: true })
  const backend: StoreBackend = {
    reader,
    commit: async (batch) => void (await writer.run(COMMIT_STATEMENT, commitParameters(batch))),
    remove: async (positions) => void (await writer.run(REMOVE, [JSON.stringify(positions)])),
    close: async () => {
      await reader.close()
      await writer.exec(TRUNCATE)
      await writer.close()
    },
  }
  return createWebhookStore(backend, reports)
}

export async function createWebhookStore(
  backend: StoreBackend,
  reports: StoreReports,
): Promise<WebhookStore> {
  let hasFailed = false
  const fail = (fault: unknown): void => {
    if (!hasFailed) reports.failed(fault)
    hasFailed = true
  }
  /** Never settles after a failure: its caller must not continue. */
  const orFail = <T>(work: Promise<T>): Promise<T> =>
    work.catch((fault: unknown) => {
      fail(fault)
      return new Promise<never>(() => undefined)
    })
  const queue = createCommitQueue(backend, fail)
  const corrupt = new Set<string>()
  const setApart = (row: CorruptRow, why: string): void => {
    if (corrupt.has(row.id)) return
    corrupt.add(row.id)
    reports.corrupt(row, why)
  }
  const { dialect } = backend.reader
  const reader: Reader = { dialect, all: (...query) => orFail(backend.reader.all(...query)) }
  const reads = queries(reader, corrupt, setApart)
  const known = createDedupWindow(await reads.newestEvent())

  const commit = (changes: Changes): Promise<void> => {
    for (const { id } of changes.events ?? []) known.add(id)
    const committed = queue.commit(changes)
    return corrupt.size === 0 ? committed : committed.then(() => rewritten(changes))
  }

  const rewritten = ({ events = [], deliveries = [] }: Changes): void => {
    for (const { id } of [...events, ...deliveries]) corrupt.delete(id)
  }

  return {
    ...reads,
    commit,
    setApart,
    corruptRows: () => corrupt.size,
    dedupWindow: async (ids) => {
      const unsure = ids.filter((id) => known.has(id) === undefined)
      const onDisk = unsure.length === 0 ? NONE : await reads.eventsAmong(unsure)
      return new Set(ids.filter((id) => known.has(id) === true || onDisk.has(id)))
    },
    removeSettled: async (before, after) => {
      const rows = await reads.oldest(before, after)
      const over = rows.filter(({ isOver }) => isOver === 1).map(({ position }) => position)
      if (over.length > 0) await orFail(backend.remove(over))
      return { upTo: rows.at(-1) ?? after, isEnd: rows.length < SCAN_PAGE_ROWS }
    },
    close: async () => {
      await queue.idle()
      await backend.close()
    },
  }
}

function createCommitQueue(
  backend: Pick<StoreBackend, 'commit'>,
  onFailure: (fault: unknown) => void,
) {
  let gathered: { readonly changes: Changes; readonly done: () => void }[] = []
  let gathering: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let failed = false

  const commit = (changes: Changes): Promise<void> =>
    new Promise((done) => {
      gathered.push({ changes, done })
      gather()
    })

  const gather = (): void => {
    if (running === undefined && !failed) gathering ??= setTimeout(begin, GATHER_MS)
  }

  const begin = (): void => {
    clearTimeout(gathering)
    gathering = undefined
    running = commitGathered().catch(fail)
  }

  const commitGathered = async (): Promise<void> => {
    const batch = gathered
    gathered = []
    await backend.commit(batch.map(({ changes }) => changes))
    running = undefined
    for (const { done } of batch) done()
    if (gathered.length > 0) gather()
  }

  const fail = (fault: unknown): void => {
    failed = true
    onFailure(fault)
  }

  const idle = async (): Promise<void> => {
    while (!failed && (running !== undefined || gathered.length > 0)) {
      if (running === undefined) begin()
      await running
    }
  }

  return { commit, idle }
}

/** @param corrupt the ids of rows set apart */
function queries(reader: Reader, corrupt: ReadonlySet<string>, setApart: WebhookStore['setApart']) {
  const d = reader.dialect
  const readable = (stored: StoredDelivery): readonly Delivery[] => {
    if (corrupt.has(stored.id)) return []
    const read = readDelivery(stored)
    if (read.ok) return [read.row]
    setApart(stored, read.why)
    return []
  }
  return {
    newestEvent: async () => {
      const rows = await reader.all<{ id: EventId | null }>(
        'SELECT max(id) AS id FROM events UNION ALL SELECT max(event_id) FROM deliveries',
      )
      return rows.reduce((newest, { id }) => (id !== null && id > newest ? id : newest), '')
    },
    lastReceived: async (isOf?: (tenant: TenantId) => boolean) => {
      const rows = await reader.all<TenantEvent>(
        'SELECT id, tenant FROM events ORDER BY position DESC LIMIT ?',
        [isOf === undefined ? 1 : LAST_RECEIVED_MAX],
      )
      return rows.find(({ tenant }) => isOf?.(tenant) ?? true) ?? null
    },
    eventsAmong: async (ids: readonly EventId[]): Promise<ReadonlySet<EventId>> => {
      const list = JSON.stringify(ids)
      const rows = await reader.all<{ id: EventId }>(
        `SELECT id FROM events WHERE id IN (${d.texts('?')})
         UNION SELECT event_id FROM deliveries WHERE event_id IN (${d.texts('?')})`,
        [list, list],
      )
      return new Set(rows.map(({ id }) => id))
    },
    due: async (endpointId: EndpointId, until: Instant, limit: number, except = NO_DELIVERY) => {
      for (;;) {
        const rows = await reader.all<StoredDelivery>(
          `SELECT d.id, d.event_id AS "eventId", d.endpoint_id AS "endpointId",
             e.type AS "eventType", e.created_at AS "eventCreatedAt", e.tenant,
             e.request_id AS "requestId", e.traceparent, e.body,
             d.state, d.due_at AS "dueAt", d.context,
             (SELECT max(number) FROM attempts WHERE delivery_id = d.id) AS "lastNumber"
           FROM deliveries AS d LEFT JOIN events AS e ON e.id = d.event_id
           WHERE d.endpoint_id = ? AND d.due_at <= ? AND d.id NOT IN (${d.texts('?')})
           ORDER BY d.due_at LIMIT ?`,
          [endpointId, until, JSON.stringify([...except, ...corrupt]), limit],
        )
        const found = rows.flatMap(readable)
        if (rows.length < limit || found.length === limit) return found
      }
    },
    nextDue: async (endpointId: EndpointId, after: Instant) => {
      const rows = await reader.all<{ id: string; dueAt: Instant }>(
        `SELECT id, due_at AS "dueAt" FROM deliveries
         WHERE endpoint_id = ? AND due_at > ? ORDER BY due_at LIMIT ?`,
        [endpointId, after, corrupt.size + 1],
      )
      return rows.find(({ id }) => !corrupt.has(id))?.dueAt ?? null
    },
    backlog: () =>
      reader.all<EndpointBacklog>(
        `SELECT endpoint_id AS "endpointId", min(due_at) AS "dueAt",
           CAST(count(*) AS INTEGER) AS deliveries
         FROM deliveries WHERE due_at IS NOT NULL GROUP BY endpoint_id`,
      ),
    unreported: (limit: number, of?: readonly TenantId[]) =>
      of === undefined
        ? reader.all<TenantEvent>(`SELECT id, tenant FROM events WHERE ${UNREPORTED} LIMIT ?`, [
            limit,
          ])
        : reader.all<TenantEvent>(
            `SELECT id, tenant FROM events
             WHERE ${UNREPORTED} AND tenant IN (${d.texts('?')}) LIMIT ?`,
            [JSON.stringify(of), limit],
          ),
    unreportedTenants: async () => {
      const rows = await reader.all<{ tenant: TenantId }>(UNREPORTED_TENANTS)
      return rows.map(({ tenant }) => tenant)
    },
    oldest: (before: KeptSince, after: ReceiptPosition) =>
      reader.all<ReceiptPosition & { isOver: 0 | 1 }>(
        `SELECT received_at AS "receivedAt", position,
           CASE WHEN open = 0 AND reported = 1 AND (
             received_at < ? OR NOT EXISTS (
               SELECT 1 FROM deliveries WHERE event_id = events.id AND state = 'dead'))
             THEN 1 ELSE 0 END AS "isOver"
         FROM events WHERE (received_at, position) > (?, ?) AND received_at < ?
         ORDER BY received_at, position LIMIT ?`,
        [before.dead, after.receivedAt, after.position, before.delivered, SCAN_PAGE_ROWS],
      ),
    failing: () =>
      reader.all<StoredFailing>(
        'SELECT endpoint_id AS "endpointId", since, failed_at AS "failedAt" FROM failing_endpoints',
      ),
    eventsWithout: async (endpointId: EndpointId, tenant: TenantId, within: MissedWithin) => {
      const rows = await reader.all<MissedEvent>(
        `SELECT id, tenant, type, created_at AS "createdAt", received_at AS "receivedAt",
           request_id AS "requestId", traceparent, body
         FROM events
         WHERE received_at BETWEEN ? AND ? AND tenant = ? AND created_at >= ? AND NOT EXISTS (
           SELECT 1 FROM deliveries WHERE event_id = events.id AND endpoint_id = ?)`,
        [within.receivedSince, within.receivedBy, tenant, within.createdSince, endpointId],
      )
      return rows.filter(({ id, type, body }) => {
        const isReadable = isBodyOf(id, type, body)
        if (!isReadable) setApart({ id, eventId: id, endpointId }, WRONG_BODY)
        return isReadable
      })
    },
  }
}

const UNREPORTED = 'open = 0 AND reported = 0'
/** One index look-up per tenant. */
const UNREPORTED_TENANTS = `
  WITH RECURSIVE tenants (tenant) AS (
    SELECT min(tenant) FROM events WHERE ${UNREPORTED}
    UNION ALL
    SELECT (SELECT min(tenant) FROM events WHERE ${UNREPORTED} AND tenant > tenants.tenant)
    FROM tenants WHERE tenant IS NOT NULL)
  SELECT tenant FROM tenants WHERE tenant IS NOT NULL`

/** Checks again: a redrive may have reopened an event since the scan. */
const REMOVE = `
  DELETE FROM events
  WHERE position IN (SELECT value FROM json_each(?)) AND open = 0 AND reported = 1
`
