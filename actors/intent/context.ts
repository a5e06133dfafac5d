/**
 * The context of an intent and the events of its machine.
 *
 * - The context is plain JSON, stored as the actor's snapshot. Members not known yet are absent.
 * - Amounts are USD cents as numbers, or decimal text in minor units of the local currency.
 * - The destination's account is encrypted; it is decrypted only for the rail instruction.
 */
import type { Instant } from '../../src/base/clock.js'
import type { IntentId, RequestId, TenantId } from '../../src/base/ids.js'
import type { Traceparent } from '../../src/base/traceparent.js'
import type { Corridor } from '../../src/qr/corridor.js'
import type { Quote } from '../../src/quotes/quote.js'
import type { Hold } from '../hold.js'
import { contextIn } from '../stored_context.js'

export type IntentState =
  'created' | 'authorized' | 'captured' | 'failed' | 'expired' | 'refunded' | 'cancelled'

/** Bound to the intent by the latest accepted scan. */
export interface Scanned {
  readonly merchant: {
    readonly scheme: string
    readonly name: string
    readonly city: string
    readonly country: string
    readonly mcc: string
  }
  readonly qrKind: 'static' | 'dynamic'
  readonly destination: {
    readonly scheme: string
    readonly accountType: string
    readonly bankCode: string
    readonly sealedAccount: string
    readonly reference1: string
    readonly reference2: string
  }
  readonly destinationMasked: string
  /** Digest of corridor, destination, references and amount. */
  readonly duplicateKey: string
  readonly quote: Quote
  /** The request that scanned the QR. Absent if it is not known. */
  readonly requestId?: RequestId
}

/** The one confirmation of an intent. */
export interface Confirmation {
  readonly jti: string
  /**
   * Digest of the Idempotency-Key of the confirm. Absent when the caller sent none: a repeated
   * confirm is then refused instead of replayed.
   */
  readonly key?: string
  /** The limit counters that it used. */
  readonly dayKey: string
  readonly monthKey: string
  /** The rail must refuse the instruction after this instant. */
  readonly notAfter: Instant
  /** The rail of its route. Absent if it was confirmed before the rails had names. */
  readonly rail?: string
}

export interface IntentFailure {
  readonly code: string
  /** `service`: never submitted, or resolved by an operator. */
  readonly source: 'rail' | 'service'
  readonly at: Instant
}

/** The attestations sent with a further session token. */
export interface Remint {
  readonly at: Instant
  /** Id of that token. */
  readonly jti: string
  readonly attestations: string
}

/** A refund is a recall request to the rail. */
export interface Recall {
  readonly requestedAt: Instant
  readonly inquiries: number
  readonly refused?: boolean
}

export interface IntentContext {
  readonly id: IntentId
  readonly tenant: TenantId
  readonly userId: string
  readonly amountCents: number
  readonly corridor: Corridor
  /** The partner's attestations as JSON text, stored as evidence only. */
  readonly attestations: string
  readonly createdAt: Instant
  /** The request that created it. Absent if it is not known. */
  readonly requestId?: RequestId
  /** The trace of the first request that had one. Absent if there is none. */
  readonly traceparent?: Traceparent
  readonly expiresAt: Instant
  /** The token minted at creation, for the replay of the create. `exp` in epoch seconds. */
  readonly session: { readonly kid: string; readonly jti: string; readonly exp: number }
  /** The latest REMINTS_KEPT, oldest first, stored as evidence only. */
  readonly remints?: readonly Remint[]
  readonly scanned?: Scanned
  readonly confirmation?: Confirmation
  readonly confirmedAt?: Instant
  /** Confirmed but not submitted. Absent if it was never held. */
  readonly heldFor?: Hold
  readonly submittedAt?: Instant
  readonly inquiries?: number
  /** When inquiries began about an end that a statement of the rail contradicts. */
  readonly inquiredSince?: Instant
  readonly transactionId?: string
  readonly capturedAt?: Instant
  readonly failedAt?: Instant
  readonly expiredAt?: Instant
  readonly cancelledAt?: Instant
  readonly refundedAt?: Instant
  /** An operator reversed it. Absent if the rail returned the money. */
  readonly refundSource?: 'service'
  readonly failure?: IntentFailure
  readonly recall?: Recall
  /** When the rail last refused a recall. */
  readonly refundFailedAt?: Instant
  /** Number of recalls that the rail refused, each with one event. Absent if there is none. */
  readonly refundsFailed?: number
  /** When the timer is due. Null if there is no timer. */
  readonly dueAt: Instant | null
}

/** The context as the books store it. Null when that is no object. */
export const intentContextIn = contextIn<IntentContext>

export type IntentEvent = { readonly at: Instant } & (
  | { readonly type: 'scan'; readonly scanned: Scanned }
  | { readonly type: 'remint'; readonly remint: Remint }
  | {
      readonly type: 'confirm'
      readonly confirmation: Confirmation
      readonly railUp: boolean
      readonly heldFor?: Hold
    }
  /** It is not to be submitted: it equals an orphan execution. */
  | { readonly type: 'hold'; readonly heldFor: Hold }
  /** A reviewer approves a held intent. */
  | { readonly type: 'approve'; readonly railUp: boolean; readonly notAfter: Instant }
  | { readonly type: 'reject' }
  | { readonly type: 'cancel' }
  | { readonly type: 'timer'; readonly railUp: boolean }
  /** The rail does not have the instruction, and its finality window has passed. */
  | { readonly type: 'notFound' }
  /** Without a transaction id when an operator resolves the outcome. */
  | { readonly type: 'executed'; readonly transactionId?: string }
  | {
      readonly type: 'refused'
      readonly refusal: string
      readonly source?: IntentFailure['source']
    }
  | { readonly type: 'recall' }
  | { readonly type: 'recallRefused' }
  /** `service`: an operator reversed it. */
  | { readonly type: 'returned'; readonly source?: IntentFailure['source'] }
  /** The rail has answered the inquiry after a resolve. */
  | { readonly type: 'inquiryAnswered' }
)
