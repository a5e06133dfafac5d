/**
 * The SQL that walks one user's intents from the newest back.
 *
 * Does not own: the start of the walk (processor/changes), filtering by user when two users share a
 * fingerprint (processor/queries).
 */
import type { Statement } from './database.js'
import type { Dialect } from './dialect.js'

export interface UserIntent {
  readonly id: string
  readonly state: string
  /** Parsed. Null: it is corrupt. */
  readonly context: unknown
  /** The number of the user's previous intent; 0: none. */
  readonly before: number
}
export const USER_INTENT = {
  id: 'text',
  state: 'text',
  context: 'json',
  before: 'integer',
} as const

/** SQL for a value of the link of number `c.before`: its intent (0) or the number before (1). */
const linked: Readonly<Record<Dialect['name'], (place: 0 | 1) => string>> = {
  sqlite: (place) => `u.links ->> ('$[' || (c.before - u.first) || '][${place}]')`,
  postgres: (place) => `u.links::json -> (c.before - u.first)::integer ->> ${place}`,
}

/**
 * Each step is two primary-key lookups: the link and its intent. SQLite keeps the order of the
 * chain because CROSS JOIN fixes the order of its loops.
 */
export const userIntentsStatement = (from: number, limit: number): Statement => ({
  sql: ({ name }) => `WITH RECURSIVE chain (id, before, length) AS (
      SELECT CAST(NULL AS TEXT), CAST(? AS BIGINT), 0
      UNION ALL
      SELECT ${linked[name](0)}, CAST(${linked[name](1)} AS BIGINT), c.length + 1
        FROM chain c JOIN intent_users u
          ON u.first = (SELECT first FROM intent_users
                          WHERE first <= c.before ORDER BY first DESC LIMIT 1)
        WHERE c.before > 0 AND c.length < ?)
    SELECT i.id, i.state, i.context, c.before
      FROM chain c ${name === 'sqlite' ? 'CROSS JOIN' : 'JOIN'} intents i ON i.id = c.id
      ${name === 'sqlite' ? '' : 'ORDER BY c.length'}`,
  values: [from, limit],
})
