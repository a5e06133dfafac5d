/** Bodies of the payment-intent routes (gateway/README.md, Payment intents). */
import { AMOUNT_USD_CENTS_MAX, PARTNER_USER_ID_MAX, QR_PAYLOAD_MAX } from '../base/constants.js'
import { checkOf } from './check.js'

export const CORRIDORS = ['th_promptpay', 'vn_vietqr'] as const

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

export const corridor = { enum: CORRIDORS }

export interface CreateIntentBody {
  readonly partner_user_id: string
  /** USD cents. */
  readonly amount_usd_cents: number
  readonly corridor: (typeof CORRIDORS)[number]
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
