/**
 * Instructions that are out and of which nobody knows what became, and recalls without an answer.
 *
 * Owns: the SQL that finds them. Does not own: from when on silence counts
 * (actors/rail_inquiry).
 *
 * - Only what is under way is in the index, so a page costs what is unknown, not what there is.
 * - A damaged row is passed over: it would hide all others.
 */
import { plus, type Instant } from '../base/clock.js'
import { leastIdAt } from '../base/ids.js'
import type { Statement } from './database.js'

export type UnknownKind = 'intents' | 'payouts' | 'recalls'

interface Source {
  readonly from: string
  readonly where: string
  /** When the rail was told; null: it owes no answer. */
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

/** The rail was told by then. Ids grow with time: what was made later needs no look. */
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
