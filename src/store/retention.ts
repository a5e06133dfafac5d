/**
 * Rows whose retention can end: events, idempotency keys and the actions of requests.
 *
 * Owns: finding them, and the SQL that deletes them and what an erased user leaves. Does not own:
 * when they are deleted (processor/background/retention), which are recorded as deleted
 * (processor/commands/retention), the erasure of a user (processor/background/user_erasures).
 *
 * - Each statement reads a bounded number of rows along an index, after the last one that was
 *   deleted.
 * - An event or a key is needed while its payment or its deliveries are open, or while a
 *   discrepancy of its payment is not resolved.
 */
import type { Instant } from '../base/clock.js'
import { leastIdAt, type TenantId } from '../base/ids.js'
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'
import type { Row } from './tables.js'

/** What is deleted, or replaced for an erased user, in one commit. */
export interface ExpiredRows {
  /** Positions. */
  readonly events: readonly number[]
  readonly keys: readonly ExpiredKey[]
  /** Request ids. */
  readonly requests: readonly string[]
  /** Keys of limit counters. */
  readonly usage: readonly string[]
  /** Ids of intents and payouts. */
  readonly payments: readonly string[]
  /** Replaces all fingerprints of a row. */
  readonly userFingerprints: readonly UserFingerprints[]
}

export const NOTHING_EXPIRED: ExpiredRows = {
  events: [],
  keys: [],
  requests: [],
  usage: [],
  payments: [],
  userFingerprints: [],
}

/** The fingerprints of the users of intents with consecutive numbers, 8 bytes each. */
export interface UserFingerprints {
  readonly first: number
  readonly prints: Buffer
}

export interface ExpiredKey {
  readonly sequence: number
  readonly key: string
  /** The fingerprint's column in the index of older keys. */
  readonly fingerprint: bigint
}

/** Arrays of arrays, so that SQLite and PostgreSQL read the same path. */
export const expiredAsJson = (rows: ExpiredRows): string =>
  JSON.stringify({
    events: rows.events.map((position) => [position]),
    keys: rows.keys.map(({ sequence, fingerprint }) => [sequence, fingerprint.toString()]),
    requests: rows.requests.map((id) => [id]),
    usage: rows.usage.map((key) => [key]),
    payments: rows.payments.map((id) => [id]),
    users: rows.userFingerprints.map(({ first, prints }) => [first, prints.toString('hex')]),
  })

/** Statements of a commit. */
export function deleteExpired(d: Dialect, expired: string): readonly string[] {
  const integers = (member: string, ...indexes: readonly number[]): string =>
    `SELECT ${indexes.map((index) => `CAST(value ->> ${index} AS bigint)`).join(', ')}
      FROM ${d.itemsOf(expired, member)}`
  return [
    ...(d.outcomes === null
      ? []
      : [`DELETE FROM ${d.outcomes} WHERE position IN (${integers('events', 0)});`]),
    `DELETE FROM events WHERE position IN (${integers('events', 0)});`,
    `DELETE FROM idempotency_index WHERE (fingerprint, sequence) IN (${integers('keys', 1, 0)});`,
    `DELETE FROM idempotency WHERE sequence IN (${integers('keys', 0)});`,
    `DELETE FROM request_actions WHERE request_id IN
      (SELECT value ->> 0 FROM ${d.itemsOf(expired, 'requests')});`,
    `DELETE FROM limit_usage WHERE key IN
      (SELECT value ->> 0 FROM ${d.itemsOf(expired, 'usage')});`,
    ...['intents', 'payouts'].map(
      (table) => `DELETE FROM ${table} WHERE id IN
        (SELECT value ->> 0 FROM ${d.itemsOf(expired, 'payments')});`,
    ),
    `UPDATE intent_users SET prints = ${d.fromHex('value ->> 1')}
      FROM ${d.itemsOf(expired, 'users')} WHERE first = CAST(value ->> 0 AS bigint);`,
  ]
}

export interface StoredEventAge {
  readonly position: number
  readonly sequence: number
  readonly createdAt: number
  /** 1: it must stay. */
  readonly isNeeded: 0 | 1
}

export interface StoredKeyAge {
  readonly sequence: number
  readonly key: string
  readonly entity: string
  /** 1: it must stay. */
  readonly isNeeded: 0 | 1
}

export interface RetentionReads {
  /** The last deleted event of a tenant. Undefined if it has all of them. */
  eventEdge(tenant: TenantId): Promise<Row<'eventRetention'> | undefined>
  /** A tenant's events after a sequence number, in order. */
  events(tenant: TenantId, after: number, limit: number): Promise<readonly StoredEventAge[]>
  /** Keys up to this sequence were looked at, by kind. */
  keyEdges(): Promise<readonly Row<'keyRetention'>[]>
  /**
   * The last key that was bound by this moment, as far as that is known. 0 means none.
   *
   * @param now an age that was recorded later is of a clock that was ahead
   */
  lastKeyBy(moment: Instant, now: Instant): Promise<number>
  /** Keys with sequences after `after` and up to `through`, in order. */
  keys(after: number, through: number, limit: number): Promise<readonly StoredKeyAge[]>
  /** Requests of before this moment with recorded actions, the oldest first. */
  requests(before: Instant, limit: number): Promise<readonly string[]>
}

type Read = <R>(statement: Statement) => Promise<R[]>

export const createRetentionReads = (read: Read): RetentionReads => ({
  eventEdge: async (tenant) => (await read<Row<'eventRetention'>>(eventEdgeStatement(tenant)))[0],
  events: (tenant, after, limit) => read(eventAgesStatement(tenant, after, limit)),
  keyEdges: () => read(KEY_EDGES),
  lastKeyBy: async (moment, now) =>
    (await read<{ through: number }>(lastKeyStatement(moment, now)))[0]?.through ?? 0,
  keys: (after, through, limit) => read(keyAgesStatement(after, through, limit)),
  requests: async (before, limit) => {
    const rows = await read<{ id: string }>(requestsStatement(before, limit))
    return rows.map(({ id }) => id)
  },
})

const eventEdgeStatement = (tenant: TenantId): Statement => ({
  sql: () => `SELECT tenant, sequence, position, created_at FROM event_retention
    WHERE tenant = ?`,
  values: [tenant],
})

/**
 * `entity` is an id, or `{id}@{number}`. Scalar subqueries: each is a lookup of one row, where
 * PostgreSQL would read the whole table for EXISTS.
 */
const isOpen = (d: Dialect, entity: string): string => `
    coalesce((SELECT p.state FROM payouts p WHERE p.id = ${entity}), '')
      IN ('created', 'processing')
    OR coalesce((SELECT CASE WHEN i.due_at IS NULL THEN i.state ELSE 'authorized' END
      FROM intents i WHERE i.id = ${subjectOf(d, entity)}), '') IN ('created', 'authorized')
    OR (SELECT count(*) FROM discrepancies d ${d.indexedBy('discrepancies_of_entity')}
      WHERE d.entity = ${subjectOf(d, entity)} AND d.resolved_at IS NULL) > 0`

const subjectOf = (d: Dialect, entity: string): string => `CASE ${d.position(entity, '@')}
      WHEN 0 THEN ${entity} ELSE substr(${entity}, 1, ${d.position(entity, '@')} - 1) END`

/** Uses the unique index on (tenant, sequence). */
export const eventAgesStatement = (tenant: TenantId, after: number, limit: number): Statement => ({
  sql: (d) => `SELECT position, sequence, created_at AS "createdAt",
      CASE WHEN ${d.settledAt} IS NULL OR ${isOpen(d, 'events.entity')}
        THEN 1 ELSE 0 END AS "isNeeded"
    FROM events WHERE tenant = ? AND sequence > ? ORDER BY sequence LIMIT ?`,
  values: [tenant, after, limit],
})

const KEY_EDGES: Statement = {
  sql: () => 'SELECT kind, through FROM idempotency_retention',
  values: [],
}

/** An age before an earlier row's was recorded while the clock was set back: it does not count. */
const lastKeyStatement = (moment: Instant, now: Instant): Statement => ({
  sql: () => `SELECT coalesce(max(through), 0) AS through FROM (
      SELECT through, at, max(CASE WHEN at <= ?2 THEN at ELSE 0 END) OVER (ORDER BY through)
        AS newest FROM idempotency_ages) AS ages
    WHERE at <= ?1 AND at >= newest`,
  values: [moment, now],
})

export const keyAgesStatement = (after: number, through: number, limit: number): Statement => ({
  sql: (d) => `SELECT sequence, key, entity,
      CASE WHEN ${isOpen(d, 'idempotency.entity')} THEN 1 ELSE 0 END AS "isNeeded"
    FROM idempotency WHERE sequence > ? AND sequence <= ? ORDER BY sequence LIMIT ?`,
  values: [after, through, limit],
})

/** Ids of requests grow with time. */
export const requestsStatement = (before: Instant, limit: number): Statement => ({
  sql: () => `SELECT DISTINCT request_id AS id FROM request_actions
    WHERE request_id < ? ORDER BY request_id LIMIT ?`,
  values: [leastIdAt('request', before), limit],
})
