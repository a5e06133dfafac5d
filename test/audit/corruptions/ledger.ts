/** Entries, running balances and accounts that no longer add up. */
import type { Corruptions } from '../corruption.js'

export const ledger: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a balance below its floor',
    sql: "UPDATE ledger_accounts SET balance = -1 WHERE id = 'demo_sandbox:VND:prefund'",
    breaks: 'balances_recompute',
  },
  {
    what: 'an amount changed by one',
    sql: `UPDATE ledger_entries SET amount = amount + 1
            WHERE entity = '${payouts.completed}' AND plan = 'payout_completed' AND line = 2`,
    breaks: 'postings_sum_to_zero',
    of: payouts.completed,
  },
  {
    what: 'a line lost',
    sql: `DELETE FROM ledger_entries WHERE entity = '${intents.captured}' AND line = 3`,
    breaks: 'postings_sum_to_zero',
    of: intents.captured,
  },
  {
    what: 'a line of a posting given to another entity',
    sql: `UPDATE ledger_entries SET entity = '${payouts.held}'
            WHERE entity = '${payouts.completed}' AND line = 2`,
    breaks: 'postings_sum_to_zero',
  },
  {
    what: 'money spent before it came in',
    sql: `UPDATE ledger_entries SET posting = posting + 1000 WHERE posting IN
            (SELECT posting FROM ledger_entries WHERE account = 'demo_sandbox:VND:funding')`,
    breaks: 'no_negative_balances',
    of: payouts.completed,
  },
  {
    what: 'money released before it was reserved',
    sql: `UPDATE ledger_entries SET posting = posting + 1000
            WHERE entity = '${payouts.reversed}' AND plan = 'payout_accepted'`,
    breaks: 'no_negative_balances',
    of: payouts.reversed,
  },
  {
    what: 'a running balance changed by one',
    sql: `UPDATE ledger_entries SET balance = balance + 1
            WHERE entity = '${payouts.reversed}' AND plan = 'payout_reversed' AND line = 1`,
    breaks: 'running_balances_match',
    of: payouts.reversed,
  },
  {
    what: 'a posting lost',
    sql: `DELETE FROM ledger_entries
            WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
    breaks: 'running_balances_match',
  },
  {
    what: 'a balance beyond 2^53 changed by one',
    sql: "UPDATE ledger_accounts SET balance = balance - 1 WHERE id = 'demo_sandbox:THB:prefund'",
    breaks: 'balances_recompute',
    of: 'demo_sandbox:THB:prefund',
  },
  {
    what: 'an account lost',
    sql: "DELETE FROM ledger_accounts WHERE id = 'demo_sandbox:VND:fees'",
    breaks: 'balances_recompute',
    of: 'demo_sandbox:VND:fees',
  },
]
