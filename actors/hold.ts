/**
 * The hold of a payment that is not submitted, because it equals an orphan execution: a reviewer
 * decides.
 */
import type { Instant } from '../src/base/clock.js'

export interface Hold {
  /** Id of the instruction that the rail has executed or accepted. */
  readonly orphan: string
  /** Without a decision the payment fails then. */
  readonly until: Instant
  readonly approvedAt?: Instant
}

/** Whether a reviewer has not decided yet. */
export const isHeld = ({ heldFor }: { readonly heldFor?: Hold }): boolean =>
  heldFor !== undefined && heldFor.approvedAt === undefined
