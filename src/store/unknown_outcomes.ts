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

export type UnknownKind = 'intents' | 'payouts' | 'recalls'

interface Source {
  readonly from: string
  readonly where: string
  /** SQL for the time of submission; null: no answer is due. */
  readonly since: string
  readonly id: 'intent' | 'payout'
}

const SOURCES: Readonly<Record<UnknownKind, Source>> = {
  intents: {
    from: 'intents INDEXED BY intents_under_way',
    where: "state = 'authorized'",
    since: "context ->> 'handedOverAt'",
    id: 'intent',
  },
  payouts: {
    from: 'payouts INDEXED BY payouts_under_way',
    where: "state = 'processing'",
    since: "context ->> 'handedOverAt'",
    id: 'payout',
  },
  recalls: {
    from: 'intents INDEXED BY intents_captured_due',
    where: "state = 'captured' AND due_at IS NOT NULL",
    since: `iif(context ->> '$.recall.refused', NULL, context ->> '$.recall.requestedAt')`,
    id: 'intent',
  },
}

/** Submitted by `by`. Ids grow with time, so an upper id bound skips later entities. */
export function unknownStatement(
  kind: UnknownKind,
  by: Instant,
  after: string,
  limit: number,
): Statement {
  const { from, where, since, id } = SOURCES[kind]
  return {
    sql: `SELECT id, tenant, state, context FROM ${from}
      WHERE ${where} AND id > ? AND id < ?
        AND CASE WHEN json_valid(context) THEN ${since} END <= ?
      ORDER BY id LIMIT ?`,
    values: [after, leastIdAt(id, plus(by, 1)), by, limit],
  }
}
