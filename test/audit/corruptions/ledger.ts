/** Entries, running balances and accounts that no longer add up. */
import { breaks, type Corruptions } from '../corruption.js'

export const ledger: Corruptions = ({ payouts, intents }) => [
  ...breaks('balances_recompute', {
    'a balance below its floor':
      "UPDATE ledger_accounts SET balance = -1 WHERE id = 'demo_sandbox:VND:prefund'",
    'a balance beyond 2^53 changed by one': [
      "UPDATE ledger_accounts SET balance = balance - 1 WHERE id = 'demo_sandbox:THB:prefund'",
      'demo_sandbox:THB:prefund',
    ],
    'an account lost': [
      "DELETE FROM ledger_accounts WHERE id = 'demo_sandbox:VND:fees'",
      'demo_sandbox:VND:fees',
    ],
  }),
  ...breaks('postings_sum_to_zero', {
    'an amount changed by one': [
      `UPDATE ledger_entries SET amount = amount + 1
        WHERE entity = '${payouts.completed}' AND plan = 'payout_completed' AND line = 2`,
      payouts.completed,
    ],
    'a line lost': [
      `DELETE FROM ledger_entries WHERE entity = '${intents.captured}' AND line = 3`,
      intents.captured,
    ],
    'a line of a posting given to another entity': `
        UPDATE ledger_entries SET entity = '${payouts.held}'
        WHERE entity = '${payouts.completed}' AND line = 2`,
  }),
  ...breaks('no_negative_balances', {
    'money spent before it came in': [
      `UPDATE ledger_entries SET posting = posting + 1000 WHERE posting IN
        (SELECT posting FROM ledger_entries WHERE account = 'demo_sandbox:VND:funding')`,
      payouts.completed,
    ],
    'money released before it was reserved': [
      `UPDATE ledger_entries SET posting = posting + 1000
        WHERE entity = '${payouts.reversed}' AND plan = 'payout_accepted'`,
      payouts.reversed,
    ],
  }),
  ...breaks('running_balances_match', {
    'a running balance changed by one': [
      `UPDATE ledger_entries SET balance = balance + 1
        WHERE entity = '${payouts.reversed}' AND plan = 'payout_reversed' AND line = 1`,
      payouts.reversed,
    ],
    'a posting lost': `DELETE FROM ledger_entries
        WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
  }),
]
