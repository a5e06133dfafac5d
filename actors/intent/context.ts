/**
 * What an intent remembers, and the events that move it.
 *
 * - The context is plain JSON: it is the snapshot that SQLite keeps. What is not known yet is
 *   absent.
 * - Amounts are USD cents as numbers, or decimal text in minor units of the local currency.
 * - The destination's account is sealed; only the order to the rail sees it in clear.
 */
import type { Instant } from '../../src/base/clock.js'
import type { IntentId, TenantId } from '../../src/base/ids.js'
import type { Corridor } from '../../src/qr/corridor.js'
import type { Quote } from '../../src/quotes/quote.js'

export type IntentState =
  'created' | 'authorized' | 'captured' | 'failed' | 'expired' | 'refunded' | 'cancelled'

/** What the latest accepted scan bound to the intent. */
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
  /** Same corridor, destination, references and amount. A digest. */
  readonly duplicateKey: string
  readonly quote: Quote
}

/** How the one confirmation was made. */
export interface Confirmation {
  readonly jti: string
  /** Digest of the caller's Idempotency-Key; absent: nothing is replayed. */
  readonly key?: string
  /** Counters of the user's limits that it used. */
  readonly dayKey: string
  readonly monthKey: string
  /** The rail must refuse the instruction after this. */
  readonly notAfter: Instant
}

export interface IntentFailure {
  readonly code: string
  /** `service`: it was never submitted, or an operator has it from elsewhere than the rail. */
  readonly source: 'rail' | 'service'
  readonly at: Instant
}

/** The attestations that came with a further session token. */
export interface Remint {
  readonly at: Instant
  /** Of the token that they were given for. */
  readonly jti: string
  readonly attestations: string
}

/** A refund is a request: the rail is asked to recall the money. */
export interface Recall {
  readonly requestedAt: Instant
  readonly asked: number
  readonly refused?: boolean
}

/** Confirmed, and not submitted because it is equal to an orphan execution. */
export interface IntentHold {
  /** The instruction that the rail has executed. */
  readonly orphan: string
  /** Without a decision it fails then. */
  readonly until: Instant
  readonly approvedAt?: Instant
}

export interface IntentContext {
  readonly id: IntentId
  readonly tenant: TenantId
  readonly userId: string
  readonly amountCents: number
  readonly corridor: Corridor
  /** What the partner attested, as JSON text: kept as evidence, never read here. */
  readonly attestations: string
  readonly createdAt: Instant
  readonly expiresAt: Instant
  /** The token minted at creation, so that a replay derives it again. `exp` in epoch seconds. */
  readonly session: { readonly kid: string; readonly jti: string; readonly exp: number }
  /** The latest REMINTS_KEPT, oldest first: evidence, never read here. */
  readonly remints?: readonly Remint[]
  readonly scanned?: Scanned
  readonly confirmation?: Confirmation
  readonly confirmedAt?: Instant
  /** Absent: it was never held. */
  readonly heldFor?: IntentHold
  readonly handedOverAt?: Instant
  readonly asked?: number
  readonly transactionId?: string
  readonly capturedAt?: Instant
  readonly failedAt?: Instant
  readonly expiredAt?: Instant
  readonly cancelledAt?: Instant
  readonly refundedAt?: Instant
  readonly failure?: IntentFailure
  readonly recall?: Recall
  /** When the rail refused a recall, the last time. */
  readonly refundFailedAt?: Instant
  /** How many recalls the rail has refused, each told by one event; absent: none. */
  readonly refundsFailed?: number
  /** When this intent wants to be resumed; null when nothing is due. */
  readonly wakeAt: Instant | null
}

export type IntentEvent = { readonly at: Instant } & (
  | { readonly type: 'scan'; readonly scanned: Scanned }
  | { readonly type: 'remint'; readonly remint: Remint }
  | {
      readonly type: 'confirm'
      readonly confirmation: Confirmation
      readonly railUp: boolean
      readonly heldFor?: IntentHold
    }
  /** A reviewer lets a held one go. */
  | { readonly type: 'approve'; readonly railUp: boolean; readonly notAfter: Instant }
  | { readonly type: 'reject' }
  | { readonly type: 'cancel' }
  | { readonly type: 'timer'; readonly railUp: boolean }
  /** The rail has never heard of the instruction and, past its finality window, never will. */
  | { readonly type: 'notFound' }
  /** Without a number when it is known from elsewhere than the rail's reports. */
  | { readonly type: 'executed'; readonly transactionId?: string }
  | {
      readonly type: 'refused'
      readonly refusal: string
      readonly source?: IntentFailure['source']
    }
  | { readonly type: 'recall' }
  | { readonly type: 'recallRefused' }
  | { readonly type: 'returned' }
  /** The rail has said how it stands: the inquiry after a resolve is answered. */
  | { readonly type: 'answered' }
)

/** Waits for a reviewer's decision. */
export const isHeld = ({ heldFor }: IntentContext): boolean =>
  heldFor !== undefined && heldFor.approvedAt === undefined
