/**
 * Instructions that are out and of which nobody knows what became.
 *
 * Owns: the SQL that finds them. Does not own: from when on silence counts
 * (actors/unknown_outcome).
 *
 * U1. Only what is under way is in the index, so a page costs what is unknown, not what there is.
 * U2. A damaged row is passed over: it would hide all others.
 */
import { plus, type Instant } from '../base/clock.js'
import { leastIdAt } from '../base/ids.js'
import type { Statement } from './database.js'

export type UnknownKind = 'intents' | 'payouts'

const UNDER_WAY = {
  intents: { state: 'authorized', id: 'intent' },
  payouts: { state: 'processing', id: 'payout' },
} as const

/** Handed over by then. Ids grow with time: what was made later needs no look. */
export const unknownStatement = (
  kind: UnknownKind,
  by: Instant,
  after: string,
  limit: number,
): Statement => ({
  sql: `SELECT id, tenant, state, context FROM ${kind} INDEXED BY ${kind}_under_way
    WHERE state = '${UNDER_WAY[kind].state}' AND id > ? AND id < ?
      AND CASE WHEN json_valid(context) THEN context ->> 'handedOverAt' END <= ?
    ORDER BY id LIMIT ?`,
  values: [after, leastIdAt(UNDER_WAY[kind].id, plus(by, 1)), by, limit],
})
