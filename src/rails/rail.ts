/**
 * The port to a local bank network, as the processor sees it.
 *
 * Owns: the words in which payments are ordered and reported. Does not own: the wire
 * (rails/client), when to ask again or what a report does to a payment (processor), any network's
 * own rules (the adapter behind the port).
 *
 * - `send` never fails. An order that could not be sent, or that gets no report, is an unknown
 *   outcome: the sender asks again on its own schedule, with the same id.
 * - The same instruction id is never executed twice, however often it is sent.
 * - A report that carries a `reportId` comes again, at least at the next opening of the link,
 *   until that id is acknowledged. Acknowledge it after its outputs are on disk, not before.
 * - Reports may come late, twice and in any order.
 */
import type { Instant } from '../base/clock.js'
import type { EffectId, Environment } from '../base/ids.js'

export interface Rail {
  /** The latest the rail has said of itself; `UNDESCRIBED` until it has spoken. */
  describe(): RailDescription
  /** True while orders have a way out. It says nothing about any one order. */
  up(): boolean
  send(railInstructions: readonly RailInstruction[]): void
  /**
   * The one handler of reports; a later one takes its place. What it throws is a bug and ends the
   * process.
   */
  onReport(handler: (reports: readonly RailReport[]) => void): void
  /** The one handler of link changes; called on each change, not for the present state. */
  onLink(handler: (up: boolean) => void): void
  /** Orders still waiting are dropped; no handler is called afterwards. */
  close(): Promise<void>
}

export interface RailDescription {
  readonly name: string
  /**
   * Milliseconds after its sending from which on `not_found` proves that an instruction never
   * arrived.
   */
  readonly finalityWindowMs: number
  /** The instruction it received last; null: none, or it does not tell. */
  readonly newestInstruction: string | null
}

/** Nothing is final while the rail has not said when it would be. */
export const UNDESCRIBED: RailDescription = {
  name: '',
  finalityWindowMs: Number.MAX_SAFE_INTEGER,
  newestInstruction: null,
}

export type RailInstruction =
  | { readonly kind: 'instruct'; readonly instruction: Instruction }
  /** Where does this instruction stand? Answered at once by a report without a `reportId`. */
  | { readonly kind: 'query'; readonly id: EffectId; readonly environment: Environment }
  /**
   * Ask for the money of an executed instruction back. Answered by `returned` or `recall_refused`.
   */
  | {
      readonly kind: 'recall'
      readonly id: EffectId
      readonly reason: string
      readonly environment: Environment
    }
  | { readonly kind: 'acknowledge'; readonly reportId: string }
  /** Force an outcome. Only a sandbox rail obeys; others ignore it. */
  | { readonly kind: 'simulate'; readonly id: EffectId; readonly outcome: SimulatedOutcome }

export const SIMULATED_OUTCOMES = ['completed', 'failed', 'reversed'] as const
export type SimulatedOutcome = (typeof SIMULATED_OUTCOMES)[number]

/** Pay once. */
export interface Instruction {
  /** No part of the content that the rail compares when an id comes again. */
  readonly environment: Environment
  /** Also the rail's idempotency key. */
  readonly id: EffectId
  readonly purpose: Purpose
  /** Minor units of `currency`, positive, at most 2^63 - 1. */
  readonly amount: bigint
  /** ISO 4217, three letters. */
  readonly currency: string
  readonly destination: Destination
  /** Shown to the recipient where the network allows it. */
  readonly reference: string
  /** The rail refuses an instruction that reaches it later; null: no bound. */
  readonly notAfter: Instant | null
  /**
   * Sandbox only: the payout's reference, or the ending of the partner's user id. Empty in
   * production.
   */
  readonly hint: string
}

export const PURPOSES = ['payout', 'qr_payment'] as const
export type Purpose = (typeof PURPOSES)[number]

export const SCHEMES = ['bank_account', 'promptpay', 'vietqr'] as const
export type Scheme = (typeof SCHEMES)[number]

/** Members that a scheme has no use for are empty. */
export interface Destination {
  readonly scheme: Scheme
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  readonly bankCode: string
  readonly account: string
  /**
   * promptpay: mobile, national_id, ewallet, bank_account, biller; vietqr: account, card, merchant.
   */
  readonly accountType: string
  readonly reference1: string
  readonly reference2: string
  readonly name: string
}

interface Referenced extends Pick<Instruction, 'purpose' | 'reference'> {
  readonly destination: Pick<Destination, 'reference1' | 'reference2'>
}

/** How a bank's statement names the payment: of a QR code by the biller's references. */
export function statementReference({ purpose, destination, reference }: Referenced): string {
  if (purpose === 'payout') return reference
  return [destination.reference1, destination.reference2].filter((text) => text !== '').join(' ')
}

export const REFUSALS = [
  'account_closed',
  'account_not_found',
  'name_mismatch',
  /** It arrived after its `notAfter`. */
  'expired',
  /** Any other reason of the network. */
  'rejected',
] as const
export type Refusal = (typeof REFUSALS)[number]

interface About {
  /** The instruction. */
  readonly id: EffectId
  /** As the rail keeps it; absent: it does not say. */
  readonly environment?: Environment
  /** Null on an answer that need not be acknowledged. */
  readonly reportId: string | null
}

/** What the network did, in its own words: compare it with what was instructed. */
export interface Execution {
  /** The network's own number of the payment. */
  readonly transactionId: string
  /** Minor units of `currency`. */
  readonly amount: bigint
  readonly currency: string
  readonly destinationAccount: string
}

export type RailReport =
  /** The rail has it on disk and will report again. */
  | (About & { readonly status: 'accepted' })
  /** The recipient has the money. */
  | (About & Execution & { readonly status: 'executed' })
  /** Final: not executed, and never will be under this id. */
  | (About & { readonly status: 'refused'; readonly refusal: Refusal })
  /**
   * It was executed, and the money came back: by the recipient's bank or after a recall. It names
   * the execution, as that was numbered. May overtake `executed`.
   */
  | (About & Execution & { readonly status: 'returned' })
  /** The rail does not know the id; final only after the finality window. */
  | (About & { readonly status: 'not_found' })
  /** The money stays where it is; the instruction's own outcome is unchanged. */
  | (About & { readonly status: 'recall_refused' })
