/** Public failure texts by code. They are constant and never contain text from the rail. */
import { toRfc3339, type Instant } from '../src/base/clock.js'

interface FailureText {
  readonly message: string
  /** A new payment to the same destination may succeed. */
  readonly retryable: boolean
}

const REJECTED: FailureText = { message: 'The rail rejected the payment.', retryable: false }

export const FAILURE_TEXTS: Readonly<Record<string, FailureText>> = {
  rejected: REJECTED,
  account_closed: { message: 'The destination account is closed.', retryable: false },
  account_not_found: { message: 'There is no such destination account.', retryable: false },
  name_mismatch: { message: 'The name does not match the account.', retryable: false },
  destination_refused: {
    message: 'The destination does not take this payment.',
    retryable: false,
  },
  unsupported_destination: {
    message: 'The rail does not reach the destination.',
    retryable: false,
  },
  amount_refused: { message: 'The rail does not take this amount.', retryable: false },
  compliance_rejected: {
    message: 'The payment was rejected for compliance reasons.',
    retryable: false,
  },
  expired: { message: 'The rail did not accept the payment in time.', retryable: true },
  rail_unavailable: { message: 'The rail could not be reached in time.', retryable: true },
  review_rejected: { message: 'The review did not approve the payout.', retryable: false },
  payment_review_rejected: {
    message: 'The review did not approve the payment.',
    retryable: false,
  },
  review_expired: { message: 'The review was not finished in time.', retryable: true },
  returned_by_bank: { message: 'The receiving bank sent the money back.', retryable: false },
  not_carried_out: { message: 'The payment was not carried out.', retryable: true },
  returned: { message: 'The money came back.', retryable: false },
}

export function failureView(failure: {
  readonly code: string
  readonly source: string
  readonly at: Instant
}): object {
  const { message, retryable } = FAILURE_TEXTS[failure.code] ?? REJECTED
  return {
    code: failure.code,
    message,
    source: failure.source,
    retryable,
    occurred_at: toRfc3339(failure.at),
  }
}
