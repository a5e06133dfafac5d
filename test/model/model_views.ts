/**
 * The expected public views of a model's intent.
 *
 * - A view freezes the intent when it is made; only ids that the system generates are read when the
 *   view is called.
 * - A field that does not apply is absent.
 */
import type { IntentStatus } from '../support/lifecycle.js'
import { CORRIDOR_RULES } from './contract_rules.js'
import { boundQuote, type ModelIntent, type ModelQuote, type View } from './model.js'

const RETRYABLE: Readonly<Record<string, boolean>> = { expired: true, rail_unavailable: true }

export const timeText = (at: number): string => new Date(at).toISOString()

const timeField = (name: string, at: number | undefined): object =>
  at === undefined ? {} : { [name]: timeText(at) }

function quoteFields(quote: ModelQuote): object {
  return {
    quote_id: quote.id,
    quote_version: quote.version,
    amount_usd_cents: quote.cents,
    local_amount_minor_units: String(quote.minor),
    local_currency: CORRIDOR_RULES[quote.code.corridor].numeric,
    expires_at: quote.expiresAt,
  }
}

/** The current view, or the view at authorization. */
export function intentView(intent: ModelIntent, state: IntentStatus = intent.state): View {
  const quote = boundQuote(intent)
  const rest = state === intent.state ? afterwards(intent) : {}
  const authorizedAt = intent.enteredAt.authorized
  return () => ({
    intent_id: intent.id,
    status: state,
    amount_usd_cents: intent.cents,
    corridor: intent.corridor,
    created_at: timeText(intent.createdAt),
    ...timeField('authorized_at', authorizedAt),
    ...(quote === null ? {} : { quote: quoteFields(quote) }),
    ...rest,
  })
}

function afterwards({ enteredAt, failure, recall, quotes }: ModelIntent): object {
  const requestedAt = recall?.requestedAt ?? enteredAt.refunded
  const refusedAt = recall?.refusedAt ?? undefined
  const isRefused = enteredAt.refunded === undefined && refusedAt !== undefined
  const status = enteredAt.refunded !== undefined ? 'done' : isRefused ? 'refused' : 'requested'
  return {
    ...timeField('captured_at', enteredAt.captured),
    ...(enteredAt.captured === undefined
      ? {}
      : { captured_amount_usd_cents: quotes.at(-1)?.cents }),
    ...timeField('failed_at', enteredAt.failed),
    ...timeField('expired_at', enteredAt.expired),
    ...timeField('cancelled_at', enteredAt.cancelled),
    ...timeField('refunded_at', enteredAt.refunded),
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
            ...timeField('requested_at', requestedAt),
            ...timeField('refunded_at', enteredAt.refunded),
            ...(isRefused ? timeField('failed_at', refusedAt) : {}),
          },
        }),
  }
}

export function scanView(intent: ModelIntent, quote: ModelQuote): View {
  const { scheme, country } = CORRIDOR_RULES[intent.corridor]
  return () => ({
    intent_id: intent.id,
    status: 'created',
    merchant: { scheme, country, ...quote.code.merchant },
    qr_kind: quote.code.kind,
    quote: quoteFields(quote),
  })
}

const RECEIPT_STATUS: Readonly<Record<IntentStatus, string>> = {
  created: 'pending',
  authorized: 'pending',
  captured: 'captured',
  refunded: 'refunded',
  failed: 'failed',
  expired: 'failed',
  cancelled: 'failed',
}

/** States whose receipt shows the reserved or debited amount. */
const HAS_DEBIT: Readonly<Record<IntentStatus, boolean>> = {
  created: false,
  authorized: true,
  captured: true,
  refunded: true,
  failed: false,
  expired: false,
  cancelled: false,
}

export function receiptView(intent: ModelIntent): View {
  const { state, enteredAt, corridor } = intent
  const { numeric, fraction } = CORRIDOR_RULES[corridor]
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
    ...(state === 'captured' ? timeField('captured_at', enteredAt.captured) : {}),
    ...(state === 'refunded'
      ? {
          refund: {
            amount_usd_cents: quote?.cents,
            ...timeField('refunded_at', enteredAt.refunded),
          },
        }
      : {}),
  }
  return () => ({ intent_id: intent.id, ...seen })
}
