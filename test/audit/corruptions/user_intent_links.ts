/** Broken lists of a user's intents. */
import { breaks, type Corruptions } from '../corruption.js'

export const userIntents: Corruptions = () => [
  ...breaks('user_intents_are_linked', {
    'an intent linked to no previous one': `
        UPDATE intent_users SET links = json_set(links, '$[0][1]', 0)
        WHERE links ->> '$[0][1]' = (SELECT max(links ->> '$[0][1]') FROM intent_users)`,
    'the link of the last intent lost':
      'DELETE FROM intent_users WHERE first = (SELECT max(first) FROM intent_users)',
    'all links lost': 'DELETE FROM intent_users',
    "a bit of a user's fingerprint changed": `
        UPDATE intent_users SET prints = zeroblob(length(prints))
        WHERE first = (SELECT max(links ->> '$[0][1]') FROM intent_users)`,
  }),
  ...breaks('erased_users_have_their_payments', {
    'an erased payment that is lost': `
        INSERT INTO user_erasures VALUES ('era_1', 'demo_sandbox', '', 1, 1, 0, 1, 1)`,
  }),
]
