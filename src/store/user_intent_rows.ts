/**
 * The SQL that walks one user's intents from the newest back.
 *
 * Does not own: the start of the walk (processor/changes), filtering by user when two users share a
 * fingerprint (processor/queries).
 */
import type { Statement } from './database.js'

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

/** Each step is two primary-key lookups: the link and its intent. */
export const userIntentsStatement = (from: number, limit: number): Statement => ({
  sql: `WITH RECURSIVE chain (id, before, length) AS (
      SELECT NULL, ?, 0
      UNION ALL
      SELECT u.links ->> ('$[' || (c.before - u.first) || '][0]'),
             u.links ->> ('$[' || (c.before - u.first) || '][1]'), c.length + 1
        FROM chain c JOIN intent_users u
          ON u.first = (SELECT first FROM intent_users
                          WHERE first <= c.before ORDER BY first DESC LIMIT 1)
        WHERE c.before > 0 AND c.length < ?)
    SELECT i.id, i.state, i.context, c.before
      FROM chain c CROSS JOIN intents i ON i.id = c.id`,
  values: [from, limit],
})
