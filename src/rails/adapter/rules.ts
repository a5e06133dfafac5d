/**
 * How an adapter decides about an instruction, inside the batch that stores the decision.
 *
 * The sandbox bank decides here (sandbox/bank): its state is the journal. A bank elsewhere is
 * called after the commit (bank_rules), and its messages are decided as they arrive.
 *
 * - Decisions are synchronous and see the entry as it is on disk or will be with this batch.
 */
import type { Instant } from '../../base/clock.js'
import type { Random } from '../../base/random.js'
import type { Instruction, SimulatedOutcome } from '../rail.js'
import type { BankOutcome } from './bank.js'
import type { Entry } from './entry.js'

export interface DecisionContext {
  readonly now: Instant
  readonly random: Random
}

export interface Rules {
  /** A new instruction that is not late. @param entry pending, without a due step */
  receive(entry: Entry, instruction: Instruction, context: DecisionContext): Entry
  /** Takes the due step. */
  carryOut(entry: Entry, context: DecisionContext): Entry
  /** A recall of an executed instruction. The same entry: nothing changes, or not yet. */
  recall(entry: Entry, reason: string, context: DecisionContext): Entry | 'refused'
  /** The bank said something about an instruction by itself or as an answer. */
  learn(entry: Entry, outcome: BankOutcome, context: DecisionContext): Entry | 'recall_refused'
  /** Sandbox only: forces an outcome. */
  simulate(entry: Entry, outcome: SimulatedOutcome, context: DecisionContext): Entry
  /** What the decisions of the batch have asked for may begin: they are on disk. */
  committed(): void
}
