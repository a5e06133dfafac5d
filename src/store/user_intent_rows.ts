/**
 * The SQL that walks one user's intents from the newest back.
 *
 * Does not own: the start of the walk (processor/changes), filtering by user when two users share a
 * fingerprint (processor/queries).
 *
 * - Every link is a row, so a caller knows how far it has walked. The row of an intent that the
 *   filter excludes has an empty id.
 * - The walk ends below the filter's lowest id.
 */
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'
import { AFTER_ALL_IDS } from '../base/ids.js'

/** Ids are inclusive `from` and exclusive `below`. */
export interface UserIntentFilter {
  readonly state?: string
  readonly corridor?: string
  readonly from: string
  readonly below: string
}

export interface UserIntent {
  /** Empty means that the filter excludes the intent of this link. */
  readonly id: string
  readonly state: string
  /** Parsed. Null means that it is corrupt. */
  readonly context: unknown
  /** The number of the user's previous intent. 0 means none. */
  readonly before: number
}
export const USER_INTENT = {
  id: 'text',
  state: 'text',
  context: 'json',
  before: 'integer',
} as const

/** SQL for a value of the link of number `c.before`: its intent (0) or the number before (1). */
const linked: Readonly<Record<Dialect['name'], (index: 0 | 1) => string>> = {
  sqlite: (index) => `u.links ->> ('$[' || (c.before - u.first) || '][${index}]')`,
  postgres: (index) => `u.links::json -> (c.before - u.first)::integer ->> ${index}`,
}

const ALL_INTENTS: UserIntentFilter = { from: '', below: AFTER_ALL_IDS }

/** A corrupt context has no corridor. */
export const ofCorridor = (d: Dialect, context: string): string =>
  `CASE WHEN ${d.isJson(context)} THEN ${d.text(context, 'corridor')} END = ?`

/**
 * Each step is two primary-key lookups: the link and its intent. SQLite keeps the order of the
 * chain because a LEFT JOIN fixes the order of its loops.
 */
export function userIntentsStatement(
  start: number,
  links: number,
  { state, corridor, from, below }: UserIntentFilter = ALL_INTENTS,
): Statement {
  const conditions = (d: Dialect): readonly string[] => [
    ...(state === undefined ? [] : ['AND i.state = ?']),
    ...(corridor === undefined ? [] : [`AND ${ofCorridor(d, 'i.context')}`]),
  ]
  return {
    sql: (d) => `WITH RECURSIVE chain (id, before, length) AS (
        SELECT CAST(NULL AS TEXT), CAST(? AS BIGINT), 0
        UNION ALL
        SELECT ${linked[d.name](0)}, CAST(${linked[d.name](1)} AS BIGINT), c.length + 1
          FROM chain c JOIN intent_users u
            ON u.first = (SELECT first FROM intent_users
                            WHERE first <= c.before ORDER BY first DESC LIMIT 1)
          WHERE c.before > 0 AND c.length < ? AND (c.id IS NULL OR c.id >= ?))
      SELECT coalesce(i.id, '') AS id, coalesce(i.state, '') AS state,
          coalesce(i.context, 'null') AS context, c.before
        FROM chain c LEFT JOIN intents i
          ON i.id = c.id AND i.id >= ? AND i.id < ? ${conditions(d).join(' ')}
        WHERE c.length > 0
        ${d.name === 'sqlite' ? '' : 'ORDER BY c.length'}`,
    values: [
      ...[start, links, from, from, below],
      ...[state, corridor].filter((value) => value !== undefined),
    ],
  }
}
