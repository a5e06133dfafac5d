/**
 * The public views of an intent: in HTTP answers, events and gRPC.
 *
 * - The only file that names the public fields. A field that does not apply is absent.
 * - No view contains an unmasked destination account, a stored token or text from the rail.
 */
import { toRfc3339, type Instant } from '../../src/base/clock.js'
import { numericOf } from '../../src/money/currency.js'
import { money, toWholeUnits } from '../../src/money/money.js'
import { CORRIDORS } from '../../src/qr/corridor.js'
import type { Quote } from '../../src/quotes/quote.js'
import { failureView } from '../failure_texts.js'
import type { IntentContext, IntentState } from './context.js'

export interface QuoteView {
  readonly quote_id: string
  readonly quote_version: number
  readonly amount_usd_cents: number
  readonly local_amount_minor_units: string
  /** ISO 4217 numeric. */
  readonly local_currency: string
  /** Epoch milliseconds. */
  readonly expires_at: number
}

/** The answer to a create: exactly seven fields. */
export function createdView(context: IntentContext, sessionToken: string): object {
  return {
    intent_id: context.id,
    status: 'created',
    amount_usd_cents: context.amountCents,
    corridor: context.corridor,
    created_at: toRfc3339(context.createdAt),
    session_token: sessionToken,
    session_expires_at: context.session.exp,
  }
}

export function intentView(state: IntentState, context: IntentContext): object {
  return {
    ...upToAuthorized(state, context),
    ...moment('captured_at', context.capturedAt),
    ...(context.capturedAt === undefined ? {} : { captured_amount_usd_cents: debitOf(context) }),
    ...moment('failed_at', context.failedAt),
    ...moment('expired_at', context.expiredAt),
    ...moment('cancelled_at', context.cancelledAt),
    ...moment('refunded_at', context.refundedAt),
    ...(context.failure === undefined ? {} : { failure: failureView(context.failure) }),
    ...(context.recall === undefined && context.refundedAt === undefined
      ? {}
      : { refund: refundView(context) }),
  }
}

/** USD cents reserved by the confirm and debited by the capture: the bound quote. */
const debitOf = ({ scanned }: IntentContext): number => scanned?.quote.cents ?? 0

/** A bank return without a recall counts as requested when it arrived. */
function refundView(context: IntentContext): object {
  const { recall, refundedAt, capturedAt } = context
  const status = refundedAt !== undefined ? 'done' : recall?.refused ? 'refused' : 'requested'
  const requestedAt = recall?.requestedAt ?? refundedAt ?? capturedAt
  return {
    status,
    amount_usd_cents: debitOf(context),
    ...moment('requested_at', requestedAt),
    ...moment('refunded_at', refundedAt),
    ...(status === 'refused' ? moment('failed_at', context.refundFailedAt) : {}),
  }
}

const RECEIPT_STATUS: Readonly<Record<IntentState, string>> = {
  created: 'pending',
  authorized: 'pending',
  captured: 'captured',
  refunded: 'refunded',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'failed',
}

/** States whose receipt shows an amount: the money is reserved or was debited. */
const HAS_DEBIT: ReadonlySet<IntentState> = new Set(['authorized', 'captured', 'refunded'])

/** The receipt. Before a scan the merchant's members are empty. */
export function receiptView(state: IntentState, context: IntentContext): object {
  const { scanned } = context
  const currency = scanned?.quote.currency
  const minor = BigInt(scanned?.quote.localMinor ?? 0)
  return {
    intent_id: context.id,
    status: RECEIPT_STATUS[state],
    amount_usd_cents: HAS_DEBIT.has(state) ? debitOf(context) : 0,
    corridor: context.corridor,
    local_amount: currency === undefined ? '0' : toWholeUnits(money(currency, minor)),
    local_amount_minor_units: minor.toString(),
    local_currency: CORRIDORS[context.corridor].currencyNumeric,
    merchant_name: scanned?.merchant.name ?? '',
    destination_masked: scanned?.destinationMasked ?? '',
    created_at: toRfc3339(context.createdAt),
    ...(state === 'captured' ? moment('captured_at', context.capturedAt) : {}),
    ...(state === 'refunded'
      ? {
          refund: {
            amount_usd_cents: debitOf(context),
            ...moment('refunded_at', context.refundedAt),
          },
        }
      : {}),
  }
}

/** The answer to a confirm and its replays: the intent when it became authorized. */
export function authorizedView(context: IntentContext): object {
  return upToAuthorized('authorized', context)
}

function upToAuthorized(state: IntentState, context: IntentContext): object {
  return {
    intent_id: context.id,
    status: state,
    amount_usd_cents: context.amountCents,
    corridor: context.corridor,
    created_at: toRfc3339(context.createdAt),
    ...moment('authorized_at', context.confirmedAt),
    ...(context.scanned === undefined ? {} : { quote: quoteView(context.scanned.quote) }),
  }
}

export function scanView(state: IntentState, context: IntentContext): object {
  const { scanned } = context
  if (scanned === undefined) throw new Error('broken invariant: a scan view needs a scan')
  return {
    intent_id: context.id,
    status: state,
    merchant: scanned.merchant,
    qr_kind: scanned.qrKind,
    quote: quoteView(scanned.quote),
  }
}

function quoteView(quote: Quote): QuoteView {
  return {
    quote_id: quote.id,
    quote_version: quote.version,
    amount_usd_cents: quote.cents,
    local_amount_minor_units: quote.localMinor,
    local_currency: numericOf(quote.currency),
    expires_at: quote.expiresAt,
  }
}

const moment = (name: string, at: Instant | undefined): object =>
  at === undefined ? {} : { [name]: toRfc3339(at) }
