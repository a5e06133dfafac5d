/** Answers of the payment-intent routes. The views are in actors/intent/view.ts. */
import { objectOf, pageOf, ref, text, type Schema } from './schema.js'

const basics = {
  intent_id: text('Opaque.'),
  status: ref('IntentStatus'),
  amount_usd_cents: ref('UsdCents', 'The ceiling that the create asked for; it never changes.'),
  corridor: ref('Corridor'),
  created_at: ref('Timestamp'),
}

const session = {
  session_token: text('Secret bearer token of this intent. Never put it in a URL or a log.'),
  session_expires_at: ref('EpochSeconds', 'When the token expires, in seconds since 1970.'),
}

export const INTENT_ANSWERS: Readonly<Record<string, Schema>> = {
  PaymentIntent: objectOf('A QR payment. A member that does not apply is absent.', basics, {
    quote: ref('Quote', 'Present after a scan.'),
    authorized_at: ref('Timestamp', 'When the payment was confirmed.'),
    captured_at: ref('Timestamp', 'When the merchant was paid; it stays after a refund.'),
    captured_amount_usd_cents: ref(
      'UsdCents',
      "The debit: the quote's amount. Present exactly when `captured_at` is. Book this amount.",
    ),
    failed_at: ref('Timestamp'),
    expired_at: ref('Timestamp'),
    cancelled_at: ref('Timestamp'),
    refunded_at: ref('Timestamp', 'When the money came back.'),
    failure: ref('Failure', 'Present when the payment failed.'),
    refund: ref('IntentRefund', 'Present when a refund was requested or the bank returned it.'),
  }),
  PaymentIntentPage: pageOf('PaymentIntent', 'Intents that match the filters.'),
  Quote: objectOf('The price of the scanned payment, valid for five minutes.', {
    quote_id: text('Send it with the confirm, so that only this amount can be paid.'),
    quote_version: { type: 'integer', minimum: 1, description: 'Increases with each scan.' },
    amount_usd_cents: ref('UsdCents', 'What the payment debits, at most the ceiling.'),
    local_amount_minor_units: ref('MinorUnits', 'What the merchant receives.'),
    local_currency: ref('NumericCurrency'),
    expires_at: ref('EpochMilliseconds', 'In milliseconds since 1970.'),
  }),
  IntentRefund: objectOf(
    'The progress of a refund: the service asks the receiving bank to return the money.',
    {
      status: text('`refused`: the bank declined, and it can be requested again.', {
        enum: ['requested', 'refused', 'done'],
      }),
      amount_usd_cents: ref('UsdCents'),
      requested_at: ref('Timestamp'),
    },
    {
      refunded_at: ref('Timestamp', 'Present once `done`.'),
      failed_at: ref('Timestamp', 'Present while `refused`.'),
    },
  ),
  CreatedPaymentIntent: objectOf('The intent with its session token.', { ...basics, ...session }),
  SessionToken: objectOf('Another session token of the same intent.', {
    intent_id: basics.intent_id,
    ...session,
  }),
  ReceiptToken: objectOf("A token that opens every receipt of the intent's user.", {
    receipt_token: text('Bearer token for receipts only; it can be used repeatedly.'),
    receipt_token_expires_at: ref('EpochSeconds', 'Five minutes later, in seconds since 1970.'),
  }),
  Receipt: objectOf(
    'The receipt of a payment at fetch time.',
    {
      intent_id: basics.intent_id,
      status: text('`cancelled` and `expired` intents are `failed`.', {
        enum: ['pending', 'captured', 'failed', 'refunded'],
      }),
      amount_usd_cents: ref(
        'UsdCents',
        'What the user pays: 0 before the confirm and when the payment did not take place.',
      ),
      corridor: ref('Corridor'),
      local_amount: text('What the merchant receives in whole units, digits only.', {
        pattern: '^[0-9]+$',
        examples: ['250'],
      }),
      local_amount_minor_units: ref('MinorUnits', 'The same amount, exactly.'),
      local_currency: ref('NumericCurrency'),
      merchant_name: text('From the scanned code; empty before a scan.'),
      destination_masked: text('The last characters of the account; empty before a scan.'),
      created_at: ref('Timestamp'),
    },
    {
      captured_at: ref('Timestamp', 'Present while `captured`.'),
      refund: objectOf('Present when `refunded`.', {
        amount_usd_cents: ref('UsdCents'),
        refunded_at: ref('Timestamp'),
      }),
    },
  ),
  ScanResult: objectOf('The merchant of the code, and the quote to show to the user.', {
    intent_id: basics.intent_id,
    status: ref('IntentStatus'),
    merchant: objectOf('From the code; a member is empty when the code lacks it.', {
      scheme: text('QR scheme.'),
      name: text('Name of the merchant.'),
      city: text('City of the merchant.'),
      country: text('ISO 3166, two letters.'),
      mcc: text('ISO 18245 merchant category code.'),
    }),
    qr_kind: text('A `dynamic` code is made for one payment.', { enum: ['static', 'dynamic'] }),
    quote: ref('Quote'),
  }),
}
