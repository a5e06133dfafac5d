/**
 * The four functions of a bank that an adapter is written for.
 *
 * - A promise that rejects, or that does not resolve in time, is an unknown outcome: the adapter
 *   asks later and never guesses. `refused` is a bank's word, never a network fault.
 * - The bank knows a payment by the id of the instruction, and executes an id once.
 */
import type { Instant } from '../../base/clock.js'
import type { EffectId } from '../../base/ids.js'
import type { Execution, Instruction, RailRefusal } from '../rail.js'

export interface Bank {
  /** As Describe names it. */
  readonly name: string
  /** So long after a submission `not_found` proves that the bank does not have it. */
  readonly finalityWindowMs: number
  /**
   * Sends the payment to the bank. Called again only after `not_found`.
   * @param receivedAt when it was first received: the same at each call
   */
  submit(instruction: Instruction, receivedAt: Instant): Promise<BankOutcome>
  /** Asks what became of it. */
  query(instruction: Instruction): Promise<BankOutcome>
  /** Requests the money of an executed payment back; repeated until it is answered. */
  recall(instruction: Instruction, reason: string): Promise<BankOutcome>
  /**
   * Called once, at the start: the bank's own messages go to `receive`. Confirm a message to the
   * bank when its promise has resolved: it is on disk then.
   */
  listen(receive: BankReceiver): Promise<void>
}

export type BankReceiver = (id: EffectId, outcome: BankOutcome) => Promise<void>

/** A member that the bank does not tell counts as instructed. */
export type BankExecution = Pick<Execution, 'transactionId'> & Partial<Execution>

export type BankOutcome =
  /** The bank has it and decides later. */
  | { readonly kind: 'accepted' }
  | ({ readonly kind: 'executed' } & BankExecution)
  /** Final: it was not and will not be executed. */
  | { readonly kind: 'refused'; readonly refusal: RailRefusal }
  | ({ readonly kind: 'returned' } & BankExecution)
  | { readonly kind: 'recall_refused' }
  /**
   * The bank does not know the id. `askedAt`: when the bank was asked. The adapter sets it for the
   * answer of a call; a message of the bank that names no question has none, and proves nothing.
   */
  | { readonly kind: 'not_found'; readonly askedAt?: Instant }
