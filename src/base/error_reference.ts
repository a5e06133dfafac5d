/**
 * What caused each error and what to do about it, for the guides, whose tables are generated.
 *
 * - Texts are Markdown: links are relative to gateway/guide/errors.md and to the operators' page.
 * - Whether to retry is `retryable` of the registry (base/errors).
 */
import type { ErrorCode, OPERATOR_ERRORS } from './errors.js'

export type ErrorHelp = readonly [cause: string, action: string]

export type OperatorErrorCode = keyof typeof OPERATOR_ERRORS
export type PartnerErrorCode = Exclude<ErrorCode, OperatorErrorCode>

/** In the order of the partner guide. */
export const PARTNER_ERROR_HELP: Readonly<Record<PartnerErrorCode, ErrorHelp>> = {
  invalid_request: [
    'the body, a header or the query is invalid; ' +
      'also an `Idempotency-Key` that is not printable ASCII',
    'fix the request',
  ],
  authentication_failed: [
    'the proof of the caller is invalid',
    'backend: check clock, nonce, key and signature ' +
      '([the sandbox reports the cause](signing.md#when-a-signature-is-refused)); ' +
      'app: get a new token, keep the confirm key',
  ],
  not_found: ['unknown path, or an unknown host', 'fix the URL'],
  method_not_allowed: ['the path takes other methods, named in `Allow`', 'fix the method'],
  payload_too_large: ['the body exceeds its maximum; the connection closes', 'send less'],
  rate_limited: ['above a [limit](#limits)', 'wait `Retry-After` seconds'],
  internal_error: [
    'a fault of the service; the outcome is unknown',
    'repeat with the same key; report the `request_id` if it persists',
  ],
  configuration_error: [
    'a dependency is unavailable, or the service is recovering: ' +
      'reads work then, changes do not; the outcome is unknown',
    'repeat with the same key, after `Retry-After`',
  ],
  timeout: ['no answer in 5 seconds; the outcome is unknown', 'repeat with the same key'],
  idempotency_conflict: [
    "the key, as the answer's `Idempotency-Key` shows it, was used with another request",
    'use a new key for a new request; else fix the body',
  ],
  payment_intent_not_found: ['unknown intent, or not yours', 'check the id and the environment'],
  attestation_not_satisfied: ['`verified` or `clean` is false', 'complete KYC and screening first'],
  corridor_not_enabled: ['the corridor is not enabled for you', 'ask support'],
  partner_suspended: [
    '[your account is suspended](operations.md#while-your-account-is-suspended)',
    'ask support',
  ],
  user_mismatch: [
    'the intent was created for another user',
    "send the intent's own `partner_user_id`",
  ],
  payment_intent_terminal: ['the intent has ended', 'fetch it and show its outcome'],
  quote_required: ['confirm without a scan', 'scan first'],
  quote_expired: [
    'the quote expired or was used',
    'scan again and show the new amount, or request another conversion quote',
  ],
  quote_changed: [
    'the confirm names another quote than the current one',
    'show the current quote; confirm that one',
  ],
  already_confirmed: ['the payment was confirmed before', 'poll the intent'],
  payment_intent_not_confirmable: [
    "the intent's status does not allow a confirm",
    'fetch the intent',
  ],
  payment_intent_not_cancelable: [
    'the payment is submitted, or the intent has ended',
    'wait for the outcome; refund it if captured',
  ],
  payment_intent_not_refundable: [
    'the status or age does not allow a refund, or one is in progress',
    'fetch the intent and read its `refund`',
  ],
  payment_intent_not_scannable: [
    "the intent's status does not allow a scan",
    'fetch the intent; create a new one for a new payment',
  ],
  duplicate_scan: [
    'the same user paid the same code a moment ago',
    'ask the user; if intended, scan again with `duplicate_confirmed`',
  ],
  qr_malformed: [
    'the QR payload cannot be read; also a language template (tag 64) without its name',
    'let the user scan again',
  ],
  qr_checksum_invalid: ['the checksum of the QR code is wrong', 'let the user scan again'],
  qr_scheme_unsupported: [
    'the corridor does not support the scheme, service or destination',
    'tell the user that the code is not supported',
  ],
  qr_country_mismatch: [
    'the code is of another country',
    'create an intent for the other corridor',
  ],
  qr_currency_mismatch: [
    'the code is in another currency',
    'tell the user that the code is not supported',
  ],
  qr_amount_mismatch: ['the code holds another amount than the one sent', 'omit the amount'],
  local_amount_required: [
    'the code has no amount and none was sent',
    'ask the user for the amount',
  ],
  local_amount_invalid: ['the amount cannot be paid', 'ask the user for another amount'],
  amount_below_minimum: [
    "the amount is below the corridor's minimum",
    'ask the user for another amount',
  ],
  user_limit_exceeded: [
    'a limit of the user; 409 on confirm',
    'try a smaller amount, or after the day or month',
  ],
  quote_exceeds_intent_amount: [
    "the payment costs more than the intent's ceiling",
    'create an intent with a higher amount',
  ],
  invalid_beneficiary: [
    'a fault inside the beneficiary, or an unknown or disabled one',
    'fix the beneficiary',
  ],
  beneficiary_not_found: ['unknown beneficiary', 'check the id and the environment'],
  unsupported_currency: [
    "not the beneficiary's currency, or not a currency",
    "send the beneficiary's currency",
  ],
  unsupported_destination: ['no route serves the destination', 'choose another destination'],
  payout_limit_exceeded: ['an amount limit rejected the payout', 'send less, or ask support'],
  insufficient_balance: ['the balance is too low; 409 on confirm', 'fund the balance, then repeat'],
  duplicate_payout: [
    "the key, as the answer's `Idempotency-Key` shows it, was used with another payout",
    'use a new key for a new payout; else fix the body',
  ],
  compliance_rejected: ['compliance rejected the payout or payment', 'do not resend; ask support'],
  risk_rejected: ['risk controls rejected the payout or payment', 'do not resend; ask support'],
  rail_unavailable: ['no route is available now', 'repeat later'],
  payout_not_found: [
    'unknown payout in this environment, or not yours',
    'check the id and the environment',
  ],
  payout_not_cancelable: ['payouts cannot be cancelled', 'wait for the outcome'],
  outcome_not_possible: [
    'the payout can no longer reach the simulated outcome',
    'simulate another one',
  ],
  fx_quote_not_found: ['unknown conversion quote, or one that expired long ago', 'request a quote'],
  balance_limit_exceeded: ['the balance limit would be exceeded', 'send a smaller amount'],
  webhook_endpoint_not_found: ['unknown endpoint', 'check the id and the environment'],
  webhook_endpoint_limit: [
    'the maximum number of endpoints exists, or was created within 24 hours',
    'delete one, or wait',
  ],
  webhook_endpoint_disabled: ['a disabled endpoint takes no test', 'enable it first'],
  event_not_found: ['unknown event', 'check the id and the environment'],
}

/** In the order of the operators' guide. */
export const OPERATOR_ERROR_HELP: Readonly<Record<OperatorErrorCode, ErrorHelp>> = {
  not_here: [
    'another processor has the partner, or none while its shard moves',
    'call the processor that the trailer `causeway-processor` names',
  ],
  cluster_not_configured: [
    'the processor is not in a cluster: `CLUSTER` is `off`',
    'nothing; it has the only books',
  ],
  shard_not_found: ['unknown shard', 'check the name with `shard list`'],
  shard_moving: [
    'the shard moves already, or another processor has taken it over since',
    '`shard list`; move it again when it does not move, or after 30 s',
  ],
  processor_not_waiting: [
    'the named processor serves a shard, or does not run',
    'name one that `shard list` shows as waiting',
  ],
  processor_cannot_take: [
    'it lacks a master key of that shard, or its version is older than the books',
    '`shard list` says why',
  ],
  setting_not_blocked: [
    'no shard is held up by this version of the settings',
    'check the version with `shard list`',
  ],
  permission_denied: [
    'the caller has no role for this call',
    'use a credential with the role, or ask its owner',
  ],
  operator_name_differs: ['the request names another operator than its token', 'omit `--as`'],
  second_operator_required: [
    'a change of this amount, or of this kind, needs two operators',
    'another operator approves the named request: `approvals approve`',
  ],
  approval_request_not_found: ['unknown approval request', 'check the id with `approvals list`'],
  approval_request_decided: [
    'the request was approved or rejected before',
    'nothing; `approvals list --resolved` shows who decided',
  ],
  approval_request_expired: ['the request is older than 24 hours', 'request the change again'],
  approval_request_outdated: [
    'the subject of the request has changed since, e.g. another recovery',
    'reject it; request the change again',
  ],
  approval_request_ended: [
    'the operator who requested it is revoked, or has another token since',
    'request the change again',
  ],
  approver_is_requester: [
    'the operator who requested the change approves it',
    'ask another operator with the role `decide`',
  ],
  caller_not_found: ['unknown caller', 'check the name with `callers list`'],
  caller_exists: ['a caller of this name exists, or existed', 'choose another name'],
  credential_in_use: [
    'a caller has, or had, this token or certificate',
    'make another one: `callers token`',
  ],
  owner_credential_required: [
    'with a second operator the owner makes a credential, so that no operator sees it',
    'give `--token-sha256`, `--certificate`, or for a signing key `--public-key`',
  ],
  rate_change_unconfirmed: [
    'the rate differs by more than 5 % from that of the beginning of the UTC day',
    'check the decimal point; `--force` confirms it',
  ],
  rail_does_not_carry: [
    '`RAILS_FILE` does not name the rail, or not for the environment and destination of the route',
    'name the rail as in the file; production never goes to a sandbox rail by itself',
  ],
  submissions_not_paused: [
    'no pause has this rail, corridor or environment',
    'see `submissions list`; a wider pause is resumed as it was set',
  ],
  caller_configured: [
    'a process that only the configuration names',
    'change its setting and restart',
  ],
  caller_revoked: ['the caller is revoked, permanently', 'create another one'],
  partner_not_found: ['unknown partner', 'check the name with `partner list`'],
  signing_key_limit: ['three signing keys are active', 'revoke one, or wait until one expires'],
  signing_key_not_found: ['unknown signing key', 'check the id with `key list`'],
  signing_key_revoked: ['the key is revoked, permanently', 'issue a new key'],
  payment_intent_not_at_rail: [
    'the payment intent is not submitted to the rail',
    'show the intent; there is no outcome to resolve',
  ],
  payment_intent_not_captured: [
    'the payment intent is not captured',
    'show the intent; only a captured one can be reversed',
  ],
  payment_intent_not_held: [
    'the payment intent does not wait for a review',
    'show the intent; it was decided before, or never held',
  ],
  recovery_not_active: [
    'the processor is not in recovery mode',
    'nothing; there is nothing to release',
  ],
  recovery_active: [
    'the processor is in recovery mode, which allows reads, callers and approvals only',
    'see `recovery show`; repeat the change after `recovery release`',
  ],
  bus_not_checked: [
    'the processor has not reached the bus since its start, and does not know what it has',
    'wait until `recovery show` no longer says so; start NATS, or an empty one if it is lost',
  ],
  statement_refused: [
    'the statement lacks movements of the rail, has others, or cannot be compared with the rail',
    "release with the rail's statement up to now; `recovery show` names its period",
  ],
  orphan_execution_not_found: ['unknown orphan execution', 'check the id with `recovery orphans`'],
  orphan_execution_resolved: [
    'the orphan execution is already resolved',
    'nothing; show it to see its resolution',
  ],
  orphan_execution_not_executed: [
    'at the rail the instruction is not `executed`: see `recovery orphans`',
    'wait while it is `accepted`; else dismiss it, and decide on the held payment',
  ],
  orphan_execution_differs: [
    'the payment differs from the orphan execution, or is not held for it',
    'compare the two; resolve the right pair',
  ],
  orphan_execution_equal: [
    'the payment equals orphan executions, which the message names, and may have been paid by one',
    'match or dismiss each with `recovery resolve`; `--other-than` for each that is certainly ' +
      'another payment',
  ],
  payout_not_held: [
    'the payout does not wait for a review',
    'show the payout; it was decided before, or never held',
  ],
  payout_not_at_rail: [
    'the payout is not submitted to the rail',
    'show the payout; there is no outcome to resolve',
  ],
  payout_not_completed: [
    'the payout is not completed',
    'show the payout; only a completed one can be reversed',
  ],
  deposit_not_found: [
    'the deposit is unknown or of another partner',
    'check partner, environment and id with `find`',
  ],
  correction_exceeds_deposit: [
    'all corrections of a deposit together would be more than it credited',
    'correct less; `find` and `actions` show the earlier corrections',
  ],
  discrepancy_not_found: ['unknown discrepancy', 'check the id with `discrepancy list`'],
  discrepancy_settled: ['the discrepancy is already settled', 'nothing'],
  settlement_not_possible: [
    'this settlement does not apply to the discrepancy',
    'choose another settlement',
  ],
}
