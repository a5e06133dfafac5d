/** Postings without an owner or hidden from it, conversions and deposits. */
import { breaks, type Corruptions } from '../corruption.js'

/** Names another deposit in the corrections. */
const correctionsOf = (account: string): string => `
        UPDATE ledger_entries SET entity = (SELECT entity FROM ledger_entries
          WHERE plan = 'deposit' AND account LIKE ${account})
        WHERE plan = 'deposit_corrected'`

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
  ...breaks('moved_postings_keep_their_order', {
    'a moved posting with a higher first number':
      'UPDATE ledger_entries SET posted_as = posting + 5 WHERE posting = 1',
    'a moved posting that was first before its predecessor': `
        UPDATE ledger_entries SET posted_as = 1
        WHERE posting = (SELECT max(posting) FROM ledger_entries WHERE tenant IS NOT NULL)`,
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
  ...breaks('deposits_are_by_operators', {
    'a deposit of production that no operator made':
      "DELETE FROM operator_log WHERE action = 'deposit' AND tenant = 'demo_production'",
  }),
  ...breaks('withdrawals_are_posted_once', {
    'two withdrawals under one id': `
        UPDATE ledger_entries SET entity =
          (SELECT min(entity) FROM ledger_entries WHERE plan = 'withdrawal')
        WHERE plan = 'withdrawal'`,
  }),
  ...breaks('corrections_stay_within_deposits', {
    'corrections of more than was credited': correctionsOf("'%:THB:prefund' AND amount = 300"),
    'corrections in another currency': correctionsOf("'%:VND:prefund'"),
    'a correction that credits': `
        UPDATE ledger_entries SET plan = 'deposit_corrected' WHERE entity =
          (SELECT entity FROM ledger_entries WHERE plan = 'deposit' AND amount = 300)`,
  }),
  ...breaks('corrections_are_by_operators', {
    'a withdrawal that no operator made': "DELETE FROM operator_log WHERE action = 'withdraw'",
    'a correction without evidence':
      "UPDATE operator_log SET evidence = NULL WHERE action = 'correct_deposit'",
  }),
]
