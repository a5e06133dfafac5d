/**
 * Bodies of the funding routes: deposits and conversions. The processor checks currencies and
 * rates.
 */
import { checkOf } from './check.js'

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
