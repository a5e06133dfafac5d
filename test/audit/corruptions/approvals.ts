/** Approvals by one operator alone or without an entry in the log, and other money in the log. */
import { breaks, type Corruptions } from '../corruption.js'

const MONEY = 'actions_match_what_they_moved'
const CHECK = 'approvals_are_by_two_operators'

export const approvals: Corruptions = () => [
  ...breaks(CHECK, {
    'a request approved by its requester': 'UPDATE approval_requests SET decided_by = requested_by',
    'both steps by one operator, in the log as well': `
        UPDATE approval_requests SET decided_by = requested_by;
          UPDATE operator_log SET actor = 'anna' WHERE action = 'approve_request'`,
    'an approval after the end of the request':
      'UPDATE approval_requests SET expires_at = decided_at',
    'an approval without an entry in the log':
      "DELETE FROM operator_log WHERE action = 'approve_request'",
    'a request without an entry in the log':
      "DELETE FROM operator_log WHERE action = 'request_approval'",
    'an approved request lost': 'DELETE FROM approval_requests',
    'another amount than in the arguments': 'UPDATE approval_requests SET amount = amount + 1',
  }),
  ...breaks(MONEY, {
    'less than was deposited':
      "UPDATE operator_log SET amount = amount - 1 WHERE action = 'deposit' AND approval IS NULL",
    'another amount than was withdrawn':
      "UPDATE operator_log SET amount = amount + 1 WHERE action = 'withdraw'",
    'another amount than was corrected':
      "UPDATE operator_log SET amount = amount - 1 WHERE action = 'correct_deposit'",
    'the money of another tenant':
      "UPDATE operator_log SET tenant = 'demo_production' WHERE action = 'approve_payout'",
    'another currency': "UPDATE operator_log SET currency = 'USD' WHERE action = 'approve_payout'",
    'less than a payout':
      "UPDATE operator_log SET amount = 1 WHERE action = 'resolve_payout_completed'",
    'less than the debit of an intent':
      "UPDATE operator_log SET amount = 1 WHERE action = 'resolve_intent_captured'",
    'less than a discrepancy':
      "UPDATE operator_log SET amount = 1 WHERE action = 'resolve_discrepancy_write_off'",
    'money of an action that moves none': `
        UPDATE operator_log SET tenant = 'demo_sandbox', currency = 'USD', amount = 1
          WHERE action = 'set_balance_alert'`,
    'an approval that another operator gave':
      "UPDATE operator_log SET actor = 'anna' WHERE action = 'deposit' AND approval IS NOT NULL",
    'an approval that never was':
      "UPDATE operator_log SET approval = 'apr_1' WHERE action = 'approve_payout'",
  }),
]
