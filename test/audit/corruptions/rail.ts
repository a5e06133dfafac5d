/** Payments in the rail's log that differ from the instruction, the booking or the settlement. */
import { breaks, breaksIn, type Corruptions } from '../corruption.js'

const inRail = breaksIn('rail.db')

const RECOVERY = `
  INSERT INTO recoveries VALUES (1, 1, 'RECOVERY=yes', NULL, NULL, NULL, NULL, NULL, 'writes');`

/** An executed payment recorded as an orphan execution to the account of the completed payout. */
const orphanOf = (payment: string, reference: string, state = 'executed'): string => `
  INSERT INTO orphan_executions
    SELECT id, 1, 'sandbox', NULL, NULL, '6789',
      CAST(coalesce(context ->> 'recipientAmount', context ->> '$.scanned.quote.localMinor')
        AS INTEGER),
      coalesce(context ->> 'currency', context ->> '$.scanned.quote.currency'), ${reference},
      context ->> 'transactionId', 1, 'open', NULL, NULL, '${state}', NULL
    FROM ${payment}`

export const rail: Corruptions = ({ payouts, intents }) => [
  ...inRail('paid_exactly_once', {
    'a second execution': `
        UPDATE instructions SET executions = 2 WHERE id = '${payouts.completed}'`,
    "a payment that is not in the rail's log": [
      `DELETE FROM instructions WHERE id = '${payouts.completed}'`,
      payouts.completed,
    ],
    'a payment that the rail has not executed': [
      `UPDATE instructions SET state = 'pending', executions = 0, transaction_id = NULL
        WHERE id = '${intents.captured}'`,
      intents.captured,
    ],
    'a payment of another amount': [
      `UPDATE instructions SET amount = amount + 1 WHERE id = '${payouts.completed}'`,
      payouts.completed,
    ],
    'a payment in another currency': [
      `UPDATE instructions SET currency = 'USD' WHERE id = '${intents.refunded}'`,
      intents.refunded,
    ],
    'a payment with another transaction id': [
      `UPDATE instructions SET transaction_id = 'sbx_1' WHERE id = '${intents.captured}'`,
      intents.captured,
    ],
  }),
  ...breaks('discrepancies_are_resolved_by_name', {
    'a discrepancy resolved without an operator': [
      `UPDATE discrepancies SET settlement = 'keep', resolved_at = at WHERE resolved_at IS NULL`,
      payouts.processing,
    ],
  }),
  ...breaks('orphans_are_executions', {
    "an orphan execution that is not in the rail's log": [
      `${RECOVERY}
      INSERT INTO orphan_executions VALUES ('pout_lost', 1, 'sandbox', 'payout', NULL, NULL, 5,
        'VND', NULL, 'TX', 1, 'open', NULL, NULL, 'executed', NULL)`,
      'pout_lost',
    ],
    'an orphan execution that counts as refused and was executed': [
      RECOVERY + orphanOf(`payouts WHERE id = '${payouts.approved}'`, 'NULL', 'refused'),
      payouts.approved,
    ],
  }),
  ...breaks('orphans_are_paid_once', {
    'a payment that equals an open orphan execution': [
      RECOVERY + orphanOf(`payouts WHERE id = '${payouts.approved}'`, 'NULL'),
      payouts.completed,
    ],
    'a payment that equals an open orphan execution that the rail has accepted': [
      RECOVERY + orphanOf(`payouts WHERE id = '${payouts.approved}'`, 'NULL', 'accepted'),
      payouts.completed,
    ],
    'a payment with the reference and the account of an open orphan execution': [
      RECOVERY + orphanOf(`intents WHERE id = '${intents.captured}'`, "'invoice 1'"),
      payouts.completed,
    ],
  }),
  ...inRail('never_paid', {
    'a failed payout that was paid': [
      `UPDATE instructions SET state = 'executed', executions = 1, transaction_id = 'sbx_1'
        WHERE id = '${payouts.failed}'`,
      payouts.failed,
    ],
  }),
  ...inRail('open_paid_at_most_once', {
    'an open payment of another amount': [
      `UPDATE instructions SET amount = amount * 10 WHERE id = '${intents.authorized}'`,
      intents.authorized,
    ],
    'an open payment executed twice': [
      `UPDATE instructions SET executions = 2 WHERE id = '${intents.authorized}'`,
      intents.authorized,
    ],
  }),
  ...inRail('instructions_match_submissions', {
    'an instruction without a payment': `
        UPDATE instructions SET id = 'pout_00000000000000000000000000'
        WHERE id = '${payouts.processing}'`,
    'an instruction that was not submitted': [
      `INSERT INTO instructions (id, purpose, amount, currency, account, content, received_at,
            state, refusal, transaction_id, executions, due_at, due_step, report_id, executed_at,
            returned_at)
          SELECT '${payouts.notSubmitted}', purpose, amount, currency,
        '0123453333', content, received_at, state, refusal, transaction_id, executions, due_at,
            due_step, report_id, executed_at, returned_at
        FROM instructions WHERE id = '${payouts.processing}'`,
      payouts.notSubmitted,
    ],
    'a payment to another account': [
      `UPDATE instructions SET account_last4 = '6780' WHERE id = '${payouts.completed}'`,
      payouts.completed,
    ],
  }),
  ...inRail('instructions_never_changed', {
    'an instruction sent again with different content': [
      `INSERT INTO discrepancies VALUES ('${payouts.completed}', 'digest', 1795233600000)`,
      payouts.completed,
    ],
  }),
  ...inRail('reversals_have_rail_return', {
    'a refund that the rail did not return': [
      `UPDATE instructions SET state = 'executed' WHERE id = '${intents.refunded}'`,
      intents.refunded,
    ],
  }),
  ...inRail('rail_returns_are_refunded', {
    'a return that was not booked': [
      `UPDATE instructions SET state = 'returned' WHERE id = '${payouts.completed}'`,
      payouts.completed,
    ],
  }),
]
