/** The model of conversions, and of money that operators pay in and out. */
import type { BooksModel, Change, Code } from './model.js'

const QUOTE_MS = 60_000
/** The world of this model has this spread. */
export const SPREAD_BPS = 100n
/** Units of each currency for a dollar, and its digits. */
const UNITS: Readonly<Record<string, bigint>> = { USD: 1n, THB: 36n, VND: 26_500n }
const DIGITS: Readonly<Record<string, bigint>> = { USD: 100n, THB: 100n, VND: 1n }

export interface QuoteRequest {
  readonly sell: string
  readonly buy: string
  readonly sold: bigint
}

export interface ModelQuote extends QuoteRequest {
  readonly bought: bigint
  readonly expiresAt: number
  /** The id that the product has chosen. */
  id: string
  /** The key of its conversion. */
  key: string | null
}

/** What a quote buys, in the partner's disfavor. */
export function boughtFor({ sell, buy, sold }: QuoteRequest): bigint {
  const dividend = sold * UNITS[buy]! * DIGITS[buy]! * (10_000n - SPREAD_BPS)
  return dividend / (UNITS[sell]! * DIGITS[sell]! * 10_000n)
}

export function quote(model: BooksModel, request: QuoteRequest): Code {
  const bought = boughtFor(request)
  if (request.sell === request.buy || bought === 0n) return 'invalid_request'
  const expiresAt = model.now + QUOTE_MS
  model.quotes.push({ ...request, bought, expiresAt, id: '', key: null })
  return 'ok'
}

export function convert(model: BooksModel, quote: ModelQuote, key: string): Code {
  const bound = model.quotes.find((each) => each.key === key)
  if (bound !== undefined) return bound === quote ? 'ok' : 'idempotency_conflict'
  if (quote.key !== null || model.now >= quote.expiresAt) return 'quote_expired'
  const { sell, buy, sold, bought } = quote
  if (model.ledger.of(sell, 'prefund') < sold) return 'insufficient_balance'
  model.ledger.move(sell, 'prefund', 'fx', sold)
  model.ledger.move(buy, 'fx', 'prefund', bought)
  quote.key = key
  return 'ok'
}

export interface FundsRequest {
  readonly kind: 'deposit' | 'withdraw'
  readonly currency: string
  readonly amount: bigint
  readonly key: string
}

export function fundsChange(model: BooksModel, request: FundsRequest): Change {
  const { kind, currency, amount, key } = request
  const bound = `${kind} ${key}`
  const content = `${currency} ${amount}`
  return {
    key: `${bound} ${content}`,
    ...{ currency, amount },
    refusal: () => {
      const known = model.fundKeys.get(bound)
      if (known !== undefined) return known === content ? 'replayed' : 'idempotency_conflict'
      const isShort = kind === 'withdraw' && model.ledger.of(currency, 'prefund') < amount
      return isShort ? 'insufficient_balance' : null
    },
    apply: () => {
      model.fundKeys.set(bound, content)
      model.ledger.move(currency, 'funding', 'prefund', kind === 'deposit' ? amount : -amount)
    },
  }
}
