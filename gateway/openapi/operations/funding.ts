/** Balances, deposits and conversions in the OpenAPI document. */
import {
  checkCreateDeposit,
  checkCreateFxConversion,
  checkCreateFxQuote,
} from '../../../src/requests/funding.js'
import { checkPage } from '../../../src/requests/lists.js'
import type { Operations } from '../operation.js'

export const FUNDING_OPERATIONS: Operations = {
  'GET /v1/balances': {
    id: 'getBalances',
    tag: 'Balances',
    summary: 'Get your balances',
    description: 'Returns what is available and what is reserved in each currency.',
    answer: 'Balances',
    answerText: 'The balances.',
    errors: [],
  },
  'GET /v1/balance_transactions': {
    id: 'listBalanceTransactions',
    tag: 'Balances',
    summary: 'List changes of your balances',
    description: 'Lists each change of `available` and `reserved` with its reason, newest first.',
    query: checkPage.schema,
    answer: 'BalanceTransactionPage',
    answerText: 'A page of changes.',
    errors: [],
  },
  'POST /v1/funding/deposits': {
    id: 'createDeposit',
    tag: 'Balances',
    summary: 'Deposit test funds',
    description:
      'Credits test funds at once. Sandbox only: production answers 400, and deposits arrive by ' +
      'bank transfer. Without an `Idempotency-Key` each call credits.',
    body: { name: 'CreateDepositRequest', schema: checkCreateDeposit.schema },
    answer: 'Deposit',
    answerText: 'The deposit.',
    errors: ['partner_suspended', 'balance_limit_exceeded', 'idempotency_conflict'],
  },
  'POST /v1/fx/quotes': {
    id: 'createFxQuote',
    tag: 'Balances',
    summary: 'Quote a conversion',
    description: 'Fixes both amounts of a conversion between two of your balances for a minute.',
    body: { name: 'CreateFxQuoteRequest', schema: checkCreateFxQuote.schema },
    answer: 'FxQuote',
    answerText: 'The quote.',
    errors: ['partner_suspended', 'unsupported_currency'],
  },
  'POST /v1/fx/conversions': {
    id: 'createFxConversion',
    tag: 'Balances',
    summary: 'Convert at a quote',
    description: 'Sells and buys in one step at a quote, which can be used once.',
    body: { name: 'CreateFxConversionRequest', schema: checkCreateFxConversion.schema },
    keyRequired: true,
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
