/** Payments in the rail's log that differ from the instruction, the booking or the settlement. */
import type { Corruptions } from '../corruption.js'

export const rail: Corruptions = ({ payouts, intents }) => [
  {
    what: 'a second execution',
    file: 'rail.db',
    sql: `UPDATE instructions SET executions = 2 WHERE id = '${payouts.completed}'`,
    breaks: 'paid_exactly_once',
  },
  {
    what: 'a discrepancy resolved without an operator',
    sql: `UPDATE discrepancies SET settlement = 'keep', resolved_at = at WHERE resolved_at IS NULL`,
    breaks: 'discrepancies_are_resolved_by_name',
    of: payouts.processing,
  },
  {
    what: "an orphan execution that is not in the rail's log",
    sql: `INSERT INTO recoveries VALUES (1, 1, 'RECOVERY=yes', NULL, NULL, NULL, NULL, NULL);
      INSERT INTO orphan_executions VALUES ('pout_lost', 1, 'sandbox', 'payout', NULL, NULL, 5,
        'VND', NULL, 'TX', 1, 'open', NULL, NULL)`,
    breaks: 'orphans_are_executions',
    of: 'pout_lost',
  },
  {
    what: "a payment that is not in the rail's log",
    file: 'rail.db',
    sql: `DELETE FROM instructions WHERE id = '${payouts.completed}'`,
    breaks: 'paid_exactly_once',
    of: payouts.completed,
  },
  {
    what: 'a payment that the rail has not executed',
    file: 'rail.db',
    sql: `UPDATE instructions SET state = 'pending', executions = 0, transaction_id = NULL
            WHERE id = '${intents.captured}'`,
    breaks: 'paid_exactly_once',
    of: intents.captured,
  },
  {
    what: 'a payment of another amount',
    file: 'rail.db',
    sql: `UPDATE instructions SET amount = amount + 1 WHERE id = '${payouts.completed}'`,
    breaks: 'paid_exactly_once',
    of: payouts.completed,
  },
  {
    what: 'a payment in another currency',
    file: 'rail.db',
    sql: `UPDATE instructions SET currency = 'USD' WHERE id = '${intents.refunded}'`,
    breaks: 'paid_exactly_once',
    of: intents.refunded,
  },
  {
    what: 'a payment with another transaction id',
    file: 'rail.db',
    sql: `UPDATE instructions SET transaction_id = 'sbx_1' WHERE id = '${intents.captured}'`,
    breaks: 'paid_exactly_once',
    of: intents.captured,
  },
  {
    what: 'a failed payout that was paid',
    file: 'rail.db',
    sql: `UPDATE instructions SET state = 'executed', executions = 1, transaction_id = 'sbx_1'
            WHERE id = '${payouts.failed}'`,
    breaks: 'never_paid',
    of: payouts.failed,
  },
  {
    what: 'an open payment of another amount',
    file: 'rail.db',
    sql: `UPDATE instructions SET amount = amount * 10 WHERE id = '${intents.authorized}'`,
    breaks: 'open_paid_at_most_once',
    of: intents.authorized,
  },
  {
    what: 'an open payment executed twice',
    file: 'rail.db',
    sql: `UPDATE instructions SET executions = 2 WHERE id = '${intents.authorized}'`,
    breaks: 'open_paid_at_most_once',
    of: intents.authorized,
  },
  {
    what: 'an instruction without a payment',
    file: 'rail.db',
    sql: `UPDATE instructions SET id = 'pout_00000000000000000000000000'
            WHERE id = '${payouts.processing}'`,
    breaks: 'instructions_match_submissions',
  },
  {
    what: 'an instruction that was not submitted',
    file: 'rail.db',
    sql: `INSERT INTO instructions (id, purpose, amount, currency, account, content, received_at,
            state, refusal, transaction_id, executions, due_at, due_step, report_id, executed_at,
            returned_at)
          SELECT '${payouts.notSubmitted}', purpose, amount, currency,
            '0123453333', content, received_at, state, refusal, transaction_id, executions, due_at,
            due_step, report_id, executed_at, returned_at
            FROM instructions WHERE id = '${payouts.processing}'`,
    breaks: 'instructions_match_submissions',
    of: payouts.notSubmitted,
  },
  {
    what: 'a payment to another account',
    file: 'rail.db',
    sql: `UPDATE instructions SET account = '0123456780' WHERE id = '${payouts.completed}'`,
    breaks: 'instructions_match_submissions',
    of: payouts.completed,
  },
  {
    what: 'an instruction sent again with different content',
    file: 'rail.db',
    sql: `INSERT INTO discrepancies VALUES ('${payouts.completed}', 'digest', 1795233600000)`,
    breaks: 'instructions_never_changed',
    of: payouts.completed,
  },
  {
    what: 'a refund that the rail did not return',
    file: 'rail.db',
    sql: `UPDATE instructions SET state = 'executed' WHERE id = '${intents.refunded}'`,
    breaks: 'reversals_have_rail_return',
    of: intents.refunded,
  },
  {
    what: 'a return that was not booked',
    file: 'rail.db',
    sql: `UPDATE instructions SET state = 'returned' WHERE id = '${payouts.completed}'`,
    breaks: 'rail_returns_are_refunded',
    of: payouts.completed,
  },
]
