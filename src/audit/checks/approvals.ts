/** Changes that a second operator approved, and the money that operators moved. */
import { byQuery } from '../check.js'

/** A row of the log about the request. */
const logged = (action: string, by: string, at: string): string => `EXISTS (
  SELECT 1 FROM operator_log o WHERE o.action = '${action}' AND o.actor = r.${by} AND o.at = r.${at}
    AND substr(o.subject, 1, length(r.id) + 1) = r.id || ' ')`

/** NULL unless the arguments name money. */
const REQUESTED = "(r.arguments ->> 'currency') || ' ' || (r.arguments ->> 'amount')"

export const approvalsAreByTwoOperators = byQuery({
  name: 'approvals_are_by_two_operators',
  sentence:
    'An approved request has two operators, both in operator_log, and was approved in time; each ' +
    'request has the money of its arguments.',
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
    SELECT r.id, r.currency || ' ' || r.amount, ${REQUESTED} || ' as in its arguments'
      FROM approval_requests r
      WHERE json_valid(r.arguments) AND r.currency || ' ' || r.amount <> ${REQUESTED}
    UNION ALL
    SELECT substr(o.subject, 1, instr(o.subject, ' ') - 1),
           o.actor || ' approved it according to operator_log', 'an approved request'
      FROM operator_log o
      WHERE o.action = 'approve_request' AND NOT EXISTS (SELECT 1 FROM approval_requests r
        WHERE r.id = substr(o.subject, 1, instr(o.subject, ' ') - 1) AND r.status = 'approved')`,
})

/** `{tenant} {currency} {amount}` of the money, by the kind of the action. */
const MOVED = `CASE
  WHEN o.action = 'deposit' THEN (
    SELECT e.tenant || ' ' || substr(e.account, length(e.tenant) + 2, 3) || ' ' || e.amount
      FROM ledger_entries e
      WHERE e.plan = 'deposit' AND e.tenant IS NOT NULL AND o.subject = e.tenant || ' ' || e.entity)
  WHEN o.action IN ('withdraw', 'correct_deposit') THEN (
    SELECT e.tenant || ' ' || substr(e.account, length(e.tenant) + 2, 3) || ' ' || -e.amount
      FROM ledger_entries e
      WHERE e.entity = substr(o.subject, instr(o.subject, ' ') + 1) AND e.tenant IS NOT NULL
        AND e.plan = iif(o.action = 'withdraw', 'withdrawal', 'deposit_corrected')
        AND o.subject = e.tenant || ' ' || e.entity AND e.at = o.at AND -e.amount = o.amount)
  WHEN o.action = 'resolve_orphan_matched' THEN (
    SELECT coalesce(p.tenant, i.tenant) || ' ' || x.currency || ' ' || x.amount
      FROM orphan_executions x LEFT JOIN payouts p ON p.id = x.matched_to
        LEFT JOIN intents i ON i.id = x.matched_to WHERE x.instruction = o.subject)
  WHEN o.action GLOB '*_payout*' THEN (
    SELECT p.tenant || ' ' || (p.context ->> 'currency') || ' ' || (p.context ->> 'amount')
      FROM payouts p WHERE p.id = o.subject)
  WHEN o.action GLOB '*_intent*' THEN (
    SELECT i.tenant || ' USD ' || (i.context ->> '$.scanned.quote.cents')
      FROM intents i WHERE i.id = o.subject)
  WHEN o.action GLOB 'resolve_discrepancy_*' THEN (
    SELECT d.tenant || ' ' || d.currency || ' ' || d.amount
      FROM main.discrepancies d WHERE d.id = o.subject)
  END`

export const actionsMatchWhatTheyMoved = byQuery({
  name: 'actions_match_what_they_moved',
  sentence:
    'An action has the money of its subject, and one that counts as approved was approved then.',
  over: ['operator_log'],
  broken: `
    SELECT o.subject AS entity, o.tenant || ' ' || o.currency || ' ' || o.amount AS found,
           coalesce(${MOVED}, 'a subject that has money') AS expected
      FROM operator_log o
      WHERE o.amount IS NOT NULL
        AND o.tenant || ' ' || o.currency || ' ' || o.amount IS NOT ${MOVED}
    UNION ALL
    SELECT o.subject, 'approved by ' || o.approval || ' according to operator_log',
           'a request that this operator approved then'
      FROM operator_log o
      WHERE o.approval IS NOT NULL AND NOT EXISTS (SELECT 1 FROM approval_requests r
        WHERE r.id = o.approval AND r.status = 'approved' AND r.decided_by = o.actor
          AND r.decided_at = o.at)`,
})
