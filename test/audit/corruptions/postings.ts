/** Postings that are nobody's or that are hidden from their owner, conversions and deposits. */
import type { Corruptions } from '../corruption.js'

export const postings: Corruptions = ({ payouts }) => [
  {
    what: 'a posting of nobody',
    sql: `UPDATE ledger_entries SET entity = 'pout_00000000000000000000000000'
            WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
    breaks: 'postings_have_an_entity',
  },
  {
    what: 'an entry that its partner is not shown',
    sql: `UPDATE ledger_entries SET tenant = NULL
            WHERE entity = '${payouts.reversed}' AND plan = 'payout_reversed' AND line = 2`,
    breaks: 'entries_show_their_owner',
    of: payouts.reversed,
  },
  {
    what: 'a conversion at other terms than offered',
    sql: 'UPDATE fx_quotes SET bought = bought + 1',
    breaks: 'conversions_fit_their_offer',
  },
  {
    what: 'a conversion without an offer',
    sql: 'UPDATE fx_quotes SET conversion = NULL',
    breaks: 'conversions_fit_their_offer',
  },
  {
    what: 'two deposits under one id',
    sql: `UPDATE ledger_entries SET entity =
            (SELECT entity FROM ledger_entries WHERE account = 'demo_sandbox:USD:funding')
            WHERE posting =
            (SELECT posting FROM ledger_entries WHERE account = 'demo_sandbox:VND:funding')`,
    breaks: 'deposits_are_posted_once',
  },
]
