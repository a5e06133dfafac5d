/** Postings that do not match the lifecycle of a payout, an intent or a discrepancy. */
import { breaks, type Corruptions } from '../corruption.js'

export const paths: Corruptions = ({ payouts, intents }) => [
  ...breaks('discrepancies_are_posted', {
    'a discrepancy with another amount than posted':
      'UPDATE discrepancies SET amount = amount + 1 WHERE resolved_at IS NULL',
    'a credit to the partner that was posted as a loss of the platform': `
        UPDATE ledger_entries SET plan = 'discrepancy_gained'
        WHERE plan = 'discrepancy_credited'`,
    'a loss that was posted as a charge to the partner': `
        UPDATE discrepancies SET settlement = 'charge_partner'
        WHERE settlement = 'write_off' AND plan = 'discrepancy_paid'`,
    'an undone discrepancy without its posting': `
        UPDATE discrepancies SET settlement = 'undo', resolved_at = at
          WHERE resolved_at IS NULL`,
  }),
  ...breaks('payout_postings_match_lifecycle', {
    'a posting moved to another payout': `UPDATE ledger_entries SET entity = '${payouts.processing}'
        WHERE entity = '${payouts.failed}' AND plan = 'payout_failed'`,
    'a posting with another timestamp': [
      `UPDATE ledger_entries SET at = at + 1
        WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
      payouts.completed,
    ],
  }),
  ...breaks('intent_postings_match_lifecycle', {
    'a posting under another plan': [
      `UPDATE ledger_entries SET plan = 'intent_failed'
        WHERE entity = '${intents.cancelledLate}' AND plan = 'intent_cancelled'`,
      intents.cancelledLate,
    ],
  }),
]
