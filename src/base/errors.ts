/**
 * The error registry: every code a caller can see.
 *
 * Owns: code → HTTP status, gRPC status, retryability and the fixed public text.
 * Does not own: which check raises which code (the command that checks), nor the envelope's bytes
 * (gateway).
 *
 * - A code is never renamed and never reused for another meaning: callers branch on it.
 * - Texts are constant and never contain parts of a request, a rail's report or an exception.
 * - `retryable` says whether the same request can succeed later unchanged.
 */

/** gRPC status codes by name (https://grpc.github.io/grpc/core/md_doc_statuscodes.html). */
export const GrpcStatus = {
  DEADLINE_EXCEEDED: 4,
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const
export type GrpcStatusName = keyof typeof GrpcStatus

interface ErrorEntry {
  readonly http: number
  readonly grpc: GrpcStatusName
  readonly retryable: boolean
  readonly message: string
}

const entry = (
  http: number,
  grpc: GrpcStatusName,
  message: string,
  retryable = false,
): ErrorEntry => ({ http, grpc, retryable, message })

type Entries = Readonly<Record<string, ErrorEntry>>

/** Every operation. */
const COMMON = {
  invalid_request: entry(400, 'INVALID_ARGUMENT', 'The request is not valid.'),
  authentication_failed: entry(401, 'UNAUTHENTICATED', 'Authentication failed.'),
  not_found: entry(404, 'NOT_FOUND', 'Unknown path.'),
  method_not_allowed: entry(
    405,
    'INVALID_ARGUMENT',
    'This path does not support this HTTP method.',
  ),
  payload_too_large: entry(413, 'INVALID_ARGUMENT', 'The request body is too large.'),
  rate_limited: entry(429, 'RESOURCE_EXHAUSTED', 'Too many requests. Slow down.', true),
  internal_error: entry(500, 'INTERNAL', 'Something went wrong on our side.', true),
  configuration_error: entry(503, 'UNAVAILABLE', 'A required dependency is unavailable.', true),
  timeout: entry(504, 'DEADLINE_EXCEEDED', 'The answer did not come in time.', true),
  idempotency_conflict: entry(
    409,
    'ALREADY_EXISTS',
    'The idempotency key was used with another request.',
  ),
} as const satisfies Entries

/** Payment intents. */
const INTENTS = {
  payment_intent_not_found: entry(404, 'NOT_FOUND', 'No such payment intent.'),
  attestation_not_satisfied: entry(
    403,
    'PERMISSION_DENIED',
    'The attestations do not allow this payment.',
  ),
  corridor_not_enabled: entry(403, 'PERMISSION_DENIED', 'The corridor is not enabled.'),
  partner_suspended: entry(403, 'PERMISSION_DENIED', 'The partner is suspended.'),
  user_mismatch: entry(403, 'PERMISSION_DENIED', 'The intent was created for another user.'),
  payment_intent_terminal: entry(409, 'FAILED_PRECONDITION', 'The payment intent has ended.'),
  quote_required: entry(409, 'FAILED_PRECONDITION', 'Scan a QR code before confirming.'),
  quote_expired: entry(409, 'FAILED_PRECONDITION', 'The quote has expired. Ask for a new one.'),
  quote_changed: entry(409, 'FAILED_PRECONDITION', 'Another quote is bound to the intent.'),
  already_confirmed: entry(409, 'FAILED_PRECONDITION', 'The payment is already confirmed.'),
  payment_intent_not_confirmable: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment intent cannot be confirmed.',
  ),
  payment_intent_not_cancelable: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment intent cannot be cancelled.',
  ),
  payment_intent_not_refundable: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment intent cannot be refunded.',
  ),
  payment_intent_not_scannable: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment intent takes no scan any more.',
  ),
  duplicate_scan: entry(
    409,
    'FAILED_PRECONDITION',
    'The same code was paid a moment ago. Ask the user, then acknowledge.',
  ),
} as const satisfies Entries

/** Scans, in addition. */
const SCAN = {
  qr_malformed: entry(422, 'INVALID_ARGUMENT', 'The QR code cannot be read.'),
  qr_checksum_invalid: entry(422, 'INVALID_ARGUMENT', 'The checksum of the QR code is wrong.'),
  qr_scheme_unsupported: entry(422, 'INVALID_ARGUMENT', 'The QR scheme is not supported here.'),
  qr_country_mismatch: entry(422, 'INVALID_ARGUMENT', 'The QR code is of another country.'),
  qr_currency_mismatch: entry(422, 'INVALID_ARGUMENT', 'The QR code is in another currency.'),
  qr_amount_mismatch: entry(422, 'INVALID_ARGUMENT', 'The amount differs from the QR code.'),
  local_amount_required: entry(422, 'INVALID_ARGUMENT', 'The QR code carries no amount. Send one.'),
  local_amount_invalid: entry(422, 'INVALID_ARGUMENT', 'The local amount is not valid.'),
  amount_below_minimum: entry(422, 'INVALID_ARGUMENT', 'The amount is below the minimum.'),
  user_limit_exceeded: entry(422, 'FAILED_PRECONDITION', "The user's limit is exceeded."),
  quote_exceeds_intent_amount: entry(
    422,
    'FAILED_PRECONDITION',
    'The quote is above the amount of the intent.',
  ),
} as const satisfies Entries

/** Payouts and balances, for partners. */
export const PAYOUT_ERRORS = {
  invalid_beneficiary: entry(400, 'INVALID_ARGUMENT', 'The beneficiary is not valid.'),
  beneficiary_not_found: entry(404, 'NOT_FOUND', 'No such beneficiary.'),
  unsupported_currency: entry(422, 'FAILED_PRECONDITION', 'The currency is not enabled.'),
  unsupported_destination: entry(422, 'FAILED_PRECONDITION', 'The destination has no route.'),
  payout_limit_exceeded: entry(
    422,
    'FAILED_PRECONDITION',
    'The amount is outside the limits of this payout route, or no fee is configured for it.',
  ),
  insufficient_balance: entry(
    422,
    'FAILED_PRECONDITION',
    'The available balance is too low.',
    true,
  ),
  duplicate_payout: entry(
    409,
    'ALREADY_EXISTS',
    'This idempotency key was already used for a different payout.',
  ),
  compliance_rejected: entry(422, 'FAILED_PRECONDITION', 'Compliance rejected the payment.'),
  risk_rejected: entry(422, 'FAILED_PRECONDITION', 'Risk controls rejected the payment.'),
  rail_unavailable: entry(422, 'FAILED_PRECONDITION', 'No route is available now.', true),
  payout_not_found: entry(404, 'NOT_FOUND', 'No such payout.'),
  payout_not_cancelable: entry(409, 'FAILED_PRECONDITION', 'The payout cannot be cancelled.'),
  outcome_not_possible: entry(
    409,
    'FAILED_PRECONDITION',
    'The payout can no longer reach that outcome.',
  ),
  fx_quote_not_found: entry(404, 'NOT_FOUND', 'No such conversion quote.'),
  balance_limit_exceeded: entry(422, 'FAILED_PRECONDITION', 'The balance limit would be exceeded.'),
} as const satisfies Entries

/** Returned by calls of operators and internal services only. */
export const OPERATOR_ERRORS = {
  not_here: entry(503, 'FAILED_PRECONDITION', 'The partner is at another processor.'),
  cluster_not_configured: entry(409, 'FAILED_PRECONDITION', 'This processor has the only books.'),
  shard_not_found: entry(404, 'NOT_FOUND', 'No such shard.'),
  shard_moving: entry(409, 'FAILED_PRECONDITION', 'The shard moves, or has a new owner.'),
  processor_not_waiting: entry(
    409,
    'FAILED_PRECONDITION',
    'No processor of that name waits for a shard.',
  ),
  processor_cannot_take: entry(
    409,
    'FAILED_PRECONDITION',
    'The named processor cannot take that shard over.',
  ),
  setting_not_blocked: entry(409, 'FAILED_PRECONDITION', 'No shard is held up by that setting.'),
  permission_denied: entry(403, 'PERMISSION_DENIED', 'The caller has no role for this call.'),
  operator_name_differs: entry(
    403,
    'PERMISSION_DENIED',
    'The request names another operator than its credential. Omit the name.',
  ),
  second_operator_required: entry(
    409,
    'FAILED_PRECONDITION',
    'A second operator must approve the change. It is requested.',
  ),
  approval_request_not_found: entry(404, 'NOT_FOUND', 'No such approval request.'),
  approval_request_decided: entry(
    409,
    'FAILED_PRECONDITION',
    'The approval request is approved or rejected already.',
  ),
  approval_request_expired: entry(409, 'FAILED_PRECONDITION', 'The approval request has expired.'),
  approval_request_outdated: entry(
    409,
    'FAILED_PRECONDITION',
    'The subject of the approval request has changed since.',
  ),
  approval_request_ended: entry(
    409,
    'FAILED_PRECONDITION',
    'The operator who requested the change is revoked, or has another token since.',
  ),
  approver_is_requester: entry(
    403,
    'PERMISSION_DENIED',
    'The operator who requested a change cannot approve it.',
  ),
  caller_not_found: entry(404, 'NOT_FOUND', 'No such caller.'),
  caller_exists: entry(409, 'ALREADY_EXISTS', 'A caller of this name exists.'),
  credential_in_use: entry(
    409,
    'ALREADY_EXISTS',
    'A caller has, or had, this token or certificate.',
  ),
  owner_credential_required: entry(
    400,
    'INVALID_ARGUMENT',
    'Where a second operator is needed, the owner makes the credential. Give the digest of its ' +
      'token, its certificate, or for a signing key the public key of the partner.',
  ),
  rate_change_unconfirmed: entry(
    409,
    'FAILED_PRECONDITION',
    'The rate differs by more than 5 % from that of the beginning of the day. Confirm it.',
  ),
  rail_does_not_carry: entry(
    409,
    'FAILED_PRECONDITION',
    'RAILS_FILE does not name this rail, or does not give it this route.',
  ),
  submissions_not_paused: entry(409, 'FAILED_PRECONDITION', 'These submissions are not paused.'),
  caller_configured: entry(
    409,
    'FAILED_PRECONDITION',
    'The caller exists by configuration only. Change it there.',
  ),
  caller_revoked: entry(409, 'FAILED_PRECONDITION', 'The caller is revoked permanently.'),
  partner_not_found: entry(404, 'NOT_FOUND', 'No such partner.'),
  signing_key_limit: entry(
    409,
    'RESOURCE_EXHAUSTED',
    'Three signing keys are active. Wait for one to be revoked.',
  ),
  signing_key_not_found: entry(404, 'NOT_FOUND', 'No such signing key.'),
  signing_key_revoked: entry(409, 'FAILED_PRECONDITION', 'The signing key is revoked permanently.'),
  payment_intent_not_at_rail: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment intent is not submitted to the rail.',
  ),
  payment_intent_not_captured: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment intent is not captured.',
  ),
  payment_intent_not_held: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment intent does not wait for a review.',
  ),
  recovery_not_active: entry(409, 'FAILED_PRECONDITION', 'The processor is not in recovery mode.'),
  recovery_active: entry(
    409,
    'FAILED_PRECONDITION',
    'The processor is in recovery mode: it only reads until `recovery release`.',
  ),
  bus_not_checked: entry(
    409,
    'FAILED_PRECONDITION',
    'The processor has not compared the bus with the books yet. Release when the bus is up.',
  ),
  statement_refused: entry(
    409,
    'FAILED_PRECONDITION',
    'The statement differs from what the rail has moved.',
  ),
  orphan_execution_not_found: entry(404, 'NOT_FOUND', 'No such orphan execution.'),
  orphan_execution_resolved: entry(409, 'FAILED_PRECONDITION', 'The orphan execution is resolved.'),
  orphan_execution_not_executed: entry(
    409,
    'FAILED_PRECONDITION',
    'The rail has not executed this instruction, or has returned its money.',
  ),
  orphan_execution_differs: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment differs from the orphan execution, or is not held for it.',
  ),
  orphan_execution_equal: entry(
    409,
    'FAILED_PRECONDITION',
    'The payment equals orphan executions. Match or dismiss each, or name it as another one.',
  ),
  payout_not_held: entry(409, 'FAILED_PRECONDITION', 'The payout does not wait for a review.'),
  payout_not_at_rail: entry(409, 'FAILED_PRECONDITION', 'The payout is not submitted to the rail.'),
  payout_not_completed: entry(409, 'FAILED_PRECONDITION', 'The payout is not completed.'),
  deposit_not_found: entry(404, 'NOT_FOUND', 'The partner has no such deposit.'),
  correction_exceeds_deposit: entry(
    409,
    'FAILED_PRECONDITION',
    'The corrections of the deposit would exceed it.',
  ),
  discrepancy_not_found: entry(404, 'NOT_FOUND', 'No such discrepancy.'),
  discrepancy_settled: entry(409, 'FAILED_PRECONDITION', 'The discrepancy is settled.'),
  settlement_not_possible: entry(
    409,
    'FAILED_PRECONDITION',
    'This settlement does not apply to the discrepancy.',
  ),
} as const satisfies Entries

/** Webhook endpoints and events. */
const WEBHOOKS = {
  webhook_endpoint_not_found: entry(404, 'NOT_FOUND', 'No such webhook endpoint.'),
  webhook_endpoint_limit: entry(
    409,
    'RESOURCE_EXHAUSTED',
    'The maximum number of webhook endpoints is reached.',
  ),
  webhook_endpoint_disabled: entry(
    409,
    'FAILED_PRECONDITION',
    'The webhook endpoint is disabled. Enable it first.',
  ),
  event_not_found: entry(404, 'NOT_FOUND', 'No such event.'),
} as const satisfies Entries

export const ERRORS = {
  ...COMMON,
  ...INTENTS,
  ...SCAN,
  ...PAYOUT_ERRORS,
  ...OPERATOR_ERRORS,
  ...WEBHOOKS,
} as const

export type ErrorCode = keyof typeof ERRORS

/**
 * Codes whose HTTP status depends on the operation that raises them (gateway/guide/errors.md).
 * Confirm answers its refusals as conflicts; a payout answers the same code as 422.
 */
export const CONFLICT_ON_CONFIRM: ReadonlySet<ErrorCode> = new Set([
  'user_limit_exceeded',
  'insufficient_balance',
])

/** Whether the text is a code of the registry. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text)
}

/** The part of a request that is not valid, and the rule it breaks. Neither contains a value. */
export interface Violation {
  /**
   * A JSON pointer into the body, empty for the body itself; `query/NAME` for a query parameter,
   * `header/NAME` for a header.
   */
  readonly pointer: string
  /** A predicate: `must be an integer`. */
  readonly rule: string
}

export interface Refusal {
  readonly ok: false
  readonly code: ErrorCode
  /** Only for requests that are not valid, where the check names the part. */
  readonly violation?: Violation | undefined
  /** Why, more exactly than by the code: a constant, for logs and metrics only. */
  readonly reason?: string
}

/** A value or a named refusal. Exceptions are for bugs. */
export type Outcome<T> = { readonly ok: true; readonly value: T } | Refusal

export const accepted = <T>(value: T): { readonly ok: true; readonly value: T } => ({
  ok: true,
  value,
})

export const refused = (code: ErrorCode, violation?: Violation): Refusal =>
  violation === undefined ? { ok: false, code } : { ok: false, code, violation }

/** A request whose part at `pointer` breaks `rule`. */
export const invalid = (
  pointer: string,
  rule: string,
  code: ErrorCode = 'invalid_request',
): Refusal => refused(code, { pointer, rule })

/** The outcome of checking a part, with the pointer of its fault in the whole request. */
export function atPointer<T>(root: string, part: Outcome<T>): Outcome<T> {
  if (part.ok || part.violation === undefined) return part
  const { pointer, rule } = part.violation
  return refused(part.code, { pointer: `${root}${pointer}`, rule })
}

/** The refusal of a sandbox operation in production. */
export const SANDBOX_ONLY = invalid('header/Host', 'must name a sandbox host')
