/** Broken lists of a user's intents. */
import type { Corruptions } from '../corruption.js'

export const userIntents: Corruptions = () => [
  {
    what: 'an intent linked to no previous one',
    sql: `UPDATE intent_users SET links = json_set(links, '$[0][1]', 0)
            WHERE links ->> '$[0][1]' = (SELECT max(links ->> '$[0][1]') FROM intent_users)`,
    breaks: 'user_intents_are_linked',
  },
  {
    what: 'the link of the last intent lost',
    sql: 'DELETE FROM intent_users WHERE first = (SELECT max(first) FROM intent_users)',
    breaks: 'user_intents_are_linked',
  },
  {
    what: 'all links lost',
    sql: 'DELETE FROM intent_users',
    breaks: 'user_intents_are_linked',
  },
  {
    what: "a bit of a user's fingerprint changed",
    sql: `UPDATE intent_users SET prints = zeroblob(length(prints))
            WHERE first = (SELECT max(links ->> '$[0][1]') FROM intent_users)`,
    breaks: 'user_intents_are_linked',
  },
]
