/** Errors of a request: the class follows the `code`, not the HTTP status. */
import type { IncomingHttpHeaders } from 'node:http'
import type { HttpAnswer } from './http.js'
import { requestIdOf } from './response_details.js'
import { is2xx } from './retry.js'

interface ErrorDetails {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly requestId: string
  readonly headers: IncomingHttpHeaders
  readonly idempotencyKey: string | undefined
  readonly retryAfterMs: number | undefined
}

/** An answer with an error. Branch on the class or on `code`; quote `requestId` to support. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  /** One of `ERROR_CODES`, a newer one, or `unknown` when the answer is not the service's. */
  readonly code: AnyErrorCode
  readonly requestId: string
  /** The headers of the answer, with names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The key that was sent, also a generated one. */
  readonly idempotencyKey: string | undefined
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined
  /** Whether the identical request can succeed later. Send it with the same Idempotency-Key. */
  readonly retryable: boolean

  constructor(details: ErrorDetails) {
    const { status, code, message, requestId, headers, idempotencyKey, retryAfterMs } = details
    super(`${status} ${code}: ${message} (${requestId})`)
    this.status = status
    this.code = code
    this.requestId = requestId
    this.headers = headers
    this.idempotencyKey = idempotencyKey
    this.retryAfterMs = retryAfterMs
    this.retryable = RETRYABLE.has(code) || (code === UNKNOWN && isOutcomeUnknown(status))
  }
}

/** The request is invalid; sending it again changes nothing. */
export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError'
}
/** Signature, key, token or clock. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError'
}
/** The partner, the corridor or the user may not do this. */
export class PermissionError extends ApiError {
  override name = 'PermissionError'
}
/** Unknown, or not yours. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError'
}
/** The state of the object does not allow it. */
export class ConflictError extends ApiError {
  override name = 'ConflictError'
}
/** The Idempotency-Key is bound to another request. */
export class IdempotencyConflictError extends ConflictError {
  override name = 'IdempotencyConflictError'
}
/** The quote is missing, expired or not the current one: scan or quote again. */
export class QuoteError extends ConflictError {
  override name = 'QuoteError'
}
/** Valid but refused. */
export class RefusedError extends ApiError {
  override name = 'RefusedError'
}
/** The QR code cannot be paid. */
export class QrCodeError extends RefusedError {
  override name = 'QrCodeError'
}
/** The balance is too low. */
export class InsufficientBalanceError extends RefusedError {
  override name = 'InsufficientBalanceError'
}
/** Too many requests, even after the retries. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError'
}
/** The service could not answer. The request may have been carried out. */
export class ServiceError extends ApiError {
  override name = 'ServiceError'
}

/** No answer: the request may have been carried out. Send it again with the same key. */
export class ConnectionError extends Error {
  override name = 'ConnectionError'
  /** The key that was sent, also a generated one. */
  readonly idempotencyKey: string | undefined

  constructor(idempotencyKey: string | undefined, cause: unknown) {
    super(`no answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.idempotencyKey = idempotencyKey
  }
}
/** The caller's signal ended the call: the request may have been carried out. */
export class AbortedError extends ConnectionError {
  override name = 'AbortedError'
}
/** The Idempotency-Key is not printable ASCII, or the service received another one. */
export class IdempotencyKeyError extends Error {
  override name = 'IdempotencyKeyError'
  readonly idempotencyKey: string

  constructor(message: string, idempotencyKey: string) {
    super(message)
    this.idempotencyKey = idempotencyKey
  }
}

/** Every code of the partner API (gateway/guide/errors.md). */
const CODES = {
  invalid_request: InvalidRequestError,
  invalid_beneficiary: InvalidRequestError,
  payload_too_large: InvalidRequestError,
  method_not_allowed: InvalidRequestError,
  authentication_failed: AuthenticationError,
  attestation_not_satisfied: PermissionError,
  corridor_not_enabled: PermissionError,
  partner_suspended: PermissionError,
  user_mismatch: PermissionError,
  not_found: NotFoundError,
  payment_intent_not_found: NotFoundError,
  beneficiary_not_found: NotFoundError,
  payout_not_found: NotFoundError,
  fx_quote_not_found: NotFoundError,
  webhook_endpoint_not_found: NotFoundError,
  event_not_found: NotFoundError,
  payment_intent_terminal: ConflictError,
  already_confirmed: ConflictError,
  payment_intent_not_confirmable: ConflictError,
  payment_intent_not_cancelable: ConflictError,
  payment_intent_not_refundable: ConflictError,
  payment_intent_not_scannable: ConflictError,
  duplicate_scan: ConflictError,
  payout_not_cancelable: ConflictError,
  outcome_not_possible: ConflictError,
  webhook_endpoint_limit: ConflictError,
  webhook_endpoint_disabled: ConflictError,
  idempotency_conflict: IdempotencyConflictError,
  duplicate_payout: IdempotencyConflictError,
  quote_required: QuoteError,
  quote_expired: QuoteError,
  quote_changed: QuoteError,
  qr_malformed: QrCodeError,
  qr_checksum_invalid: QrCodeError,
  qr_scheme_unsupported: QrCodeError,
  qr_country_mismatch: QrCodeError,
  qr_currency_mismatch: QrCodeError,
  qr_amount_mismatch: QrCodeError,
  local_amount_required: RefusedError,
  local_amount_invalid: RefusedError,
  amount_below_minimum: RefusedError,
  user_limit_exceeded: RefusedError,
  quote_exceeds_intent_amount: RefusedError,
  unsupported_currency: RefusedError,
  unsupported_destination: RefusedError,
  payout_limit_exceeded: RefusedError,
  balance_limit_exceeded: RefusedError,
  compliance_rejected: RefusedError,
  risk_rejected: RefusedError,
  rail_unavailable: RefusedError,
  insufficient_balance: InsufficientBalanceError,
  rate_limited: RateLimitError,
  internal_error: ServiceError,
  configuration_error: ServiceError,
  timeout: ServiceError,
} as const satisfies Record<string, typeof ApiError>

export type ErrorCode = keyof typeof CODES
/** A newer service can have more codes; the known ones stay literals for an editor. */
export type AnyErrorCode = ErrorCode | 'unknown' | (string & {})
/** Each code with its class. */
export const ERROR_CODES: ReadonlyMap<string, typeof ApiError> = new Map(Object.entries(CODES))

const UNKNOWN = 'unknown'
/** A 2xx is an error when its body is not the service's. */
const isOutcomeUnknown = (status: number): boolean => status >= 500 || is2xx(status)
const RETRYABLE: ReadonlySet<string> = new Set<ErrorCode>([
  'rate_limited',
  'internal_error',
  'configuration_error',
  'timeout',
  'insufficient_balance',
  'rail_unavailable',
])

/** For codes of a newer service, and for answers of a proxy. */
const BY_STATUS: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  422: RefusedError,
  429: RateLimitError,
}

type Envelope = Readonly<Partial<Record<'code' | 'message' | 'request_id', string>>>

/** The members of the error that are texts: a proxy has JSON of its own. */
function envelopeIn(body: unknown): Envelope {
  const { error } = Object(body) as { readonly error?: unknown }
  const members: [string, unknown][] = Object.entries(Object(error) as object)
  return Object.fromEntries(members.filter(([, value]) => typeof value === 'string'))
}

export function errorOf(
  { status, headers, body }: HttpAnswer,
  idempotencyKey?: string,
  retryAfterMs?: number,
  advice = '',
): ApiError {
  const envelope = envelopeIn(body)
  const { code = UNKNOWN, message: sent = 'not an answer of the service' } = envelope
  const message = sent + advice
  const requestId = envelope.request_id ?? requestIdOf(headers)
  const Class =
    ERROR_CODES.get(code) ??
    BY_STATUS[status] ??
    (isOutcomeUnknown(status) ? ServiceError : ApiError)
  return new Class({ status, code, message, requestId, headers, idempotencyKey, retryAfterMs })
}
