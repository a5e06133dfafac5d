/** Types of the partner API's requests and answers. */

export type Corridor = 'th_promptpay' | 'vn_vietqr'
/** Whole USD cents. */
export type UsdCents = number
/** Minor units as decimal digits of a signed 64-bit integer. */
export type MinorUnits = string
/** RFC 3339, UTC, with milliseconds. */
export type Timestamp = string

export interface KycAttestation {
  readonly verified: true
  readonly method: string
  readonly verified_at: string
  readonly id_type?: string
  readonly id_country?: string
}

export interface SanctionsAttestation {
  readonly clean: true
  readonly screened_at: string
}

export interface CreateIntent {
  readonly partner_user_id: string
  /** The ceiling; the quote is debited. */
  readonly amount_usd_cents: UsdCents
  readonly corridor: Corridor
  readonly kyc_attestation: KycAttestation
  readonly sanctions_attestation: SanctionsAttestation
}

export type IntentStatus =
  'created' | 'authorized' | 'captured' | 'failed' | 'expired' | 'refunded' | 'cancelled'

export interface Quote {
  readonly quote_id: string
  readonly quote_version: number
  readonly amount_usd_cents: UsdCents
  readonly local_amount_minor_units: MinorUnits
  /** ISO 4217, numeric. */
  readonly local_currency: string
  /** Epoch milliseconds. */
  readonly expires_at: number
}

export interface PaymentIntent {
  readonly intent_id: string
  readonly status: IntentStatus
  readonly amount_usd_cents: UsdCents
  readonly corridor: Corridor
  readonly created_at: Timestamp
  readonly captured_at?: Timestamp
  /** The debit; present when `captured_at` is. */
  readonly captured_amount_usd_cents?: UsdCents
  readonly quote?: Quote
  readonly failure?: Failure
}

export interface SessionToken {
  readonly intent_id: string
  /** Secret: never put it in a URL or a log. */
  readonly session_token: string
  /** Epoch seconds. */
  readonly session_expires_at: number
}

export type CreatedPaymentIntent = PaymentIntent & SessionToken

export interface ReceiptToken {
  readonly receipt_token: string
  /** Epoch seconds. */
  readonly receipt_token_expires_at: number
}

export interface Receipt {
  readonly intent_id: string
  readonly status: 'pending' | 'captured' | 'failed' | 'refunded'
  readonly amount_usd_cents: UsdCents
  readonly corridor: Corridor
  /** Whole units of the local currency. */
  readonly local_amount: string
  readonly merchant_name: string
  readonly destination_masked: string
  readonly created_at: Timestamp
  readonly captured_at?: Timestamp
  readonly refund?: { readonly amount_usd_cents: UsdCents; readonly refunded_at: Timestamp }
}

export interface Scan {
  /** The unchanged text of the QR code. */
  readonly qr_payload: string
  /** Required when the code has no amount. */
  readonly local_amount_minor_units?: MinorUnits
  readonly duplicate_confirmed?: boolean
}

export interface ScanResult {
  readonly intent_id: string
  readonly status: IntentStatus
  readonly merchant: Readonly<Record<'scheme' | 'name' | 'city' | 'country' | 'mcc', string>>
  readonly qr_kind: 'static' | 'dynamic'
  readonly quote: Quote
}

export interface CreateBeneficiary {
  readonly type: 'bank_account'
  readonly name: string
  readonly destination_country: string
  readonly currency: string
  readonly account_number: string
  readonly bank_code: string
}

export interface Beneficiary {
  readonly id: string
  readonly name: string
  readonly account_last4: string
  readonly status: 'active' | 'disabled'
}

export interface CreatePayout {
  readonly amount: MinorUnits
  readonly currency: string
  /** Exactly one of `beneficiary_id` and `beneficiary`. */
  readonly beneficiary_id?: string
  readonly beneficiary?: CreateBeneficiary
  readonly reference: string
  readonly description?: string
  readonly metadata?: Readonly<Record<string, string>>
}

export type PayoutStatus = 'created' | 'processing' | 'completed' | 'failed' | 'reversed'

export interface Failure {
  readonly code: string
  readonly message: string
  readonly source: string
  readonly retryable: boolean
  readonly occurred_at: Timestamp
}

export interface Payout {
  readonly id: string
  readonly status: PayoutStatus
  readonly amount: MinorUnits
  readonly recipient_amount: MinorUnits
  readonly currency: string
  readonly fee_details: Readonly<Record<string, MinorUnits>>
  readonly fee: MinorUnits
  readonly total: MinorUnits
  readonly reference: string
  readonly beneficiary: Pick<Beneficiary, 'id' | 'name' | 'account_last4'>
  readonly rail: { readonly type: string; readonly transaction_id: string | null }
  readonly metadata: Readonly<Record<string, string>>
  readonly created_at: Timestamp
  readonly processing_at: Timestamp | null
  readonly completed_at: Timestamp | null
  readonly failed_at: Timestamp | null
  readonly reversed_at: Timestamp | null
  readonly failure: Failure | null
}

export interface PayoutFilter {
  readonly status?: PayoutStatus
  readonly reference?: string
  readonly beneficiary_id?: string
  readonly created_after?: string
  readonly created_before?: string
  /** Page size, 1 to 100. */
  readonly limit?: number
}

export interface Page<Item> {
  readonly data: readonly Item[]
  readonly next_cursor: string | null
}

export interface Balance {
  readonly currency: string
  readonly available: MinorUnits
  readonly reserved: MinorUnits
}

export interface WebhookEndpoint {
  readonly id: string
  readonly url: string
  readonly enabled_events: readonly string[]
  readonly status: 'enabled' | 'disabled'
  readonly key_id: string
}

/** The secret is shown only once. */
export type WebhookEndpointWithSecret = WebhookEndpoint & { readonly secret: string }
