/**
 * A movement: money that a rail paid out for us or returned.
 *
 * Owns: the types of both sides. Does not own: their sources (statement, ledger), the comparison
 * (compare).
 */
import type { Instant } from '../base/clock.js'

export const MOVEMENTS = ['executed', 'returned'] as const
export type MovementKind = (typeof MOVEMENTS)[number]

interface Moved {
  /** The id of our payment. */
  readonly instruction: string
  readonly movement: MovementKind
  /** As written; the rail's may not be in ISO 4217. */
  readonly currency: string
  /** Minor units, positive. */
  readonly amount: bigint
}

export interface StatementDetails {
  readonly environment: string
  readonly purpose: string
  readonly destinationAccount: string
  readonly reference: string
}

/** A line of the rail's statement. */
export interface StatementLine extends Moved {
  readonly transactionId: string
  readonly at: Instant
  /** The line number in the file, from 1. */
  readonly line: number
  /** Optional columns; a cell that is absent is empty. */
  readonly details?: StatementDetails
}

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
