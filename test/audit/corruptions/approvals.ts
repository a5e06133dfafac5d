/** Approvals by one operator alone, and those that the log does not know. */
import type { Corruptions } from '../corruption.js'

const CHECK = 'approvals_are_by_two_operators'

export const approvals: Corruptions = () => [
  {
    what: 'a request approved by its requester',
    sql: 'UPDATE approval_requests SET decided_by = requested_by',
    breaks: CHECK,
  },
  {
    what: 'both steps by one operator, in the log as well',
    sql: `UPDATE approval_requests SET decided_by = requested_by;
          UPDATE operator_log SET actor = 'anna' WHERE action = 'approve_request'`,
    breaks: CHECK,
  },
  {
    what: 'an approval after the end of the request',
    sql: 'UPDATE approval_requests SET expires_at = decided_at',
    breaks: CHECK,
  },
  {
    what: 'an approval that the log does not have',
    sql: "DELETE FROM operator_log WHERE action = 'approve_request'",
    breaks: CHECK,
  },
  {
    what: 'a request that the log does not have',
    sql: "DELETE FROM operator_log WHERE action = 'request_approval'",
    breaks: CHECK,
  },
  {
    what: 'an approved request lost',
    sql: 'DELETE FROM approval_requests',
    breaks: CHECK,
  },
]
