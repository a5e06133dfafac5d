/**
 * The function that writes a batch of changes of a pool on PostgreSQL, and its parameters.
 *
 * Does not own: inserts and the fence (src/store/postgres/commit_function), what a batch contains
 * (store/schema).
 *
 * - A new event is inserted with its count of open deliveries. The count of a stored event is
 *   recomputed.
 * - Received texts get a replacement character for each character that PostgreSQL cannot store.
 */
import type { EventId } from '../../../../src/base/ids.js'
import { toCleanText } from '../../../../src/base/text.js'
import { textArray } from '../../../../src/store/postgres/arrays.js'
import { createCommitFunction, type Value } from '../../../../src/store/postgres/commit_function.js'
import { gathered, type Changes, type PoisonRow } from '../schema.js'

export const COMMIT_FUNCTION = createCommitFunction({
  tables: {
    events: {
      name: 'events',
      columns: {
        id: 'text',
        tenant: 'text',
        type: 'text',
        sequence: 'integer',
        created_at: 'integer',
        received_at: 'integer',
        open: 'integer',
        body: 'text',
        request_id: 'text',
        traceparent: 'text',
      },
    },
    deliveries: {
      name: 'deliveries',
      key: ['event_id', 'endpoint_id'],
      fixed: ['id'],
      columns: {
        id: 'text',
        event_id: 'text',
        endpoint_id: 'text',
        state: 'text',
        due_at: 'integer',
        context: 'json',
      },
    },
    attempts: {
      name: 'attempts',
      columns: {
        delivery_id: 'text',
        number: 'integer',
        at: 'integer',
        status: 'integer',
        reason: 'text',
        latency_ms: 'integer',
        reply: 'text',
      },
    },
  },
  arrays: new Set(['events', 'deliveries', 'attempts']),
  others: [
    { name: 'recount', type: 'text[]' },
    { name: 'poison', type: 'text' },
    { name: 'reported', type: 'text[]' },
    { name: 'seen_again', type: 'text[]' },
    { name: 'failing', type: 'text' },
    { name: 'no_longer_failing', type: 'text[]' },
  ],
  statements: `
  IF p_recount IS NOT NULL THEN
    UPDATE events SET open = (
        SELECT count(*) FROM deliveries WHERE event_id = events.id AND due_at IS NOT NULL)
      WHERE id = ANY (p_recount);
  END IF;
  IF p_poison IS NOT NULL THEN
    INSERT INTO poison
        (digest, subject, headers, payload_base64, reason, first_seen, last_seen, times)
      SELECT r ->> 0, r ->> 1, r ->> 2, r ->> 3, r ->> 4,
          (r ->> 5)::bigint, (r ->> 6)::bigint, (r ->> 7)::bigint
        FROM json_array_elements(p_poison::json) AS r
      ON CONFLICT (digest) DO UPDATE SET
        last_seen = excluded.last_seen, times = poison.times + excluded.times;
  END IF;
  IF p_reported IS NOT NULL THEN
    UPDATE events SET reported = 1 WHERE id = ANY (p_reported);
  END IF;
  IF p_seen_again IS NOT NULL THEN
    UPDATE events SET reported = 0 WHERE id = ANY (p_seen_again);
  END IF;
  IF p_no_longer_failing IS NOT NULL THEN
    DELETE FROM failing_endpoints WHERE endpoint_id = ANY (p_no_longer_failing);
  END IF;
  IF p_failing IS NOT NULL THEN
    INSERT INTO failing_endpoints (endpoint_id, since, failed_at)
      SELECT r ->> 0, (r ->> 1)::bigint, (r ->> 2)::bigint
        FROM json_array_elements(p_failing::json) AS r
      ON CONFLICT (endpoint_id) DO UPDATE SET
        since = excluded.since, failed_at = excluded.failed_at;
  END IF;`,
})

/** The values of its statement, for one commit with all of these changes. */
export function commitValues(
  batch: readonly Changes[],
  epoch: number,
  number: number,
): readonly Value[] {
  const all = gathered(batch)
  const open = new Map<EventId, number>()
  for (const { eventId, context } of all.deliveries) {
    if (context.dueAt !== null) open.set(eventId, (open.get(eventId) ?? 0) + 1)
  }
  const isNew = new Set(all.events.map(({ id }) => id))
  const recount = new Set(
    all.deliveries.map(({ eventId }) => eventId).filter((id) => !isNew.has(id)),
  )
  const rows = {
    events: all.events.map((row) => ({
      id: row.id,
      tenant: row.tenant,
      type: row.type,
      sequence: row.sequence,
      created_at: row.createdAt,
      received_at: row.receivedAt,
      open: open.get(row.id) ?? 0,
      body: row.body,
      request_id: row.requestId,
      traceparent: row.traceparent,
    })),
    deliveries: all.deliveries.map((row) => ({
      id: row.id,
      event_id: row.eventId,
      endpoint_id: row.endpointId,
      state: row.state,
      due_at: row.context.dueAt,
      context: row.context,
    })),
    attempts: all.attempts.map((row) => ({
      delivery_id: row.deliveryId,
      number: row.number,
      at: row.at,
      status: row.status,
      reason: row.reason,
      latency_ms: row.latencyMs,
      reply: toCleanText(row.reply),
    })),
  }
  return COMMIT_FUNCTION.values(epoch, number, rows, [
    texts([...recount]),
    asJson(poisonOf(all.poison)),
    texts(all.reported),
    texts(all.seenAgain),
    asJson(all.failing.map(({ endpointId, since, failedAt }) => [endpointId, since, failedAt])),
    texts(all.noLongerFailing),
  ])
}

/** One row per digest, because one INSERT cannot update a row twice. */
function poisonOf(rows: readonly PoisonRow[]): readonly unknown[] {
  const byDigest = new Map<string, readonly PoisonRow[]>()
  for (const row of rows) byDigest.set(row.digest, [...(byDigest.get(row.digest) ?? []), row])
  return [...byDigest.values()].map((same) => {
    const [first, last] = [same[0]!, same.at(-1)!]
    const { digest, subject, headers, payloadBase64, reason } = first
    return [
      ...[digest, toCleanText(subject), JSON.stringify(headers), payloadBase64],
      ...[toCleanText(reason), first.at, last.at, same.length],
    ]
  })
}

const texts = (values: readonly string[]): Buffer | null =>
  values.length === 0 ? null : textArray(values)

const asJson = (rows: readonly unknown[]): string | null =>
  rows.length === 0 ? null : JSON.stringify(rows)
