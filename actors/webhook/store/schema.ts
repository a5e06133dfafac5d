/**
 * The rows that a commit of the pool changes, and their encoding as one SQL statement of SQLite.
 *
 * Does not own: the tables (schema/*.sql), when to commit (store/store), PostgreSQL's encoding
 * (store/postgres/commit).
 *
 * - On SQLite a commit batch is one INSERT into the view `commit_batch` with one JSON array per
 *   table: one driver call, one transaction and one fsync a batch.
 * - A delivery that changes several times within a batch is written once, in its last state.
 * - The count of open deliveries of an event is recomputed in the commit that changes one of them,
 *   unless the event is new in it and has no open delivery.
 */
import type { Instant } from '../../../src/base/clock.js'
import type { DeliveryId, EndpointId, EventId, TenantId } from '../../../src/base/ids.js'
import type { Traceparent } from '../../../src/base/traceparent.js'
import type { DeliveryContext, DeliveryState } from '../delivery/machine.js'

export interface EventRow {
  readonly id: EventId
  readonly tenant: TenantId
  readonly type: string
  readonly sequence: number
  readonly createdAt: Instant
  readonly receivedAt: Instant
  readonly body: string
  /** The request that caused it. Null if there is none. */
  readonly requestId: string | null
  /** The span that it was published in. Null if it is not traced. */
  readonly traceparent: Traceparent | null
}

export interface DeliveryRow {
  readonly id: DeliveryId
  readonly eventId: EventId
  readonly endpointId: EndpointId
  readonly state: DeliveryState
  readonly context: DeliveryContext
}

export interface AttemptRow {
  readonly deliveryId: DeliveryId
  readonly number: number
  /** When it ended. */
  readonly at: Instant
  readonly status: number | null
  readonly reason: string
  readonly latencyMs: number
  readonly reply: string
}

export interface PoisonRow {
  readonly digest: string
  readonly subject: string
  readonly headers: Readonly<Record<string, string>>
  readonly payloadBase64: string
  readonly reason: string
  readonly at: Instant
}

/** An endpoint without a 2xx since then. */
export interface FailingRow {
  readonly endpointId: EndpointId
  readonly since: Instant
  /** Its last failure, to the hour. */
  readonly failedAt: Instant
}

export interface Changes {
  readonly events?: readonly EventRow[]
  readonly deliveries?: readonly DeliveryRow[]
  readonly attempts?: readonly AttemptRow[]
  readonly poison?: readonly PoisonRow[]
  /** Settled events whose outcome the processor has confirmed. */
  readonly reported?: readonly EventId[]
  /** Known events that were published again: the processor does not have their outcome. */
  readonly seenAgain?: readonly EventId[]
  readonly failing?: readonly FailingRow[]
  readonly noLongerFailing?: readonly EndpointId[]
}

type Encode = { readonly [K in keyof Required<Changes>]: (row: Item<K>) => unknown }
type Item<K extends keyof Changes> = Required<Changes>[K][number]

const ENCODE: Encode = {
  events: (row) => [
    row.id,
    row.tenant,
    row.type,
    row.sequence,
    row.createdAt,
    row.receivedAt,
    row.body,
    row.requestId,
    row.traceparent,
  ],
  deliveries: (row) => [
    row.id,
    row.eventId,
    row.endpointId,
    row.state,
    row.context.dueAt,
    JSON.stringify(row.context),
  ],
  attempts: (row) => [
    row.deliveryId,
    row.number,
    row.at,
    row.status,
    row.reason,
    row.latencyMs,
    row.reply,
  ],
  poison: (row) => [
    row.digest,
    row.subject,
    JSON.stringify(row.headers),
    row.payloadBase64,
    row.reason,
    row.at,
  ],
  reported: (id) => id,
  seenAgain: (id) => id,
  failing: (row) => [row.endpointId, row.since, row.failedAt],
  noLongerFailing: (id) => id,
}

const NAMES = Object.keys(ENCODE) as (keyof Changes)[]
const COLUMNS = [...NAMES, 'recount']

const cell = (index: number): string => `value ->> '$[${index}]'`
const firstCells = (count: number): string =>
  Array.from({ length: count }, (_, i) => cell(i)).join(', ')

export const COMMIT_VIEW = `
  CREATE TEMP VIEW commit_batch AS SELECT ${COLUMNS.map((name) => `NULL AS ${name}`).join(', ')};
  CREATE TEMP TRIGGER commit_batch_fan_out INSTEAD OF INSERT ON commit_batch BEGIN
    INSERT INTO events
      (id, tenant, type, sequence, created_at, received_at, body, request_id, traceparent)
      SELECT ${firstCells(9)} FROM jsonb_each(NEW.events);
    INSERT INTO deliveries (id, event_id, endpoint_id, state, due_at, context)
      SELECT ${firstCells(6)} FROM jsonb_each(NEW.deliveries) WHERE true
      ON CONFLICT (event_id, endpoint_id) DO UPDATE SET
        state = excluded.state, due_at = excluded.due_at, context = excluded.context;
    UPDATE events SET open = (
        SELECT count(*) FROM deliveries WHERE event_id = events.id AND due_at IS NOT NULL)
      WHERE id IN (SELECT value FROM json_each(NEW.recount));
    INSERT INTO attempts (delivery_id, number, at, status, reason, latency_ms, reply)
      SELECT ${firstCells(7)} FROM jsonb_each(NEW.attempts);
    INSERT INTO poison
        (digest, subject, headers, payload_base64, reason, first_seen, last_seen, times)
      SELECT ${firstCells(6)}, ${cell(5)}, 1 FROM jsonb_each(NEW.poison) WHERE true
      ON CONFLICT (digest) DO UPDATE SET last_seen = excluded.last_seen, times = times + 1;
    UPDATE events SET reported = 1 WHERE id IN (SELECT value FROM json_each(NEW.reported));
    UPDATE events SET reported = 0 WHERE id IN (SELECT value FROM json_each(NEW.seenAgain));
    DELETE FROM failing_endpoints
      WHERE endpoint_id IN (SELECT value FROM json_each(NEW.noLongerFailing));
    INSERT INTO failing_endpoints (endpoint_id, since, failed_at)
      SELECT ${firstCells(3)} FROM jsonb_each(NEW.failing) WHERE true
      ON CONFLICT (endpoint_id) DO UPDATE SET
        since = excluded.since, failed_at = excluded.failed_at;
  END;
`
export const COMMIT_STATEMENT = `INSERT INTO commit_batch (${COLUMNS.join(', ')})
  VALUES (${COLUMNS.map(() => '?').join(', ')})`

/** The parameters of one commit with all of these changes. */
export function commitParameters(batch: readonly Changes[]): (string | null)[] {
  const all = gathered(batch)
  return [...NAMES.map((name) => asJson(encoded(all, name))), asJson(toRecount(all))]
}

/**
 * All changes of a commit; each delivery in its last state. What `noLongerFailing` has is stored
 * before what `failing` has, which is what fails at the end.
 */
export type Gathered = { readonly [K in keyof Required<Changes>]: readonly Item<K>[] }

export function gathered(batch: readonly Changes[]): Gathered {
  const all = Object.fromEntries(NAMES.map((name) => [name, gather(batch, name)])) as unknown
  const { deliveries, ...others } = all as Gathered
  return {
    ...others,
    deliveries: [...new Map(deliveries.map((row) => [row.id, row])).values()],
    failing: failingAtTheEnd(batch),
  }
}

function failingAtTheEnd(batch: readonly Changes[]): readonly Item<'failing'>[] {
  const rows = new Map<EndpointId, Item<'failing'>>()
  for (const { failing = [], noLongerFailing = [] } of batch) {
    for (const id of noLongerFailing) rows.delete(id)
    for (const row of failing) rows.set(row.endpointId, row)
  }
  return [...rows.values()]
}

function gather<K extends keyof Changes>(batch: readonly Changes[], name: K): readonly Item<K>[] {
  const rows: Item<K>[] = []
  for (const changes of batch) {
    for (const row of (changes[name] ?? []) as readonly Item<K>[]) rows.push(row)
  }
  return rows
}

const encoded = <K extends keyof Changes>(all: Gathered, name: K): readonly unknown[] =>
  (all[name] as readonly Item<K>[]).map((row) => ENCODE[name](row))

/** Events with a changed delivery, without new events that have no open one (`open` is 0). */
function toRecount({ events, deliveries }: Gathered): readonly EventId[] {
  const settled = new Set(events.map(({ id }) => id))
  for (const { eventId, context } of deliveries) if (context.dueAt !== null) settled.delete(eventId)
  return [...new Set(deliveries.map(({ eventId }) => eventId))].filter((id) => !settled.has(id))
}

const asJson = (rows: readonly unknown[]): string | null =>
  rows.length === 0 ? null : JSON.stringify(rows)
