/**
 * Queries for partners and operators: deliveries with their attempts, counts, poison messages.
 *
 * Does not own: the pool's own reads (store/store), authorization (the processor).
 *
 * - They run on a connection of their own and do not delay the pool's reads and commits.
 * - Deliveries are ordered by event id, then endpoint id. The order is the same in every pool, so
 *   their lists can be merged.
 * - A corrupt delivery is listed (store/stored_delivery).
 */
import type { Instant } from '../../../src/base/clock.js'
import type { DeliveryId, EndpointId, EventId, TenantId } from '../../../src/base/ids.js'
import { ENDPOINT_EVENTS } from '../../../src/base/event_types.js'
import { openDatabase } from '../../../src/store/sqlite/database.js'
import type { Reader } from '../../../src/store/database.js'
import type { AttemptRow, DeliveryRow } from './schema.js'
import { shownState, type StoredState } from './stored_delivery.js'

export interface DeliveryView extends DeliveryRow {
  readonly tenant: TenantId
  readonly eventType: string
  readonly requestId: string | null
}

export type AttemptView = Omit<AttemptRow, 'deliveryId'>

/** A delivery without its event. */
export interface OrphanDelivery {
  readonly id: DeliveryId
  readonly endpointId: EndpointId
  /** The number of its newest attempt. Null if there is none. */
  readonly lastNumber: number | null
}

/** A position in the order of deliveries. */
export interface DeliveryPosition {
  readonly eventId: string
  readonly endpointId: string
}

export interface PoisonView {
  readonly digest: string
  readonly subject: string
  readonly reason: string
  readonly firstSeen: Instant
  readonly lastSeen: Instant
  readonly times: number
  readonly payloadBase64: string
}

export interface EndpointCounts {
  readonly endpointId: EndpointId
  readonly open: number
  readonly dead: number
}

/** The dead deliveries of one endpoint. */
export interface DeadCounts {
  readonly endpointId: EndpointId
  readonly count: number
  /** When the newest died. */
  readonly newestAt: Instant
  /** Those of events that are not about an endpoint. */
  readonly alerting: number
  readonly alertingAt: Instant
  /** The newest event among those. Null if there is none. */
  readonly newestEventId: EventId | null
}

export interface AdminQueries {
  /** Deliveries of one endpoint below an event id, newest first. */
  ofEndpoint(
    endpointId: string,
    belowEvent: string,
    deadOnly: boolean,
    limit: number,
  ): Promise<readonly DeliveryView[]>
  /** Dead deliveries of all endpoints below a position, newest first. */
  dead(below: DeliveryPosition, limit: number): Promise<readonly DeliveryView[]>
  delivery(id: string): Promise<DeliveryView | undefined>
  ofEvent(eventId: string): Promise<readonly DeliveryView[]>
  /** Waiting or dead deliveries above an event id, oldest first. */
  failed(endpointId: string, aboveEvent: string, limit: number): Promise<readonly DeliveryView[]>
  /** Endpoints with waiting or dead deliveries. */
  failedEndpoints(): Promise<readonly EndpointId[]>
  /** The last ATTEMPTS_MAX attempts of a delivery, oldest first. */
  attempts(id: DeliveryId): Promise<readonly AttemptView[]>
  hasEvent(id: string): Promise<boolean>
  /** Deliveries of an event that is missing, by endpoint. */
  orphansOf(eventId: string): Promise<ReadonlyMap<EndpointId, OrphanDelivery>>
  counts(): Promise<readonly EndpointCounts[]>
  /** The counts of each endpoint with dead deliveries. */
  deadCounts(): Promise<readonly DeadCounts[]>
  /** When the oldest event with an open delivery was created. */
  oldestOpen(): Promise<Instant | null>
  poisonCount(): Promise<number>
  poison(limit: number): Promise<readonly PoisonView[]>
  close(): Promise<void>
}

/** Only repeated redrives create more. */
const ATTEMPTS_MAX = 24

const LAST_NUMBER = '(SELECT max(number) FROM attempts WHERE delivery_id = d.id)'
const DELIVERY = `
  SELECT d.id, d.event_id AS "eventId", d.endpoint_id AS "endpointId", d.state,
    d.due_at AS "dueAt", d.context, ${LAST_NUMBER} AS "lastNumber",
    e.tenant, e.type AS "eventType", e.request_id AS "requestId"
  FROM deliveries AS d`
const WITH_EVENT = 'JOIN events AS e ON e.id = d.event_id'
const FAILED = "state IN ('waiting', 'dead')"

type StoredView = Omit<DeliveryView, 'state' | 'context'> & StoredState

export async function openAdminQueries(file: string): Promise<AdminQueries> {
  const reader = await openDatabase(file, { readOnly: true })
  return createAdminQueries(reader, () => reader.close())
}

export const createAdminQueries = (reader: Reader, close: () => Promise<void>): AdminQueries => ({
  ...deliveriesIn(reader),
  ...countsIn(reader),
  close,
})

function deliveriesIn(reader: Reader) {
  const { indexedBy } = reader.dialect
  const deliveries = async (
    clauses: string,
    values: readonly (string | number)[],
  ): Promise<DeliveryView[]> => {
    const rows = await reader.all<StoredView>(`${DELIVERY} ${clauses}`, values)
    return rows.map(({ dueAt, lastNumber, ...row }) => ({
      ...row,
      ...shownState({ ...row, dueAt, lastNumber }),
    }))
  }

  return {
    ofEndpoint: (endpointId: string, belowEvent: string, deadOnly: boolean, limit: number) =>
      deliveries(
        `${indexedBy(deadOnly ? 'deliveries_failed' : 'deliveries_of_endpoint')} ${WITH_EVENT}
         WHERE d.endpoint_id = ? AND d.event_id < ?
           ${deadOnly ? `AND d.${FAILED} AND d.state = 'dead'` : ''}
         ORDER BY d.event_id DESC LIMIT ?`,
        [endpointId, belowEvent, limit],
      ),
    dead: ({ eventId, endpointId }: DeliveryPosition, limit: number) =>
      deliveries(
        `${indexedBy('deliveries_dead')} ${WITH_EVENT}
         WHERE d.state = 'dead' AND (d.event_id, d.endpoint_id) < (?, ?)
         ORDER BY d.event_id DESC, d.endpoint_id DESC LIMIT ?`,
        [eventId, endpointId, limit],
      ),
    delivery: async (id: string) => (await deliveries(`${WITH_EVENT} WHERE d.id = ?`, [id]))[0],
    ofEvent: (eventId: string) =>
      deliveries(`${WITH_EVENT} WHERE d.event_id = ? ORDER BY d.endpoint_id`, [eventId]),
    failed: (endpointId: string, aboveEvent: string, limit: number) =>
      deliveries(
        `${indexedBy('deliveries_failed')} ${WITH_EVENT}
         WHERE d.endpoint_id = ? AND d.event_id > ? AND d.${FAILED}
         ORDER BY d.event_id LIMIT ?`,
        [endpointId, aboveEvent, limit],
      ),
    failedEndpoints: async () => {
      const rows = await reader.all<{ id: EndpointId }>(
        `SELECT DISTINCT endpoint_id AS id FROM deliveries WHERE ${FAILED}`,
      )
      return rows.map(({ id }) => id)
    },
    attempts: async (id: DeliveryId) => {
      const rows = await reader.all<AttemptView>(
        `SELECT number, at, status, reason, latency_ms AS "latencyMs", reply FROM attempts
         WHERE delivery_id = ? ORDER BY number DESC LIMIT ${ATTEMPTS_MAX}`,
        [id],
      )
      return rows.reverse()
    },
    hasEvent: async (id: string) =>
      (await reader.all('SELECT 1 FROM events WHERE id = ?', [id])).length > 0,
    orphansOf: async (eventId: string) => {
      const rows = await reader.all<OrphanDelivery>(
        `SELECT d.id, d.endpoint_id AS "endpointId", ${LAST_NUMBER} AS "lastNumber"
         FROM deliveries AS d WHERE d.event_id = ?
           AND NOT EXISTS (SELECT 1 FROM events WHERE id = d.event_id)`,
        [eventId],
      )
      return new Map(rows.map((row) => [row.endpointId, row]))
    },
  }
}

function countsIn(reader: Reader) {
  const { indexedBy } = reader.dialect
  return {
    counts: () =>
      reader.all<EndpointCounts>(
        `SELECT endpoint_id AS "endpointId", CAST(sum(open) AS bigint) AS open,
           CAST(sum(dead) AS bigint) AS dead FROM (
           SELECT endpoint_id, count(*) AS open, 0 AS dead
             FROM deliveries ${indexedBy('deliveries_due')}
             WHERE due_at IS NOT NULL GROUP BY endpoint_id
           UNION ALL
           SELECT endpoint_id, 0, count(*) FROM deliveries ${indexedBy('deliveries_dead')}
             WHERE state = 'dead' GROUP BY endpoint_id) AS counted
         GROUP BY endpoint_id`,
      ),
    deadCounts: () =>
      reader.all<DeadCounts>(
        `SELECT endpoint_id AS "endpointId", count(*) AS count,
           coalesce(max(died_at), 0) AS "newestAt", count(about) AS alerting,
           coalesce(max(CASE WHEN about IS NULL THEN NULL ELSE died_at END), 0) AS "alertingAt",
           max(about) AS "newestEventId"
         FROM (
           SELECT d.endpoint_id,
             (SELECT max(at) FROM attempts WHERE delivery_id = d.id) AS died_at,
             CASE WHEN e.type LIKE '${ENDPOINT_EVENTS}%' THEN NULL ELSE e.id END AS about
           FROM deliveries AS d ${indexedBy('deliveries_dead')}
             JOIN events AS e ON e.id = d.event_id
           WHERE d.state = 'dead') AS dead
         GROUP BY endpoint_id`,
      ),
    oldestOpen: async () => {
      const [row] = await reader.all<{ at: Instant }>(
        `SELECT created_at AS at FROM events
         WHERE id = (SELECT min(event_id) FROM deliveries ${indexedBy('deliveries_due')}
           WHERE due_at IS NOT NULL)`,
      )
      return row?.at ?? null
    },
    poisonCount: async () => {
      const [row] = await reader.all<{ count: number }>('SELECT count(*) AS count FROM poison')
      return row?.count ?? 0
    },
    poison: (limit: number) =>
      reader.all<PoisonView>(
        `SELECT digest, subject, reason, first_seen AS "firstSeen", last_seen AS "lastSeen", times,
           payload_base64 AS "payloadBase64"
         FROM poison ORDER BY last_seen DESC, digest LIMIT ?`,
        [limit],
      ),
  }
}
