/** Postings without an owner or hidden from it, conversions and deposits. */
import type { Corruptions } from '../corruption.js'

export const postings: Corruptions = ({ payouts }) => [
  {
    what: 'a posting without an entity',
    sql: `UPDATE ledger_entries SET entity = 'pout_00000000000000000000000000'
            WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
    breaks: 'postings_have_an_entity',
  },
  {
    what: 'an entry hidden from its partner',
    sql: `UPDATE ledger_entries SET tenant = NULL
            WHERE entity = '${payouts.reversed}' AND plan = 'payout_reversed' AND line = 2`,
    breaks: 'entries_carry_their_tenant',
    of: payouts.reversed,
  },
  {
    what: 'a conversion with other amounts than quoted',
    sql: 'UPDATE fx_quotes SET bought = bought + 1',
    breaks: 'conversions_match_quotes',
  },
  {
    what: 'a conversion without a quote',
    sql: 'UPDATE fx_quotes SET conversion = NULL',
    breaks: 'conversions_match_quotes',
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
