/** Kept requests that lead nowhere, or that are not found again. */
import type { Corruptions } from '../corruption.js'

export const idempotency: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a kept request for nobody',
    sql: `UPDATE idempotency SET entity = 'pi_00000000000000000000000000'
            WHERE entity = '${intents.created}'`,
    breaks: 'idempotency_rows_resolve',
  },
  {
    what: 'a kept request for what is made without a key',
    sql: `UPDATE idempotency SET entity = (SELECT id FROM beneficiaries)
            WHERE entity = '${intents.created}'`,
    breaks: 'idempotency_rows_resolve',
  },
  {
    what: 'a kept request lost, of an intent',
    sql: `DELETE FROM idempotency WHERE entity = '${intents.created}'`,
    breaks: 'keys_are_found_again',
  },
  {
    what: 'the last kept request lost',
    sql: 'DELETE FROM idempotency WHERE sequence = (SELECT max(sequence) FROM idempotency)',
    breaks: 'keys_are_found_again',
  },
  {
    what: 'a bit of a print changed',
    sql: `UPDATE idempotency_prints SET prints = zeroblob(length(prints))
            WHERE first = (SELECT sequence FROM idempotency WHERE entity = '${payouts.failed}')`,
    breaks: 'keys_are_found_again',
    of: payouts.failed,
  },
  {
    what: 'prints lost',
    sql: 'DELETE FROM idempotency_prints WHERE first = 2',
    breaks: 'keys_are_found_again',
  },
  {
    what: 'a kept answer about another payout',
    sql: `UPDATE idempotency SET entity = '${payouts.failed}'
            WHERE entity = '${payouts.completed}'`,
    breaks: 'idempotency_rows_resolve',
  },
  {
    what: 'a kept request lost',
    sql: `DELETE FROM idempotency WHERE entity = '${payouts.completed}'`,
    breaks: 'payouts_keep_their_key',
    of: payouts.completed,
  },
]
