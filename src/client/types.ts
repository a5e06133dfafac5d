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

export interface Refund {
  readonly status: 'requested' | 'refused' | 'done'
  readonly amount_usd_cents: UsdCents
  readonly requested_at: Timestamp
  readonly failed_at?: Timestamp
  readonly refunded_at?: Timestamp
}

/** A member that does not apply is absent. */
export interface PaymentIntent {
  readonly intent_id: string
  readonly status: IntentStatus
  /** The ceiling. */
  readonly amount_usd_cents: UsdCents
  readonly corridor: Corridor
  readonly created_at: Timestamp
  readonly authorized_at?: Timestamp
  readonly captured_at?: Timestamp
  /** The debit; present when `captured_at` is. */
  readonly captured_amount_usd_cents?: UsdCents
  readonly failed_at?: Timestamp
  readonly expired_at?: Timestamp
  readonly cancelled_at?: Timestamp
  readonly refunded_at?: Timestamp
  readonly quote?: Quote
  readonly failure?: Failure
  readonly refund?: Refund
}

/** Repeats the user and both attestations of the intent. */
export interface NewSession {
  readonly partner_user_id: string
  readonly kyc_attestation: KycAttestation
  readonly sanctions_attestation: SanctionsAttestation
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
  readonly local_amount_minor_units: MinorUnits
  /** ISO 4217, numeric. */
  readonly local_currency: string
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
  readonly type: 'bank_account'
  readonly name: string
  readonly destination_country: string
  readonly currency: string
  readonly bank_code: string
  readonly account_last4: string
  readonly status: 'active' | 'disabled'
  readonly created_at: Timestamp
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
  readonly description?: string
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

/** Of every list with cursors. */
export interface PageFilter {
  /** Page size, 1 to 100. */
  readonly limit?: number
  /** `next_cursor` of a page, to continue after it. */
  readonly cursor?: string
}

export interface PayoutFilter extends PageFilter {
  readonly status?: PayoutStatus
  readonly reference?: string
  readonly beneficiary_id?: string
  readonly created_after?: string
  readonly created_before?: string
}

export interface IntentFilter extends PageFilter {
  readonly status?: IntentStatus
  readonly corridor?: Corridor
  readonly partner_user_id?: string
  readonly created_after?: string
  readonly created_before?: string
}

export interface PayoutTerms {
  readonly country: string
  readonly currency: string
  readonly fee_handling: 'on_top' | 'deducted'
  readonly platform_fixed: MinorUnits
  readonly platform_bps: number
  readonly rail_fixed: MinorUnits
  readonly refund_fees_on_reversal: boolean
  /** null: no limit. */
  readonly amount_min: MinorUnits | null
  readonly amount_max: MinorUnits | null
}

export interface CorridorSettings {
  readonly corridor: Corridor
  readonly enabled: boolean
  readonly currency: string
  readonly minimum: MinorUnits
  readonly user_limit_payment: MinorUnits
  readonly user_limit_day: MinorUnits
  readonly user_limit_month: MinorUnits
}

export interface KeySettings {
  readonly key_id: string
  readonly status: 'active' | 'revoked'
  readonly created_at: Timestamp
  /** In the future: when it expires; null: not scheduled. */
  readonly revoked_at: Timestamp | null
}

/** Your own settings in one environment. */
export interface Account {
  readonly partner_id: string
  readonly environment: 'sandbox' | 'production'
  readonly status: 'active' | 'suspended'
  readonly created_at: Timestamp
  readonly terms: {
    readonly quote_spread_bps: number
    readonly payouts: readonly PayoutTerms[]
  }
  readonly limits: {
    readonly requests_per_second: number
    readonly amount_usd_cents: UsdCents
    readonly active_keys: number
    readonly webhook_endpoints: number
  }
  readonly corridors: readonly CorridorSettings[]
  /** Newest first. */
  readonly keys: readonly KeySettings[]
  readonly allowed_ips: readonly string[]
  readonly packages: readonly string[]
  readonly balance_alerts: readonly { readonly currency: string; readonly threshold: MinorUnits }[]
}

export interface Balance {
  readonly currency: string
  readonly available: MinorUnits
  readonly reserved: MinorUnits
}

export interface BalanceTransaction {
  readonly id: string
  readonly currency: string
  /** Signed. */
  readonly amount: MinorUnits
  /** After this change. */
  readonly balance: MinorUnits
  readonly account: 'available' | 'reserved'
  readonly type: string
  /** The id of the object that moved the money. */
  readonly entity: string
  readonly created_at: Timestamp
}

export interface CreateDeposit {
  readonly currency: string
  readonly amount: MinorUnits
}

export interface Deposit {
  readonly id: string
  readonly currency: string
  readonly amount: MinorUnits
  readonly created_at: Timestamp
}

export interface CreateFxQuote {
  readonly sell_currency: string
  readonly sell_amount: MinorUnits
  readonly buy_currency: string
}

export interface FxQuote {
  readonly id: string
  readonly sell_currency: string
  readonly sell_amount: MinorUnits
  readonly buy_currency: string
  readonly buy_amount: MinorUnits
  readonly created_at: Timestamp
  readonly expires_at: Timestamp
}

export interface FxConversion {
  readonly id: string
  readonly quote_id: string
  readonly sell_currency: string
  readonly sell_amount: MinorUnits
  readonly buy_currency: string
  readonly buy_amount: MinorUnits
  readonly created_at: Timestamp
}

export interface CreateWebhookEndpoint {
  readonly url: string
  readonly description?: string
  /** Absent or empty: every type except opt-in types. */
  readonly enabled_events?: readonly string[]
  readonly api_version?: string
}

/** At least one member. */
export type UpdateWebhookEndpoint = Partial<CreateWebhookEndpoint>

export interface WebhookEndpoint {
  readonly id: string
  readonly url: string
  readonly description: string
  readonly enabled_events: readonly string[]
  readonly api_version: string
  readonly status: 'enabled' | 'disabled' | 'deleted'
  readonly disabled_reason: 'by_partner' | 'by_operator' | 'gone' | 'failing' | null
  /** The secret that signs now. */
  readonly key_id: string
  /** Only while a new secret is scheduled. */
  readonly next_key?: { readonly key_id: string; readonly activate_at: Timestamp }
  readonly created_at: Timestamp
}

/** The secret is shown only once. */
export type WebhookEndpointWithSecret = WebhookEndpoint & { readonly secret: string }

/** `key_id` and `secret` are the new ones; keep the old ones too until `activate_at`. */
export type RotatedWebhookEndpoint = WebhookEndpointWithSecret & {
  readonly activate_at: Timestamp
}

export interface RotateSecret {
  /** Default: in an hour. */
  readonly activate_at?: string
}

export interface DeliveryAttempt {
  readonly number: number
  readonly at: Timestamp
  /** HTTP status of your answer; null without one. */
  readonly status: number | null
  readonly reason: string
  readonly latency_ms: number
  /** The first 4 KiB of your answer. */
  readonly reply: string
}

export interface DeliverySummary {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
  readonly endpoint_id: string
  readonly status: 'pending' | 'waiting' | 'delivered' | 'dead'
}

export interface Delivery extends DeliverySummary {
  readonly next_attempt_at: Timestamp | null
  readonly ended_at: Timestamp | null
  readonly reason: string | null
  /** The request that caused the event; null for events without one. */
  readonly request_id: string | null
  readonly attempts: readonly DeliveryAttempt[]
}

export interface Recovery {
  readonly endpoint_id: string
  readonly since: Timestamp
  /** Deliveries that are retried. */
  readonly redriven: number
  /** Call again. */
  readonly has_more: boolean
}

export interface WebhookEvent {
  readonly id: string
  readonly type: string
  readonly webhook_event_id: string
  readonly webhook_event_type: string
  readonly api_version: string
  readonly created_at: Timestamp
  readonly data: Readonly<Record<string, unknown>>
}

export interface NumberedEvent {
  /** Numbers your events of one environment from 1. */
  readonly sequence: number
  readonly event: WebhookEvent
}

export interface EventFilter {
  /** The `sequence` to continue after; default 0. */
  readonly after?: number
  /** Page size, 1 to 100. */
  readonly limit?: number
}

export interface EventPage {
  readonly data: readonly NumberedEvent[]
  readonly next_after: number
  readonly has_more: boolean
}

export interface ResendEvent {
  /** Default: every endpoint that received the event or subscribes to it. */
  readonly endpoint_id?: string
}

export interface ResentEvent {
  readonly event_id: string
  readonly deliveries: readonly DeliverySummary[]
}

export interface SimulatedOutcome {
  readonly outcome: 'completed' | 'failed' | 'reversed'
}

/** A signature as your code made it. */
export interface SignatureDescription {
  readonly method: string
  readonly path: string
  readonly key_id: string
  readonly timestamp: string
  readonly nonce: string
  readonly signature: string
  readonly body?: string
  readonly body_sha256?: string
}

export interface RequestDescription {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface RequestReport {
  readonly accepted: boolean
  /** The answer that the request would get. */
  readonly refusal: {
    readonly status: number
    readonly code: string
    readonly message: string
    readonly pointer?: string
    readonly rule?: string
  } | null
  readonly checks: SignatureReport['checks']
  readonly canonical_request: string | null
  readonly body_sha256: string
  readonly server_time: string
}

export interface SignatureReport {
  readonly valid: boolean
  readonly checks: readonly {
    readonly check: string
    readonly result: 'passed' | 'failed' | 'not_made'
    /** Only for failed checks. */
    readonly help?: string
  }[]
  /** The text that the service signs; null while a part is missing or malformed. */
  readonly canonical_request: string | null
  readonly body_sha256: string
  readonly server_time: Timestamp
}
