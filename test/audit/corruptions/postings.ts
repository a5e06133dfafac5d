/** Postings without an owner or hidden from it, conversions and deposits. */
import { breaks, type Corruptions } from '../corruption.js'

export const postings: Corruptions = ({ payouts }) => [
  ...breaks('postings_have_an_entity', {
    'a posting without an entity': `
        UPDATE ledger_entries SET entity = 'pout_00000000000000000000000000'
        WHERE entity = '${payouts.completed}' AND plan = 'payout_completed'`,
  }),
  ...breaks('entries_carry_their_tenant', {
    'an entry hidden from its partner': [
      `UPDATE ledger_entries SET tenant = NULL
        WHERE entity = '${payouts.reversed}' AND plan = 'payout_reversed' AND line = 2`,
      payouts.reversed,
    ],
  }),
  ...breaks('conversions_match_quotes', {
    'a conversion with other amounts than quoted': 'UPDATE fx_quotes SET bought = bought + 1',
    'a conversion without a quote': 'UPDATE fx_quotes SET conversion = NULL',
  }),
  ...breaks('deposits_are_posted_once', {
    'two deposits under one id': `UPDATE ledger_entries SET entity =
        (SELECT entity FROM ledger_entries WHERE account = 'demo_sandbox:USD:funding')
        WHERE posting =
        (SELECT posting FROM ledger_entries WHERE account = 'demo_sandbox:VND:funding')`,
  }),
]
