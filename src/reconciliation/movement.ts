/**
 * A movement: money that a rail took out for us, or brought back.
 *
 * Owns: the words of both sides. Does not own: where they come from (the rail's statement, our
 * books), what is made of them (compare).
 */
import type { Instant } from '../base/clock.js'

export const MOVEMENTS = ['executed', 'returned'] as const
export type MovementKind = (typeof MOVEMENTS)[number]

interface Moved {
  /** What was ordered: the id of our payment. */
  readonly instruction: string
  readonly movement: MovementKind
  /** As it is written there; the rail's need not be one of ISO 4217. */
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
  /** Of the file, from 1. */
  readonly line: number
  /** What only some statements tell. Empty: this one does not. */
  readonly details?: StatementDetails
}

/** An entry on the rail's account in our books. */
export interface BookedMovement extends Moved {
  /** The ledger's own. */
  readonly id: string
  readonly at: Instant
  /** A discrepancy's, which was undone: we hold that it did not happen after all, or came back. */
  readonly undone: boolean
}

/** From `from` on, before `to`. */
export interface Period {
  readonly from: Instant
  readonly to: Instant
}

export const isIn = ({ from, to }: Period, at: Instant): boolean => at >= from && at < to
