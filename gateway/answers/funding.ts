/** Answers of the funding routes: deposits, conversions, balance transactions. */
import { objectOf, pageOf, ref, text, type Schema } from './schema.js'

/** Reasons of a change to a balance: the plans of src/ledger/plans.ts that move one. */
export const BALANCE_TRANSACTION_TYPES = [
  'deposit',
  'conversion',
  'payout_accepted',
  'payout_completed',
  'payout_failed',
  'payout_reversed',
  'intent_confirmed',
  'intent_captured',
  'intent_failed',
  'intent_cancelled',
  'intent_refunded',
  'discrepancy_credited',
  'discrepancy_charged',
]

const terms = {
  sell_currency: ref('Currency'),
  sell_amount: ref('MinorUnits', 'In minor units of the currency sold.'),
  buy_currency: ref('Currency'),
  buy_amount: ref('MinorUnits', 'In minor units of the currency bought, rounded down.'),
}

export const FUNDING_ANSWERS: Readonly<Record<string, Schema>> = {
  Deposit: objectOf('Test funds that were credited.', {
    id: text('`dep_…`', { pattern: '^dep_' }),
    currency: ref('Currency'),
    amount: ref('MinorUnits'),
    created_at: ref('Timestamp'),
  }),
  FxQuote: objectOf('Both amounts of a conversion, valid for a minute.', {
    id: text('`fxq_…`', { pattern: '^fxq_' }),
    ...terms,
    created_at: ref('Timestamp'),
    expires_at: ref('Timestamp'),
  }),
  FxConversion: objectOf('A conversion: sold and bought in one step.', {
    id: text('`fxc_…`', { pattern: '^fxc_' }),
    quote_id: text('`fxq_…`', { pattern: '^fxq_' }),
    ...terms,
    created_at: ref('Timestamp'),
  }),
  BalanceTransaction: objectOf('One change of `available` or `reserved`.', {
    id: text('`btx_…`', { pattern: '^btx_' }),
    currency: ref('Currency'),
    amount: ref('MinorUnits', 'Signed: negative when the balance fell.'),
    balance: ref('MinorUnits', 'After the change.'),
    account: text('Which of the two changed.', { enum: ['available', 'reserved'] }),
    type: text('The reason. More reasons can be added.', { enum: BALANCE_TRANSACTION_TYPES }),
    entity: text('The id of the payment, deposit or conversion.'),
    created_at: ref('Timestamp'),
  }),
  BalanceTransactionPage: pageOf('BalanceTransaction', 'Changes of the balances.'),
}
