/**
 * One user's intents, walked from the newest back.
 *
 * Owns: the SQL of a walk. Does not own: where it begins (processor/changes), whose an intent is
 * when two users share a print.
 */
import type { Statement } from './database.js'

export interface UserIntent {
  readonly id: string
  readonly state: string
  /** Parsed. Null: it is corrupt. */
  readonly context: unknown
  /** The number of the one before it; 0: there is none. */
  readonly before: number
}
export const USER_INTENT = {
  id: 'text',
  state: 'text',
  context: 'json',
  before: 'integer',
} as const

/** Each step is two look-ups by primary key: the link, and its intent. */
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
