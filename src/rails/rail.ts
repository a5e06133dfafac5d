/**
 * The port to a local bank network: the instructions it takes and the reports it returns.
 *
 * Does not own: the wire (rails/client), the schedule of inquiries and the effect of a report on a
 * payment (processor), the rules of a network (the adapter behind the port).
 *
 * - `send` never fails. An instruction that was not sent, or has no report, has an unknown
 *   outcome: the sender inquires on its own schedule, with the same id.
 * - The same instruction id is never executed twice, however often it is sent.
 * - A report with a `reportId` is repeated, at least when the link opens again, until that id is
 *   acknowledged. Acknowledge it only after its effects are on disk.
 * - Reports may arrive late, twice and in any order.
 */
import { QR_SCHEMES, type QrScheme } from '../qr/corridor.js'
import type { Instant } from '../base/clock.js'
import type { EffectId, Environment } from '../base/ids.js'
import type { Traceparent } from '../base/traceparent.js'
import type { MovementFigures, MovementKind } from '../base/movements.js'

export interface Rail {
  /** The rail's latest description; `UNDESCRIBED` before the first one. */
  describe(): RailDescription
  /** True while the link is up. It does not say that a given instruction arrived. */
  up(): boolean
  send(railInstructions: readonly RailInstruction[]): void
  /** Sets the one handler of reports. An exception in it is a bug and ends the process. */
  onReport(handler: (reports: readonly RailReport[]) => void): void
  /** Sets the one handler of link changes; it is not called for the current state. */
  onLink(handler: (up: boolean) => void): void
  /** Drops buffered instructions; no handler is called afterwards. */
  close(): Promise<void>
}

/** From `from` inclusive to `to` exclusive, by the times of the rail's statements. */
export interface MovementPeriod {
  readonly from: Instant
  readonly to: Instant
}

/** What the rail's statement of a period has, of all shards. */
export interface MovementSummary extends MovementFigures {
  /**
   * Figures of the instructions of this processor's shard that the rail has accepted and neither
   * executed nor refused by now. Null if the rail does not report them.
   */
  readonly accepted: MovementFigures | null
  /** At any time, of this processor's shard. Null if there is none yet. */
  readonly newest: NewestMovement | null
}

export interface NewestMovement {
  readonly instruction: string
  readonly movement: MovementKind
  readonly at: Instant
}

export type SummaryAnswer =
  | { readonly kind: 'summary'; readonly summary: MovementSummary }
  /** The rail cannot tell, or did not answer. `reason`: a sentence without its full stop. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** Metadata of a link with its shard, in a cluster. */
export const SHARD_METADATA = 'shard'

/** The name of the rail that moves no real money. */
export const SANDBOX_RAIL = 'sandbox'

export interface RailDescription {
  readonly name: string
  /** This many milliseconds after sending, `not_found` proves that an instruction never arrived. */
  readonly finalityWindowMs: number
  /** The instruction it received last. Null if there is none, or the rail does not report it. */
  readonly newestInstruction: string | null
}

/** No `not_found` is final before the rail has declared its finality window. */
export const UNDESCRIBED: RailDescription = {
  name: '',
  finalityWindowMs: Number.MAX_SAFE_INTEGER,
  newestInstruction: null,
}

export type RailInstruction =
  | { readonly kind: 'instruct'; readonly instruction: Instruction }
  /** Status inquiry, answered at once by a report without a `reportId`. */
  | (Routed &
      Traced & {
        readonly kind: 'query'
        readonly id: EffectId
        readonly environment: Environment
      })
  /** Requests the money of an executed instruction back: `returned` or `recall_refused`. */
  | (Routed &
      Traced & {
        readonly kind: 'recall'
        readonly id: EffectId
        readonly reason: string
        readonly environment: Environment
      })
  | { readonly kind: 'acknowledge'; readonly reportId: string }
  /** Forces an outcome. Sandbox rail only; other rails ignore it. */
  | { readonly kind: 'simulate'; readonly id: EffectId; readonly outcome: SimulatedOutcome }

export const SIMULATED_OUTCOMES = ['completed', 'failed', 'reversed'] as const
export type SimulatedOutcome = (typeof SIMULATED_OUTCOMES)[number]

/** How the processor reached the rail. Absent if that was an earlier version. */
export interface Routed {
  /** See `RouteName`. */
  readonly route?: string
  /** The name of the rail in the processor's file. */
  readonly rail?: string
}

export interface Traced {
  /** The processor's span. Absent if the payment is not traced. */
  readonly traceparent?: Traceparent
}

/** Pays once. Its route, rail and trace are not part of the compared content. */
export interface Instruction extends Routed, Traced {
  /** Not part of the content that the rail compares when an id is repeated. */
  readonly environment: Environment
  /**
   * The shard that sent it and gets its reports. Absent if the sender has the only books. The link
   * sets it. Not part of the compared content.
   */
  readonly shard?: string
  /** Also the rail's idempotency key. */
  readonly id: EffectId
  readonly purpose: Purpose
  /** Minor units of `currency`, positive, at most 2^63 - 1. */
  readonly amount: bigint
  /** ISO 4217, three letters. */
  readonly currency: string
  readonly destination: RailDestination
  /** Shown to the recipient where the network allows it. */
  readonly reference: string
  /** The rail refuses an instruction that it receives later. Null if there is no bound. */
  readonly notAfter: Instant | null
  /**
   * Sandbox only: the payout's reference, or the suffix of the partner's user id. Empty in
   * production.
   */
  readonly hint: string
}

export const PURPOSES = ['payout', 'qr_payment'] as const
export type Purpose = (typeof PURPOSES)[number]

export type Scheme = 'bank_account' | QrScheme
export const SCHEMES: readonly Scheme[] = ['bank_account', ...QR_SCHEMES]

/** Members that a scheme does not use are empty. */
export interface RailDestination {
  readonly scheme: Scheme
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  readonly bankCode: string
  readonly account: string
  /** One of those that rail.proto lists for the scheme. */
  readonly accountType: string
  readonly reference1: string
  readonly reference2: string
  readonly name: string
}

interface Referenced extends Pick<Instruction, 'purpose' | 'reference'> {
  readonly destination: Pick<RailDestination, 'reference1' | 'reference2'>
}

/** The payment's reference in a bank statement: a payout's own, or the references of a QR code. */
export function statementReference({ purpose, destination, reference }: Referenced): string {
  if (purpose === 'payout') return reference
  return [destination.reference1, destination.reference2].filter((text) => text !== '').join(' ')
}

export const REFUSALS = [
  'account_closed',
  'account_not_found',
  'name_mismatch',
  /** Blocked, or not of a kind that takes such payments. */
  'destination_refused',
  /** The network does not reach the destination's bank. */
  'unsupported_destination',
  /** Not an amount that the network or the bank takes. */
  'amount_refused',
  'compliance_rejected',
  /** The recipient's bank did not answer the network, or our account there lacks funds. */
  'rail_unavailable',
  /** Received after its `notAfter`. */
  'expired',
  /** Any other reason. */
  'rejected',
] as const
export type RailRefusal = (typeof REFUSALS)[number]

interface About extends Routed {
  /** The instruction. */
  readonly id: EffectId
  /** As the rail stored it. Absent if the rail does not report it. */
  readonly environment?: Environment
  /** That of the instruction. Absent if the rail does not report it. */
  readonly shard?: string
  /** Null on an answer that need not be acknowledged. */
  readonly reportId: string | null
}

/** What the network executed. Compare it with the instruction. */
export interface Execution {
  /** The network's id of the payment. */
  readonly transactionId: string
  /** Minor units of `currency`. */
  readonly amount: bigint
  readonly currency: string
  readonly destinationAccount: string
  /** The bank code. Absent if the rail does not report it. */
  readonly destinationBank?: string
}

/**
 * A report or instruction that is being built: members that can be absent are assigned, because a
 * spread costs microseconds.
 */
export type Unfinished<Message> = { -readonly [Member in keyof Message]: Message[Member] }

export type RailReport =
  /** The rail has it on disk and will report again. */
  | (About & { readonly status: 'accepted' })
  /** The recipient received the money. */
  | (About & Execution & { readonly status: 'executed' })
  /** Final: it was not and will not be executed under this id. */
  | (About & { readonly status: 'refused'; readonly refusal: RailRefusal })
  /**
   * It was executed and the money came back, from the recipient's bank or after a recall. Carries
   * the `transactionId` of the execution. May arrive before `executed`.
   */
  | (About & Execution & { readonly status: 'returned' })
  /** Unknown id; final only after the finality window. */
  | (About & { readonly status: 'not_found' })
  /** The money stays with the recipient; the instruction's own outcome is unchanged. */
  | (About & { readonly status: 'recall_refused' })
