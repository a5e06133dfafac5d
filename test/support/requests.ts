/** Builders of valid requests; a parameter replaces members. */
import {
  METADATA_KEY_MAX,
  METADATA_PAIRS_MAX,
  METADATA_VALUE_MAX,
} from '../../src/base/constants.js'
import { generatePromptPay, generateVietQr } from './qr_generators.js'
import type { CreateIntent__Output as CreateIntent } from '../../protos/types/causeway/v1/CreateIntent.js'
import type { CreatePayout__Output as CreatePayout } from '../../protos/types/causeway/v1/CreatePayout.js'

/** The given members of a create. */
export type IntentMembers = Partial<CreateIntent>

export function anIntent(given: IntentMembers = {}): CreateIntent {
  return {
    partner_user_id: 'user-1',
    amount_usd_cents: 5_000,
    corridor: 'th_promptpay',
    kyc_attestation: { verified: true, method: 'bank_id', verified_at: '2026-01-01T00:00:00Z' },
    sanctions_attestation: { clean: true, screened_at: '2026-11-20T00:00:00Z' },
    ...given,
  }
}

export function aPayout(given: Partial<CreatePayout> = {}): CreatePayout {
  return {
    idempotency_key: 'key-1',
    amount: '12500000',
    currency: 'VND',
    beneficiary: {
      type: 'bank_account',
      name: 'Nguyen Van A',
      destination_country: 'VN',
      currency: 'VND',
      account_number: '0123456789',
      bank_code: '970436',
    },
    reference: 'invoice 1',
    metadata: {},
    ...given,
  }
}

/** What a new session token of an intent is requested with. */
export const sessionOf = (intent: CreateIntent) => {
  const { partner_user_id, kyc_attestation, sanctions_attestation } = intent
  return { partner_user_id, kyc_attestation, sanctions_attestation }
}

/** The body of `POST /v1/payouts`. */
export function payoutBody<Given extends object>(given?: Given) {
  const { amount, currency, beneficiary, reference } = aPayout({ amount: '125000' })
  return { amount, currency, beneficiary, reference, ...given }
}

/** The beneficiary of these payouts with another account. */
export const payeeOf = (account_number: string, given: object = {}) => ({
  ...aPayout().beneficiary!,
  ...{ account_number, ...given },
})

/** The largest metadata of a payout. The default character has the longest JSON escape. */
export const largestMetadata = (character = '\u0001'): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: METADATA_PAIRS_MAX }, (_, i) => {
      const number = String(i).padStart(2, '0')
      return [
        number + character.repeat(METADATA_KEY_MAX - number.length),
        character.repeat(METADATA_VALUE_MAX),
      ]
    }),
  )

/** What a payer of these intents scans: a static code with an amount, or a dynamic code. */
export const scanOf = (corridor = 'th_promptpay') =>
  corridor === 'th_promptpay'
    ? { qr_payload: promptPayQr(), local_amount_minor_units: '36000' }
    : { qr_payload: vietQr('100000') }

/** A PromptPay code of a mobile number, made by an independent generator. Default: static. */
export const promptPayQr = (mobile = '0066812345678', fields: object = {}): string =>
  generatePromptPay({
    method: 'QR_STATIC',
    application: 'PROMPTPAY_CREDIT_TRANSFER',
    mobileNumber: mobile,
    currencyCode: '764',
    countryCode: 'TH',
    ...fields,
  })

/** A VietQR code of a bank account, made by an independent generator. */
export const vietQrWith = (fields: object): string =>
  generateVietQr({ bankBin: '970416', bankNumber: '257678859', ...fields })

/** A dynamic one with its amount. */
export const vietQr = (amount: string): string => vietQrWith({ amount, purpose: 'Cam on' })
