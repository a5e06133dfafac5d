/** Answers of the beneficiary and payout routes. */
import { listOf, objectOf, orNull, pageOf, ref, text, type Schema } from './schema.js'

const reached = (status: string): Schema =>
  orNull(ref('Timestamp'), `When the payout became \`${status}\`; \`null\` until then.`)

const account = text('The last four characters of the account number.', { examples: ['4567'] })

export const PAYOUT_ANSWERS: Readonly<Record<string, Schema>> = {
  Beneficiary: objectOf('A bank account to pay out to.', {
    id: text('`ben_…`', { pattern: '^ben_' }),
    type: text('The only type.', { const: 'bank_account' }),
    name: text('The account holder.'),
    destination_country: text('ISO 3166, two capital letters.', { pattern: '^[A-Z]{2}$' }),
    currency: ref('Currency'),
    bank_code: text("As used by the country's banks."),
    account_last4: account,
    status: text('A disabled beneficiary takes no new payouts.', { enum: ['active', 'disabled'] }),
    created_at: ref('Timestamp'),
  }),
  BeneficiaryPage: pageOf('Beneficiary', 'Beneficiaries, including disabled ones.'),
  Payout: objectOf(
    'A payout. Account numbers are never returned.',
    {
      id: text('`pout_…`', { pattern: '^pout_' }),
      status: ref('PayoutStatus'),
      amount: ref('MinorUnits', 'What was requested.'),
      recipient_amount: ref('MinorUnits', 'What the recipient gets.'),
      currency: ref('Currency'),
      fee_details: {
        type: 'object',
        description: "The parts of the fee: the platform's, under the service's name, and `rail`.",
        additionalProperties: ref('MinorUnits'),
        required: ['rail'],
        properties: { rail: ref('MinorUnits') },
      },
      fee: ref('MinorUnits', 'The sum of `fee_details`.'),
      total: ref('MinorUnits', 'What the balance pays: `recipient_amount` plus `fee`.'),
      reference: text('As sent, trimmed.'),
      beneficiary: objectOf('The account as it was when the payout was accepted.', {
        id: text('`ben_…`', { pattern: '^ben_' }),
        name: text('The account holder.'),
        account_last4: account,
      }),
      rail: objectOf('How it is paid.', {
        type: text('The kind of rail.', { examples: ['bank_transfer'] }),
        transaction_id: {
          type: ['string', 'null'],
          description: "The bank network's id, once known.",
        },
      }),
      metadata: {
        type: 'object',
        description: 'As sent; `{}` when absent.',
        additionalProperties: { type: 'string' },
      },
      created_at: ref('Timestamp'),
      processing_at: reached('processing'),
      completed_at: reached('completed'),
      failed_at: reached('failed'),
      reversed_at: reached('reversed'),
      failure: orNull(ref('Failure'), 'Present once `failed` or `reversed`.'),
    },
    { description: text('As sent; absent when it was not.') },
  ),
  PayoutPage: pageOf('Payout', 'Payouts that fit the filters.'),
  Balance: objectOf('The balance of one currency.', {
    currency: ref('Currency'),
    available: ref('MinorUnits', 'What new payments can use.'),
    reserved: ref('MinorUnits', 'What accepted payouts and confirmed intents hold.'),
  }),
  Balances: objectOf('The balances of all currencies.', {
    data: listOf(ref('Balance'), 'By currency.'),
  }),
}
