/**
 * The SQL that finds submitted instructions without an outcome and recalls without an answer.
 *
 * Does not own: how long until silence counts as unknown (actors/rail_inquiry).
 *
 * - Partial indexes cover open entities only, so a page costs the open ones, not all of them.
 * - Corrupt rows are skipped: one of them would fail the whole list.
 */
import { plus, type Instant } from '../base/clock.js'
import { leastIdAt } from '../base/ids.js'
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'

export type UnknownKind = 'intents' | 'payouts' | 'recalls'

const UNKNOWN_COUNTED_MAX = 1_000

interface Source {
  readonly table: 'intents' | 'payouts'
  readonly index: string
  readonly where: string
  /** SQL for the time of submission. Null if no answer is due. */
  since(dialect: Dialect): string
  readonly id: 'intent' | 'payout'
}

const SOURCES: Readonly<Record<UnknownKind, Source>> = {
  intents: {
    table: 'intents',
    index: 'intents_under_way',
    where: "state = 'authorized'",
    since: (d) => d.integer('context', 'handedOverAt'),
    id: 'intent',
  },
  payouts: {
    table: 'payouts',
    index: 'payouts_under_way',
    where: "state = 'processing'",
    since: (d) => d.integer('context', 'handedOverAt'),
    id: 'payout',
  },
  recalls: {
    table: 'intents',
    index: 'intents_captured_due',
    where: "state = 'captured' AND due_at IS NOT NULL",
    since: (d) => `CASE WHEN ${d.isTrue('context', 'recall', 'refused')} THEN NULL
      ELSE ${d.integer('context', 'recall', 'requestedAt')} END`,
    id: 'intent',
  },
}

/** How many were submitted by `by`, of the oldest UNKNOWN_COUNTED_MAX open ones. */
export function unknownCountStatement(kind: UnknownKind, by: Instant): Statement {
  const { table, index, where, since, id } = SOURCES[kind]
  return {
    sql: (d) => `SELECT CAST(count(*) AS INTEGER) AS count FROM (
      SELECT context FROM ${table} ${d.indexedBy(index)}
      WHERE ${where} AND id < ? ORDER BY id LIMIT ?) AS open
      WHERE CASE WHEN ${d.isJson('context')} THEN ${since(d)} END <= ?`,
    values: [leastIdAt(id, plus(by, 1)), UNKNOWN_COUNTED_MAX, by],
  }
}

/** Submitted by `by`. Ids grow with time, so an upper id bound skips later entities. */
export function unknownStatement(
  kind: UnknownKind,
  by: Instant,
  after: string,
  limit: number,
): Statement {
  const { table, index, where, since, id } = SOURCES[kind]
  return {
    sql: (d) => `SELECT id, tenant, state, context FROM ${table} ${d.indexedBy(index)}
      WHERE ${where} AND id > ? AND id < ?
        AND CASE WHEN ${d.isJson('context')} THEN ${since(d)} END <= ?
      ORDER BY id LIMIT ?`,
    values: [after, leastIdAt(id, plus(by, 1)), by, limit],
  }
}
