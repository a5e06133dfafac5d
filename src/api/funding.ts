/** Balances, deposits and conversions. The processor checks currencies and rates. */
import { PAYOUT_IDEMPOTENCY_KEY_MAX } from '../base/constants.js'
import { checkOf } from './checks/check.js'
import { pageAsJson, readPage } from './lists.js'
import { body, noContent, query, type OperationsOf } from './operation.js'
import { listOf, objectOf, pageOf, ref, text, type Schema } from './schema.js'

const currency = { type: 'string', pattern: '^[A-Z]{3}$', description: 'ISO 4217.' }
const amount = { type: 'string', format: 'positive-int64', description: 'In minor units.' }

export interface CreateDepositBody {
  readonly currency: string
  /** Minor units, as in every amount here. */
  readonly amount: string
}

export const checkCreateDeposit = checkOf<CreateDepositBody>({
  type: 'object',
  additionalProperties: false,
  required: ['currency', 'amount'],
  properties: { currency, amount },
})

export interface CreateFxQuoteBody {
  readonly sell_currency: string
  readonly sell_amount: string
  readonly buy_currency: string
}

export const checkCreateFxQuote = checkOf<CreateFxQuoteBody>({
  type: 'object',
  additionalProperties: false,
  required: ['sell_currency', 'sell_amount', 'buy_currency'],
  properties: { sell_currency: currency, sell_amount: amount, buy_currency: currency },
})

export interface CreateFxConversionBody {
  readonly quote_id: string
}

export const checkCreateFxConversion = checkOf<CreateFxConversionBody>({
  type: 'object',
  additionalProperties: false,
  required: ['quote_id'],
  properties: {
    quote_id: { type: 'string', minLength: 1, description: '`id` of the conversion quote.' },
  },
})

/** Reasons of a change to a balance: the plans of src/ledger/plans.ts that move one. */
export const BALANCE_TRANSACTION_TYPES = [
  'deposit',
  'deposit_corrected',
  'withdrawal',
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
  Balance: objectOf('The balance of one currency.', {
    currency: ref('Currency'),
    available: ref('MinorUnits', 'What new payments can use.'),
    reserved: ref('MinorUnits', 'What accepted payouts and confirmed intents hold.'),
  }),
  Balances: objectOf('The balances of all currencies.', {
    data: listOf(ref('Balance'), 'By currency.'),
  }),
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
    entity: text('The id of the payment, deposit, withdrawal or conversion.'),
    created_at: ref('Timestamp'),
  }),
  BalanceTransactionPage: pageOf('BalanceTransaction', 'Changes of the balances.'),
}

export const FUNDING: OperationsOf<
  | 'get_balances'
  | 'list_balance_transactions'
  | 'create_deposit'
  | 'create_fx_quote'
  | 'create_fx_conversion'
> = {
  get_balances: {
    method: 'GET',
    path: '/v1/balances',
    auth: 'hmac',
    content: noContent(() => ({})),
    success: 200,
    rpc: 'Payouts.Balances',
    client: 'balances',
    id: 'getBalances',
    tag: 'Balances',
    summary: 'Get your balances',
    description: 'Returns what is available and what is reserved in each currency.',
    answer: 'Balances',
    answerText: 'The balances.',
    errors: [],
  },
  list_balance_transactions: {
    method: 'GET',
    path: '/v1/balance_transactions',
    auth: 'hmac',
    content: query(readPage, (list) => list, pageAsJson),
    success: 200,
    runsOutsideCycle: true,
    rpc: 'Funding.ListBalanceTransactions',
    rpcField: 'list',
    client: 'balanceTransactions.list',
    id: 'listBalanceTransactions',
    tag: 'Balances',
    summary: 'List changes of your balances',
    description: 'Lists each change of `available` and `reserved` with its reason, newest first.',
    answer: 'BalanceTransactionPage',
    answerText: 'A page of changes.',
    errors: [],
  },
  create_deposit: {
    method: 'POST',
    path: '/v1/funding/deposits',
    auth: 'hmac',
    key: { isRequired: false, maxLength: PAYOUT_IDEMPOTENCY_KEY_MAX },
    content: body('CreateDepositRequest', checkCreateDeposit, (deposit) => ({ ...deposit })),
    success: 201,
    recordedEntity: 'created',
    rpc: 'Funding.CreateDeposit',
    rpcField: 'deposit',
    client: 'sandbox.deposit',
    clientBody: 'deposit',
    id: 'createDeposit',
    tag: 'Balances',
    summary: 'Deposit test funds',
    description:
      'Credits test funds at once. Sandbox only: production answers 400, and deposits arrive by ' +
      'bank transfer. Without an `Idempotency-Key` each call credits.',
    answer: 'Deposit',
    answerText: 'The deposit.',
    errors: ['partner_suspended', 'balance_limit_exceeded', 'idempotency_conflict'],
  },
  create_fx_quote: {
    method: 'POST',
    path: '/v1/fx/quotes',
    auth: 'hmac',
    content: body('CreateFxQuoteRequest', checkCreateFxQuote, (quote) => quote),
    success: 201,
    rpc: 'Funding.CreateFxQuote',
    rpcField: 'quote',
    client: 'fx.quote',
    clientBody: 'quote',
    isRepeatable: true,
    id: 'createFxQuote',
    tag: 'Balances',
    summary: 'Quote a conversion',
    description: 'Fixes both amounts of a conversion between two of your balances for a minute.',
    answer: 'FxQuote',
    answerText: 'The quote.',
    errors: ['partner_suspended', 'unsupported_currency'],
  },
  create_fx_conversion: {
    method: 'POST',
    path: '/v1/fx/conversions',
    auth: 'hmac',
    key: { isRequired: true, maxLength: PAYOUT_IDEMPOTENCY_KEY_MAX },
    content: body('CreateFxConversionRequest', checkCreateFxConversion, (conversion) => ({
      ...conversion,
    })),
    success: 201,
    recordedEntity: 'created',
    rpc: 'Funding.CreateFxConversion',
    rpcField: 'conversion',
    client: 'fx.convert',
    id: 'createFxConversion',
    tag: 'Balances',
    summary: 'Convert at a quote',
    description: 'Sells and buys in one step at a quote, which can be used once.',
    answer: 'FxConversion',
    answerText: 'The conversion.',
    errors: [
      'partner_suspended',
      'fx_quote_not_found',
      'quote_expired',
      'insufficient_balance',
      'balance_limit_exceeded',
      'idempotency_conflict',
    ],
  },
}
