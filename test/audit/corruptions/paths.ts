/** Postings that do not match the lifecycle of a payout, an intent or a discrepancy. */
import type { Corruptions } from '../corruption.js'

export const paths: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a discrepancy with another amount than posted',
    sql: 'UPDATE discrepancies SET amount = amount + 1 WHERE resolved_at IS NULL',
    breaks: 'discrepancies_are_posted',
  },
  {
    what: 'a credit to the partner that was posted at our cost',
    sql: `UPDATE ledger_entries SET plan = 'discrepancy_gained'
            WHERE plan = 'discrepancy_credited'`,
    breaks: 'discrepancies_are_posted',
  },
  {
    what: 'a loss that was posted as a charge to the partner',
    sql: `UPDATE discrepancies SET settlement = 'charge_partner'
            WHERE settlement = 'write_off' AND plan = 'discrepancy_paid'`,
    breaks: 'discrepancies_are_posted',
  },
  {
    what: 'an undone discrepancy without its posting',
    sql: `UPDATE discrepancies SET settlement = 'undo', resolved_at = at WHERE resolved_at IS NULL`,
    breaks: 'discrepancies_are_posted',
  },
  {
    what: 'a posting moved to another payout',
    sql: `UPDATE ledger_entries SET entity = '${payouts.processing}'
            WHERE entity = '${payouts.failed}' AND plan = 'payout_failed'`,
    breaks: 'payout_postings_match_lifecycle',
  },
  {
    what: 'a posting with another timestamp',
    sql: `UPDATE ledger_entries SET at = at + 1
            WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
    breaks: 'payout_postings_match_lifecycle',
    of: payouts.completed,
  },
  {
    what: 'a posting under another plan',
    sql: `UPDATE ledger_entries SET plan = 'intent_failed'
            WHERE entity = '${intents.cancelledLate}' AND plan = 'intent_cancelled'`,
    breaks: 'intent_postings_match_lifecycle',
    of: intents.cancelledLate,
  },
]
