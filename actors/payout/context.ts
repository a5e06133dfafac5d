/**
 * The context of a payout and the events of its machine.
 *
 * - Plain JSON; members not known yet are absent. Amounts are decimal text in minor units of
 *   `currency`.
 * - Fees and beneficiary are copied at creation; later changes of routes or beneficiaries do not
 *   apply.
 */
import type { Instant } from '../../src/base/clock.js'
import type { BeneficiaryId, PayoutId, RequestId, TenantId } from '../../src/base/ids.js'
import type { Traceparent } from '../../src/base/traceparent.js'
import type { Currency } from '../../src/money/currency.js'
import { isHeld, type Hold } from '../hold.js'
import { contextIn } from '../stored_context.js'

export type PayoutState = 'created' | 'processing' | 'completed' | 'failed' | 'reversed'

export interface FrozenBeneficiary {
  readonly id: BeneficiaryId
  readonly name: string
  readonly accountLast4: string
  /** Encrypted; decrypted only for the rail instruction. */
  readonly sealedAccount: string
  readonly bankCode: string
  readonly country: string
}

/** Who reported it; `service`: an operator. */
export type FailureSource = 'rail' | 'review' | 'service'

export interface PayoutFailure {
  readonly code: string
  readonly source: FailureSource
  readonly at: Instant
}

export interface PayoutContext {
  readonly id: PayoutId
  readonly tenant: TenantId
  readonly amount: string
  readonly recipientAmount: string
  readonly total: string
  readonly currency: Currency
  readonly fees: { readonly platform: string; readonly rail: string; readonly sum: string }
  readonly refundFeesOnReversal: boolean
  readonly reference: string
  readonly description?: string
  readonly metadata: Readonly<Record<string, string>>
  /** Id of the orphan execution that it equals, for which it was held in `created`. */
  readonly orphan?: string
  /**
   * Why it was held in `created`, beside its route's rule. Absent means that there is no other
   * cause.
   */
  readonly reviewCause?: 'screening_unavailable'
  /** Held in `processing`, where it was found equal later. Absent if it was not. */
  readonly heldFor?: Hold
  readonly beneficiary: FrozenBeneficiary
  /** The rail of its route at its acceptance. Absent in payouts from before rails had names. */
  readonly rail?: string
  readonly createdAt: Instant
  /** The request that created it. Absent if it is not known. */
  readonly requestId?: RequestId
  /** The trace of the first request that had one. Absent if there is none. */
  readonly traceparent?: Traceparent
  readonly processingAt?: Instant
  readonly completedAt?: Instant
  readonly failedAt?: Instant
  readonly reversedAt?: Instant
  readonly submittedAt?: Instant
  readonly inquiries?: number
  /** When inquiries began about an end that a statement of the rail contradicts. */
  readonly inquiredSince?: Instant
  readonly transactionId?: string
  readonly failure?: PayoutFailure
  readonly dueAt: Instant | null
}

/** The context as the books store it. Null when that is no object. */
export const payoutContextIn = contextIn<PayoutContext>

export type PayoutEvent = { readonly at: Instant } & (
  | { readonly type: 'approve'; readonly railUp: boolean }
  | { readonly type: 'reject' }
  /** It is not to be submitted: it equals an orphan execution. */
  | { readonly type: 'hold'; readonly heldFor: Hold }
  | { readonly type: 'timer'; readonly railUp: boolean }
  | { readonly type: 'notFound' }
  /** Without a transaction id when an operator resolves the outcome. */
  | { readonly type: 'executed'; readonly transactionId?: string }
  | { readonly type: 'refused'; readonly refusal: string; readonly source?: FailureSource }
  | { readonly type: 'returned'; readonly source?: FailureSource }
  /** The rail has answered the inquiry after a resolve. */
  | { readonly type: 'inquiryAnswered' }
)

/** Whether the payout waits for a reviewer's decision. */
export const isUnderReview = (state: PayoutState, context: PayoutContext): boolean =>
  state === 'created' || (state === 'processing' && isHeld(context))
