/**
 * What caused each error and what to do about it, for the guides, whose tables are generated.
 *
 * - Texts are Markdown: partners read them in gateway/README.md, operators in operations/README.md.
 * - Whether to retry is `retryable` of the registry (base/errors).
 */
import type { ErrorCode, OPERATOR_ERRORS } from './errors.js'

export interface ErrorHelp {
  readonly cause: string
  readonly action: string
}

export type OperatorErrorCode = keyof typeof OPERATOR_ERRORS
export type PartnerErrorCode = Exclude<ErrorCode, OperatorErrorCode>

/** In the order of the partner guide. */
export const PARTNER_ERROR_HELP: Readonly<Record<PartnerErrorCode, ErrorHelp>> = {
  invalid_request: {
    cause:
      'the body, a header or the query is invalid; ' +
      'also an `Idempotency-Key` that is not printable ASCII',
    action: 'fix the request',
  },
  authentication_failed: {
    cause: 'the proof of the caller is invalid',
    action:
      'backend: check clock, nonce, key and signature ' +
      '([the sandbox reports the cause](#when-a-signature-is-refused)); ' +
      'app: get a new token, keep the confirm key',
  },
  not_found: { cause: 'unknown path, or an unknown host', action: 'fix the URL' },
  method_not_allowed: {
    cause: 'the path takes other methods, named in `Allow`',
    action: 'fix the method',
  },
  payload_too_large: {
    cause: 'the body exceeds its maximum; the connection closes',
    action: 'send less',
  },
  rate_limited: { cause: 'above a [limit](#limits)', action: 'wait `Retry-After` seconds' },
  internal_error: {
    cause: 'a fault of the service; the outcome is unknown',
    action: 'repeat with the same key; report the `request_id` if it persists',
  },
  configuration_error: {
    cause:
      'a dependency is unavailable, or the service is recovering: ' +
      'reads work then, changes do not; the outcome is unknown',
    action: 'repeat with the same key, after `Retry-After`',
  },
  timeout: {
    cause: 'no answer in 5 seconds; the outcome is unknown',
    action: 'repeat with the same key',
  },
  idempotency_conflict: {
    cause: "the key, as the answer's `Idempotency-Key` shows it, was used with another request",
    action: 'use a new key for a new request; else fix the body',
  },
  payment_intent_not_found: {
    cause: 'unknown intent, or not yours',
    action: 'check the id and the environment',
  },
  attestation_not_satisfied: {
    cause: '`verified` or `clean` is false',
    action: 'complete KYC and screening first',
  },
  corridor_not_enabled: { cause: 'the corridor is not enabled for you', action: 'ask support' },
  partner_suspended: {
    cause: '[your account is suspended](#while-your-account-is-suspended)',
    action: 'ask support',
  },
  user_mismatch: {
    cause: 'the intent was created for another user',
    action: "send the intent's own `partner_user_id`",
  },
  payment_intent_terminal: {
    cause: 'the intent has ended',
    action: 'fetch it and show its outcome',
  },
  quote_required: { cause: 'confirm without a scan', action: 'scan first' },
  quote_expired: {
    cause: 'the quote expired or was used',
    action: 'scan again and show the new amount, or request another conversion quote',
  },
  quote_changed: {
    cause: 'the confirm names another quote than the current one',
    action: 'show the current quote; confirm that one',
  },
  already_confirmed: { cause: 'the payment was confirmed before', action: 'poll the intent' },
  payment_intent_not_confirmable: {
    cause: "the intent's status does not allow a confirm",
    action: 'fetch the intent',
  },
  payment_intent_not_cancelable: {
    cause: 'the payment is submitted, or the intent has ended',
    action: 'wait for the outcome; refund it if captured',
  },
  payment_intent_not_refundable: {
    cause: 'the status or age does not allow a refund, or one is in progress',
    action: 'fetch the intent and read its `refund`',
  },
  payment_intent_not_scannable: {
    cause: "the intent's status does not allow a scan",
    action: 'fetch the intent; create a new one for a new payment',
  },
  duplicate_scan: {
    cause: 'the same user paid the same code a moment ago',
    action: 'ask the user; if intended, scan again with `duplicate_confirmed`',
  },
  qr_malformed: {
    cause: 'the QR payload cannot be read; also a language template (tag 64) without its name',
    action: 'let the user scan again',
  },
  qr_checksum_invalid: {
    cause: 'the checksum of the QR code is wrong',
    action: 'let the user scan again',
  },
  qr_scheme_unsupported: {
    cause: 'the corridor does not support the scheme, service or destination',
    action: 'tell the user that the code is not supported',
  },
  qr_country_mismatch: {
    cause: 'the code is of another country',
    action: 'create an intent for the other corridor',
  },
  qr_currency_mismatch: {
    cause: 'the code is in another currency',
    action: 'tell the user that the code is not supported',
  },
  qr_amount_mismatch: {
    cause: 'the code holds another amount than the one sent',
    action: 'omit the amount',
  },
  local_amount_required: {
    cause: 'the code has no amount and none was sent',
    action: 'ask the user for the amount',
  },
  local_amount_invalid: {
    cause: 'the amount cannot be paid',
    action: 'ask the user for another amount',
  },
  amount_below_minimum: {
    cause: "the amount is below the corridor's minimum",
    action: 'ask the user for another amount',
  },
  user_limit_exceeded: {
    cause: 'a limit of the user; 409 on confirm',
    action: 'try a smaller amount, or after the day or month',
  },
  quote_exceeds_intent_amount: {
    cause: "the payment costs more than the intent's ceiling",
    action: 'create an intent with a higher amount',
  },
  invalid_beneficiary: {
    cause: 'a fault inside the beneficiary, or an unknown or disabled one',
    action: 'fix the beneficiary',
  },
  beneficiary_not_found: {
    cause: 'unknown beneficiary',
    action: 'check the id and the environment',
  },
  unsupported_currency: {
    cause: "not the beneficiary's currency, or not a currency",
    action: "send the beneficiary's currency",
  },
  unsupported_destination: {
    cause: 'no route serves the destination',
    action: 'choose another destination',
  },
  payout_limit_exceeded: {
    cause: 'an amount limit rejected the payout',
    action: 'send less, or ask support',
  },
  insufficient_balance: {
    cause: 'the balance is too low; 409 on confirm',
    action: 'fund the balance, then repeat',
  },
  duplicate_payout: {
    cause: "the key, as the answer's `Idempotency-Key` shows it, was used with another payout",
    action: 'use a new key for a new payout; else fix the body',
  },
  compliance_rejected: {
    cause: 'compliance rejected the payout',
    action: 'do not resend; ask support',
  },
  risk_rejected: {
    cause: 'risk controls rejected the payout',
    action: 'do not resend; ask support',
  },
  rail_unavailable: { cause: 'no route is available now', action: 'repeat later' },
  payout_not_found: {
    cause: 'unknown payout in this environment, or not yours',
    action: 'check the id and the environment',
  },
  payout_not_cancelable: { cause: 'payouts cannot be cancelled', action: 'wait for the outcome' },
  outcome_not_possible: {
    cause: 'the payout can no longer reach the simulated outcome',
    action: 'simulate another one',
  },
  fx_quote_not_found: {
    cause: 'unknown conversion quote, or one that expired long ago',
    action: 'request a quote',
  },
  balance_limit_exceeded: {
    cause: 'the balance limit would be exceeded',
    action: 'send a smaller amount',
  },
  webhook_endpoint_not_found: {
    cause: 'unknown endpoint',
    action: 'check the id and the environment',
  },
  webhook_endpoint_limit: {
    cause: 'the maximum number of endpoints exists, or was created within 24 hours',
    action: 'delete one, or wait',
  },
  webhook_endpoint_disabled: {
    cause: 'a disabled endpoint takes no test',
    action: 'enable it first',
  },
  event_not_found: { cause: 'unknown event', action: 'check the id and the environment' },
}

/** In the order of the operators' guide. */
export const OPERATOR_ERROR_HELP: Readonly<Record<OperatorErrorCode, ErrorHelp>> = {
  not_here: {
    cause: 'the partner is at another processor, or nowhere while its shard moves',
    action: 'call the processor that the trailer `causeway-processor` names',
  },
  permission_denied: {
    cause: 'the caller has no role for this call',
    action: 'use a credential with the role, or ask its owner',
  },
  operator_name_differs: {
    cause: 'the request names another operator than its token',
    action: 'omit `--as`',
  },
  second_operator_required: {
    cause: 'a change of this amount, or of this kind, needs two operators',
    action: 'another operator approves the named request: `approvals approve`',
  },
  approval_request_not_found: {
    cause: 'unknown approval request',
    action: 'check the id with `approvals list`',
  },
  approval_request_decided: {
    cause: 'the request was approved or rejected before',
    action: 'nothing; `approvals list --resolved` shows who decided',
  },
  approval_request_expired: {
    cause: 'the request is older than 24 hours',
    action: 'request the change again',
  },
  approval_request_outdated: {
    cause: 'what the request names has changed since, e.g. another recovery',
    action: 'reject it; request the change again',
  },
  approver_is_requester: {
    cause: 'the operator who requested the change approves it',
    action: 'ask another operator with the role `decide`',
  },
  caller_not_found: { cause: 'unknown caller', action: 'check the name with `callers list`' },
  caller_exists: {
    cause: 'a caller of this name exists, or existed',
    action: 'choose another name',
  },
  caller_configured: {
    cause: 'a process that only the configuration names',
    action: 'change its setting and restart',
  },
  caller_revoked: { cause: 'the caller is revoked, permanently', action: 'create another one' },
  partner_not_found: { cause: 'unknown partner', action: 'check the name with `partner list`' },
  signing_key_limit: {
    cause: 'three signing keys are active',
    action: 'revoke one, or wait until one expires',
  },
  signing_key_not_found: { cause: 'unknown signing key', action: 'check the id with `key list`' },
  signing_key_revoked: { cause: 'the key is revoked, permanently', action: 'issue a new key' },
  payment_intent_not_at_rail: {
    cause: 'the payment intent is not submitted to the rail',
    action: 'show the intent; there is no outcome to resolve',
  },
  payment_intent_not_captured: {
    cause: 'the payment intent is not captured',
    action: 'show the intent; only a captured one can be reversed',
  },
  payment_intent_not_held: {
    cause: 'the payment intent does not wait for a review',
    action: 'show the intent; it was decided before, or never held',
  },
  recovery_not_active: {
    cause: 'the processor is not in recovery mode',
    action: 'nothing; there is nothing to release',
  },
  orphan_execution_not_found: {
    cause: 'unknown orphan execution',
    action: 'check the id with `recovery orphans`',
  },
  orphan_execution_resolved: {
    cause: 'the orphan execution is already resolved',
    action: 'nothing; show it to see its resolution',
  },
  orphan_execution_differs: {
    cause: 'the payment differs from the orphan execution, or is not held for it',
    action: 'compare the two; resolve the right pair',
  },
  payout_not_held: {
    cause: 'the payout does not wait for a review',
    action: 'show the payout; it was decided before, or never held',
  },
  payout_not_at_rail: {
    cause: 'the payout is not submitted to the rail',
    action: 'show the payout; there is no outcome to resolve',
  },
  payout_not_completed: {
    cause: 'the payout is not completed',
    action: 'show the payout; only a completed one can be reversed',
  },
  discrepancy_not_found: {
    cause: 'unknown discrepancy',
    action: 'check the id with `discrepancy list`',
  },
  discrepancy_settled: { cause: 'the discrepancy is already settled', action: 'nothing' },
  settlement_not_possible: {
    cause: 'this settlement does not apply to the discrepancy',
    action: 'choose another settlement',
  },
}
