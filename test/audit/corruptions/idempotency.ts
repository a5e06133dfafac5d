/** Idempotency records without an entity, or without a fingerprint. */
import type { Corruptions } from '../corruption.js'

export const idempotency: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a record for a missing entity',
    sql: `UPDATE idempotency SET entity = 'pi_00000000000000000000000000'
            WHERE entity = '${intents.created}'`,
    breaks: 'idempotency_rows_resolve',
  },
  {
    what: 'a record for an entity that is made without a key',
    sql: `UPDATE idempotency SET entity = (SELECT id FROM beneficiaries)
            WHERE entity = '${intents.created}'`,
    breaks: 'idempotency_rows_resolve',
  },
  {
    what: 'a record lost, of an intent',
    sql: `DELETE FROM idempotency WHERE entity = '${intents.created}'`,
    breaks: 'fingerprints_match_keys',
  },
  {
    what: 'the last record lost',
    sql: 'DELETE FROM idempotency WHERE sequence = (SELECT max(sequence) FROM idempotency)',
    breaks: 'fingerprints_match_keys',
  },
  {
    what: 'a bit of a fingerprint changed',
    sql: `UPDATE idempotency_prints SET prints = zeroblob(length(prints))
            WHERE first = (SELECT sequence FROM idempotency WHERE entity = '${payouts.failed}')`,
    breaks: 'fingerprints_match_keys',
    of: payouts.failed,
  },
  {
    what: 'fingerprints lost',
    sql: 'DELETE FROM idempotency_prints WHERE first = 2',
    breaks: 'fingerprints_match_keys',
  },
  {
    what: 'a stored response about another payout',
    sql: `UPDATE idempotency SET entity = '${payouts.failed}'
            WHERE entity = '${payouts.completed}'`,
    breaks: 'idempotency_rows_resolve',
  },
  {
    what: 'a record lost',
    sql: `DELETE FROM idempotency WHERE entity = '${payouts.completed}'`,
    breaks: 'payouts_have_one_key',
    of: payouts.completed,
  },
]
