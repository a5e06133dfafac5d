/**
 * Requests and answers of payment intents (gateway/guide/payments.md). The views are in
 * actors/intent/view.
 */
import { AMOUNT_USD_CENTS_MAX, PARTNER_USER_ID_MAX, QR_PAYLOAD_MAX } from '../base/constants.js'
import { CORRIDOR_NAMES, type Corridor } from '../qr/corridor.js'
import { checkOf, refined } from './checks/check.js'
import { created, page, readCreated, type CreatedQuery } from './lists.js'
import { objectOf, pageOf, ref, text, type Schema } from './schema.js'

export interface KycAttestation {
  readonly verified: boolean
  readonly method: string
  readonly verified_at: string
  readonly id_type?: string
  readonly id_country?: string
}

export interface SanctionsAttestation {
  readonly clean: boolean
  readonly screened_at: string
}

export const corridor = { enum: CORRIDOR_NAMES }

export interface CreateIntentBody {
  readonly partner_user_id: string
  /** USD cents. */
  readonly amount_usd_cents: number
  readonly corridor: Corridor
  readonly kyc_attestation: KycAttestation
  readonly sanctions_attestation: SanctionsAttestation
}

export const kycAttestation = {
  type: 'object',
  description: 'Your confirmation that you know the user.',
  additionalProperties: false,
  required: ['verified', 'method', 'verified_at'],
  properties: {
    verified: { type: 'boolean', description: 'Must be true, else 403.' },
    method: { type: 'string', minLength: 1, description: 'Your name of the KYC method.' },
    verified_at: {
      type: 'string',
      format: 'date-time',
      description: 'When you verified the user.',
    },
    id_type: { type: 'string', description: 'The kind of government id; never its number.' },
    id_country: {
      type: 'string',
      pattern: '^[A-Za-z]{2,3}$',
      description: 'ISO 3166 country of that id.',
    },
  },
}

export const sanctionsAttestation = {
  type: 'object',
  description: 'Your confirmation that you screened the user for sanctions.',
  additionalProperties: false,
  required: ['clean', 'screened_at'],
  properties: {
    clean: { type: 'boolean', description: 'Must be true, else 403.' },
    screened_at: {
      type: 'string',
      format: 'date-time',
      description: 'When you screened the user last.',
    },
  },
}

export const checkCreateIntent = checkOf<CreateIntentBody>({
  type: 'object',
  additionalProperties: false,
  required: [
    'partner_user_id',
    'amount_usd_cents',
    'corridor',
    'kyc_attestation',
    'sanctions_attestation',
  ],
  properties: {
    partner_user_id: {
      type: 'string',
      minLength: 1,
      maxLength: PARTNER_USER_ID_MAX,
      description: 'The payer: the same for the same person, never a government id.',
    },
    amount_usd_cents: {
      type: 'integer',
      minimum: 1,
      maximum: AMOUNT_USD_CENTS_MAX,
      description: 'The ceiling in US cents; the quote is debited.',
    },
    corridor,
    kyc_attestation: kycAttestation,
    sanctions_attestation: sanctionsAttestation,
  },
})

export interface RemintSessionBody {
  readonly partner_user_id: string
  readonly kyc_attestation: KycAttestation
  readonly sanctions_attestation: SanctionsAttestation
}

export const checkRemintSession = checkOf<RemintSessionBody>({
  type: 'object',
  additionalProperties: false,
  required: ['partner_user_id', 'kyc_attestation', 'sanctions_attestation'],
  properties: {
    partner_user_id: {
      type: 'string',
      minLength: 1,
      maxLength: PARTNER_USER_ID_MAX,
      description: 'The user that the intent was created for.',
    },
    kyc_attestation: kycAttestation,
    sanctions_attestation: sanctionsAttestation,
  },
})

export interface ScanBody {
  readonly qr_payload: string
  /** Decimal text of an int64; older clients send a positive safe integer. */
  readonly local_amount_minor_units?: string | number
  readonly duplicate_confirmed?: boolean
}

export const checkScan = checkOf<ScanBody>({
  type: 'object',
  additionalProperties: false,
  required: ['qr_payload'],
  properties: {
    qr_payload: {
      type: 'string',
      minLength: 1,
      maxLength: QR_PAYLOAD_MAX,
      description: 'The text of the code as read, unchanged.',
    },
    local_amount_minor_units: {
      type: ['string', 'integer'],
      format: 'int64',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Required when the code has no amount; otherwise absent or equal to it.',
    },
    duplicate_confirmed: {
      type: 'boolean',
      description: 'True after the user confirmed that a repeated payment is intended.',
    },
  },
})

export interface ConfirmBody {
  readonly quote_id?: string
  readonly quote_version?: number
}

export const checkConfirm = checkOf<ConfirmBody>({
  type: 'object',
  additionalProperties: false,
  properties: {
    quote_id: { type: 'string', minLength: 1, description: 'The quote that the user saw.' },
    quote_version: {
      type: 'integer',
      minimum: 1,
      maximum: 2 ** 32 - 1,
      description: 'Its version.',
    },
  },
})

interface IntentsQuery extends CreatedQuery {
  readonly status?: string
  readonly corridor?: string
  readonly partner_user_id?: string
}

export const INTENT_STATUSES = [
  'created',
  'authorized',
  'captured',
  'failed',
  'expired',
  'refunded',
  'cancelled',
]

const checkIntents = checkOf<IntentsQuery>({
  type: 'object',
  additionalProperties: false,
  properties: {
    ...page,
    ...created,
    status: { enum: INTENT_STATUSES, description: 'Only intents in this status.' },
    corridor: { enum: CORRIDOR_NAMES, description: 'Only intents of this corridor.' },
    partner_user_id: {
      type: 'string',
      minLength: 1,
      maxLength: PARTNER_USER_ID_MAX,
      description: 'Only intents of this user.',
    },
  },
})

export const readIntents = refined(checkIntents, readCreated)

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
