/** Changes that a second operator approved. */
import { byQuery } from '../check.js'

/** A row of the log about the request. */
const logged = (action: string, by: string, at: string): string => `EXISTS (
  SELECT 1 FROM operator_log o WHERE o.action = '${action}' AND o.actor = r.${by} AND o.at = r.${at}
    AND substr(o.subject, 1, length(r.id) + 1) = r.id || ' ')`

export const approvalsAreByTwoOperators = byQuery({
  name: 'approvals_are_by_two_operators',
  sentence:
    'An approved request has two operators, both in operator_log, and was approved in time.',
  over: ['approval_requests', 'operator_log'],
  broken: `
    SELECT r.id AS entity, r.requested_by || ' requested, ' || r.decided_by || ' approved' AS found,
           'two operators, named in operator_log, within the time of the request' AS expected
      FROM approval_requests r
      WHERE r.status = 'approved' AND NOT (r.requested_by <> r.decided_by
        AND r.decided_at >= r.requested_at AND r.decided_at < r.expires_at
        AND ${logged('request_approval', 'requested_by', 'requested_at')}
        AND ${logged('approve_request', 'decided_by', 'decided_at')})
    UNION ALL
    SELECT substr(o.subject, 1, instr(o.subject, ' ') - 1),
           o.actor || ' approved it according to operator_log', 'an approved request'
      FROM operator_log o
      WHERE o.action = 'approve_request' AND NOT EXISTS (SELECT 1 FROM approval_requests r
        WHERE r.id = substr(o.subject, 1, instr(o.subject, ' ') - 1) AND r.status = 'approved')`,
})
