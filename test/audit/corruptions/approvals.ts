/** Approvals by one operator alone, and approvals without an entry in the log. */
import { breaks, type Corruptions } from '../corruption.js'

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
  }),
]
