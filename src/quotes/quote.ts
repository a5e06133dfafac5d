/**
 * A quote: the price of a local amount in US cents, and when it expires.
 *
 * - The intent's amount is a ceiling: a quote above it is refused, never truncated.
 * - A quote is plain JSON because it is stored in an intent's snapshot. It keeps the rate it was
 *   computed with.
 */
import { MINUTE, type Instant } from '../base/clock.js'
import type { QuoteId } from '../base/ids.js'
import type { Currency } from '../money/currency.js'
import { toWire, usdCents } from '../money/money.js'
import { applySpread, centsFor, type Rate } from '../money/rate.js'

export interface Quote {
  readonly id: QuoteId
  /** Counts the quotes of its intent, from 1. */
  readonly version: number
  /** US cents debited from the partner. */
  readonly cents: number
  /** Paid to the merchant: minor units of `currency`, decimal text. */
  readonly localMinor: string
  readonly currency: Currency
  readonly expiresAt: Instant
  /** After the spread. */
  readonly rate: { readonly numerator: string; readonly denominator: string }
  /** The user confirmed this payment although an equal one was made recently. */
  readonly acknowledgedDuplicate: boolean
}

/** Clocks of owners differ by less. */
const CLOCKS_WITHIN_MS = MINUTE

/** A quote that expires later than one of now would is of a clock that was ahead: it is too old. */
export const hasExpired = (expiresAt: Instant, ttlMs: number, now: Instant): boolean =>
  now >= expiresAt || expiresAt - now > ttlMs + CLOCKS_WITHIN_MS

export interface QuoteTerms {
  readonly id: QuoteId
  readonly version: number
  readonly localMinor: bigint
  readonly currency: Currency
  /** Before the spread. */
  readonly rate: Rate
  readonly spreadBps: number
  readonly ceilingCents: number
  readonly expiresAt: Instant
  readonly acknowledgedDuplicate: boolean
}

export type QuoteOutcome =
  | { readonly ok: true; readonly quote: Quote }
  | { readonly ok: false; readonly code: 'quote_exceeds_intent_amount' }

export function makeQuote(terms: QuoteTerms): QuoteOutcome {
  const rate = applySpread(terms.rate, terms.spreadBps)
  const cents = centsFor(terms.localMinor, terms.currency, rate)
  if (cents > BigInt(terms.ceilingCents)) return { ok: false, code: 'quote_exceeds_intent_amount' }
  return {
    ok: true,
    quote: {
      id: terms.id,
      version: terms.version,
      cents: usdCents(cents),
      localMinor: toWire(terms.localMinor),
      currency: terms.currency,
      expiresAt: terms.expiresAt,
      rate: { numerator: rate.numerator.toString(), denominator: rate.denominator.toString() },
      acknowledgedDuplicate: terms.acknowledgedDuplicate,
    },
  }
}
