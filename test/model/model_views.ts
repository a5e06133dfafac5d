/**
 * The expected public views of a model's intent.
 *
 * - A view freezes the intent when it is made; only ids that the system generates are read when the
 *   view is called.
 * - A field that does not apply is absent.
 */
import { CORRIDOR_FACTS } from './observations.js'
import {
  boundQuote,
  type ModelIntent,
  type ModelQuote,
  type ModelState,
  type View,
} from './model.js'

const RETRYABLE: Readonly<Record<string, boolean>> = { expired: true, rail_unavailable: true }

export const timeText = (at: number): string => new Date(at).toISOString()

const moment = (name: string, at: number | undefined): object =>
  at === undefined ? {} : { [name]: timeText(at) }

function quoteFields(quote: ModelQuote): object {
  return {
    quote_id: quote.id,
    quote_version: quote.version,
    amount_usd_cents: quote.cents,
    local_amount_minor_units: String(quote.minor),
    local_currency: CORRIDOR_FACTS[quote.code.corridor].numeric,
    expires_at: quote.expiresAt,
  }
}

/** The current view, or the view at authorization. */
export function intentSeen(intent: ModelIntent, state: ModelState = intent.state): View {
  const quote = boundQuote(intent)
  const rest = state === intent.state ? afterwards(intent) : {}
  const authorizedAt = intent.moments.authorized
  return () => ({
    intent_id: intent.id,
    status: state,
    amount_usd_cents: intent.cents,
    corridor: intent.corridor,
    created_at: timeText(intent.createdAt),
    ...moment('authorized_at', authorizedAt),
    ...(quote === null ? {} : { quote: quoteFields(quote) }),
    ...rest,
  })
}

function afterwards({ moments, failure, recall, quotes }: ModelIntent): object {
  const requestedAt = recall?.requestedAt ?? moments.refunded
  const refusedAt = recall?.refusedAt ?? undefined
  const isRefused = moments.refunded === undefined && refusedAt !== undefined
  const status = moments.refunded !== undefined ? 'done' : isRefused ? 'refused' : 'requested'
  return {
    ...moment('captured_at', moments.captured),
    ...(moments.captured === undefined ? {} : { captured_amount_usd_cents: quotes.at(-1)?.cents }),
    ...moment('failed_at', moments.failed),
    ...moment('expired_at', moments.expired),
    ...moment('cancelled_at', moments.cancelled),
    ...moment('refunded_at', moments.refunded),
    ...(failure === null
      ? {}
      : {
          failure: {
            code: failure.code,
            source: failure.source,
            retryable: RETRYABLE[failure.code] ?? false,
            occurred_at: timeText(failure.at),
          },
        }),
    ...(requestedAt === undefined
      ? {}
      : {
          refund: {
            status,
            amount_usd_cents: quotes.at(-1)?.cents,
            ...moment('requested_at', requestedAt),
            ...moment('refunded_at', moments.refunded),
            ...(isRefused ? moment('failed_at', refusedAt) : {}),
          },
        }),
  }
}

export function scanSeen(intent: ModelIntent, quote: ModelQuote): View {
  const { scheme, country } = CORRIDOR_FACTS[intent.corridor]
  return () => ({
    intent_id: intent.id,
    status: 'created',
    merchant: { scheme, country, ...quote.code.merchant },
    qr_kind: quote.code.kind,
    quote: quoteFields(quote),
  })
}

const RECEIPT_STATUS: Readonly<Record<ModelState, string>> = {
  created: 'pending',
  authorized: 'pending',
  captured: 'captured',
  refunded: 'refunded',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'failed',
}

/** States whose receipt shows the reserved or debited amount. */
const HAS_DEBIT: Readonly<Record<ModelState, boolean>> = {
  created: false,
  authorized: true,
  captured: true,
  refunded: true,
  failed: false,
  expired: false,
  cancelled: false,
}

export function receiptSeen(intent: ModelIntent): View {
  const { state, moments, corridor } = intent
  const { numeric, fraction } = CORRIDOR_FACTS[corridor]
  const quote = boundQuote(intent)
  const minor = quote?.minor ?? 0n
  const seen = {
    status: RECEIPT_STATUS[state],
    amount_usd_cents: HAS_DEBIT[state] ? quote?.cents : 0,
    corridor,
    local_amount: String(minor / fraction),
    local_amount_minor_units: String(minor),
    local_currency: numeric,
    merchant_name: quote?.code.merchant.name ?? '',
    destination_masked: quote?.code.masked ?? '',
    created_at: timeText(intent.createdAt),
    ...(state === 'captured' ? moment('captured_at', moments.captured) : {}),
    ...(state === 'refunded'
      ? { refund: { amount_usd_cents: quote?.cents, ...moment('refunded_at', moments.refunded) } }
      : {}),
  }
  return () => ({ intent_id: intent.id, ...seen })
}
