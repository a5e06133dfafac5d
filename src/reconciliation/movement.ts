/**
 * A movement as each of the two sides has it: the statement's line and the ledger's booking. And
 * the statement's line of an instruction without a movement.
 *
 * Does not own: a movement itself (base/movements), the sources of the sides (statement, ledger),
 * the comparison (compare).
 */
import type { Instant } from '../base/clock.js'
import type { AcceptedInstruction, Moved } from '../base/movements.js'

export interface StatementDetails {
  readonly environment: string
  readonly purpose: string
  readonly destinationAccount: string
  readonly reference: string
  readonly shard: string
}

interface Stated {
  readonly at: Instant
  /** The line number in the file, from 1. */
  readonly line: number
  /** Optional columns; a cell that is absent is empty. */
  readonly details?: StatementDetails
}

/** A line of the rail's statement. */
export interface StatementLine extends Moved, Stated {
  readonly transactionId: string
}

/** A line of an instruction that is accepted and not executed; `at`: when it was accepted. */
export interface AcceptedLine extends AcceptedInstruction, Stated {}

/** A ledger entry on the rail's account. */
export interface BookedMovement extends Moved {
  /** The ledger entry's id. */
  readonly id: string
  readonly at: Instant
  /** Posted by a discrepancy that was settled as `undo`: the movement did not happen. */
  readonly undone: boolean
}

/** From `from` inclusive to `to` exclusive. */
export interface Period {
  readonly from: Instant
  readonly to: Instant
}

export const isIn = ({ from, to }: Period, at: Instant): boolean => at >= from && at < to
