/** Idempotency records without an entity, or without a fingerprint. */
import { breaks, type Corruptions } from '../corruption.js'

export const idempotency: Corruptions = ({ payouts, intents }) => [
  ...breaks('idempotency_rows_resolve', {
    'a record for a missing entity': `
        UPDATE idempotency SET entity = 'pi_00000000000000000000000000'
        WHERE entity = '${intents.created}'`,
    'a record for an entity that is made without a key': `
        UPDATE idempotency SET entity = (SELECT id FROM beneficiaries)
        WHERE entity = '${intents.created}'`,
    'a record for a missing endpoint': `
        UPDATE idempotency SET entity = 'we_00000000000000000000000000' WHERE entity GLOB 'we_*'`,
    'a stored response about another endpoint': `
        UPDATE idempotency SET response = json_set(response, '$.id', 'we_1')
        WHERE entity GLOB 'we_*'`,
    'a stored response about another payout': `UPDATE idempotency SET entity = '${payouts.failed}'
        WHERE entity = '${payouts.completed}'`,
  }),
  ...breaks('fingerprints_match_keys', {
    'a record lost, of an intent': `DELETE FROM idempotency WHERE entity = '${intents.created}'`,
    'the last record lost':
      'DELETE FROM idempotency WHERE sequence = (SELECT max(sequence) FROM idempotency)',
    'a bit of a fingerprint changed': [
      `UPDATE idempotency_prints SET prints = zeroblob(length(prints))
        WHERE first = (SELECT sequence FROM idempotency WHERE entity = '${payouts.failed}')`,
      payouts.failed,
    ],
    'fingerprints lost': 'DELETE FROM idempotency_prints WHERE first = 2',
  }),
  ...breaks('older_keys_are_indexed', {
    'keys of a move without their rows': `
        INSERT INTO idempotency_index_moves (through, at) VALUES (1, 0)`,
    'a row with another fingerprint': 'INSERT INTO idempotency_index VALUES (1, 1)',
    'a row of a key that does not exist': 'INSERT INTO idempotency_index VALUES (1, 999999)',
  }),
  ...breaks('payouts_have_one_key', {
    'a record lost': [
      `DELETE FROM idempotency WHERE entity = '${payouts.completed}'`,
      payouts.completed,
    ],
  }),
]
