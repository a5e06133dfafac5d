/** Families of a processor about payments, as business. */
import { counter, gauge, type Families } from './family.js'

export const PAYMENT_FAMILIES = {
  causeway_payment_transitions_total: counter(
    'Payments that entered a state; a payout has its country and currency as corridor, e.g. ' +
      '`th_thb`',
    ...(['entity', 'state', 'corridor', 'environment'] as const),
  ),
  causeway_payment_failures_total: counter(
    'Payments that failed, by the failure code that partners see',
    ...(['entity', 'failure_code', 'corridor', 'environment'] as const),
  ),
  causeway_payment_amount_total: counter(
    'Amounts of the payments that entered a state, in major units: what a payout pays, what an ' +
      'intent debits',
    ...(['entity', 'state', 'currency', 'environment'] as const),
  ),
  causeway_open_payments: gauge(
    'Payments in a state that is not final, capped at 10000; read every 15 s',
    ...(['entity', 'state'] as const),
  ),
  causeway_unknown_outcomes: gauge(
    'Instructions without a final outcome that are older than an age, capped at 1000; read every ' +
      '15 s, `over_24h` every minute',
    ...(['entity', 'age'] as const),
  ),
  causeway_held_payouts: gauge('Payouts held for review, capped at 10000; read every 15 s'),
  causeway_held_payout_oldest_age_seconds: gauge(
    'Age of the oldest payout held for review; read every 15 s',
  ),
  causeway_discrepancies_open: gauge('Open discrepancies, capped at 10000; read every 15 s'),
  causeway_approvals_open: gauge('Changes that wait for a second operator'),
  causeway_approval_oldest_age_seconds: gauge(
    'Age of the oldest change that waits for a second operator',
  ),
  causeway_prefund_balance: gauge(
    'Available balance in major units, of the first 1000 balances, those of production first',
    ...(['partner', 'environment', 'currency'] as const),
  ),
  causeway_prefund_balances_omitted: gauge('Balances beyond the first 1000, without a series'),
  causeway_rate_age_seconds: gauge(
    'Time since an operator set the rate',
    'environment',
    'currency',
  ),
} as const satisfies Families
