/**
 * Types of the partner API's requests and answers: those of its OpenAPI document (api_types.ts),
 * and the names that this client gives to some of them.
 */
export type * from './api_types.js'
export type {
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
  EventList as EventPage,
  ResendEventRequest as ResendEvent,
  SimulatePayoutRequest as SimulatedOutcome,
  CheckSignatureRequest as SignatureDescription,
  CheckRequestRequest as RequestDescription,
} from './api_types.js'
export type {
  ListEventsFilter as EventFilter,
  ListPaymentIntentsFilter as IntentFilter,
  ListPayoutsFilter as PayoutFilter,
} from './api_calls.js'
export type { PageFilter } from './pagination.js'
export type { CreatePayout } from './payout_request.js'
