/** Payments in the rail's log that differ from the instruction, the booking or the settlement. */
import { breaks, breaksIn, changed, type Corruptions, type Planted } from '../corruption.js'

const inRail = breaksIn('rail.db')

const instruction = (id: string, change: string): Planted => changed('instructions', id, change)

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
    'a second execution': instruction(payouts.completed, 'executions = 2'),
    "a payment that is not in the rail's log": [
      `DELETE FROM instructions WHERE id = '${payouts.completed}'`,
      payouts.completed,
    ],
    'a payment that the rail has not executed': instruction(
      intents.captured,
      "state = 'pending', executions = 0, transaction_id = NULL",
    ),
    'a payment of another amount': instruction(payouts.completed, 'amount = amount + 1'),
    'a payment in another currency': instruction(intents.refunded, "currency = 'USD'"),
    'a payment with another transaction id': instruction(
      intents.captured,
      "transaction_id = 'sbx_1'",
    ),
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
    'a failed payout that was paid': instruction(
      payouts.failed,
      "state = 'executed', executions = 1, transaction_id = 'sbx_1'",
    ),
  }),
  ...inRail('open_paid_at_most_once', {
    'an open payment of another amount': instruction(intents.authorized, 'amount = amount * 10'),
    'an open payment executed twice': instruction(intents.authorized, 'executions = 2'),
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
    'a payment to another account': instruction(payouts.completed, "account_last4 = '6780'"),
  }),
  ...inRail('instructions_never_changed', {
    'an instruction sent again with different content': [
      `INSERT INTO discrepancies VALUES ('${payouts.completed}', 'digest', 1795233600000)`,
      payouts.completed,
    ],
  }),
  ...inRail('reversals_have_rail_return', {
    'a refund that the rail did not return': instruction(intents.refunded, "state = 'executed'"),
  }),
  ...inRail('rail_returns_are_refunded', {
    'a return that was not booked': instruction(payouts.completed, "state = 'returned'"),
  }),
]
