/**
 * Types of the partner API's requests and answers: those of its OpenAPI document (api_types.ts)
 * under the names of this client, and the filters of its lists.
 */
import type { Corridor, CreatePayoutRequest, IntentStatus, PayoutStatus } from './api_types.js'

export type {
  Account,
  Balance,
  BalanceTransaction,
  Beneficiary,
  Corridor,
  CreatedPaymentIntent,
  Delivery,
  DeliveryAttempt,
  Deposit,
  Failure,
  FxConversion,
  FxQuote,
  IntentStatus,
  KycAttestation,
  MinorUnits,
  NumberedEvent,
  PaymentIntent,
  Payout,
  PayoutStatus,
  PayoutTerms,
  Quote,
  Receipt,
  ReceiptToken,
  ResentEvent,
  RotatedWebhookEndpoint,
  SanctionsAttestation,
  ScanResult,
  SessionToken,
  RequestReport,
  SignatureReport,
  Timestamp,
  UsdCents,
  WebhookEndpoint,
  CorridorTerms as CorridorSettings,
  SigningKey as KeySettings,
  CreatePaymentIntentRequest as CreateIntent,
  CreateSessionTokenRequest as NewSession,
  ScanRequest as Scan,
  IntentRefund as Refund,
  BeneficiaryRequest as CreateBeneficiary,
  CreateDepositRequest as CreateDeposit,
  CreateFxQuoteRequest as CreateFxQuote,
  CreateWebhookEndpointRequest as CreateWebhookEndpoint,
  UpdateWebhookEndpointRequest as UpdateWebhookEndpoint,
  CreatedWebhookEndpoint as WebhookEndpointWithSecret,
  RotateWebhookSecretRequest as RotateSecret,
  DeliveryBrief as DeliverySummary,
  RecoveredDeliveries as Recovery,
  Event as WebhookEvent,
  EventType,
  PaymentIntentEvent,
  PayoutEvent,
  BalanceEvent,
  WebhookEndpointEvent,
  EventList as EventPage,
  ResendEventRequest as ResendEvent,
  SimulatePayoutRequest as SimulatedOutcome,
  CheckSignatureRequest as SignatureDescription,
  CheckRequestRequest as RequestDescription,
} from './api_types.js'

type Beneficiaries = 'beneficiary' | 'beneficiary_id'

/** Exactly one form of beneficiary: an existing one, or one that the payout creates. */
export type CreatePayout = Omit<CreatePayoutRequest, Beneficiaries> &
  (
    | { readonly beneficiary_id: string; readonly beneficiary?: never }
    | {
        readonly beneficiary: NonNullable<CreatePayoutRequest['beneficiary']>
        readonly beneficiary_id?: never
      }
  )

/** The parameters of every list with cursors. */
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

export interface EventFilter {
  /** The `sequence` to continue after; default 0. */
  readonly after?: number
  /** Page size, 1 to 100. */
  readonly limit?: number
}
