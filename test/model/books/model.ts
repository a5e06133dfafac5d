/**
 * The model of a tenant's books: what each call must answer and change.
 *
 * - It shares no rule with the product: rates, fees and periods are written here a second time.
 * - A noun has a file: payouts, conversions, discrepancies, approvals, the ledger.
 */
import type { ApprovalsModel } from './approvals.js'
import type { ModelQuote } from './conversions.js'
import type { ModelDiscrepancy } from './discrepancies.js'
import type { Ledger } from './ledger.js'
import type { ModelPayout } from './payouts.js'

export interface BooksModel {
  now: number
  isRailUp: boolean
  readonly ledger: Ledger
  readonly payouts: ModelPayout[]
  readonly quotes: ModelQuote[]
  /** By the facts that a rail reported. */
  readonly discrepancies: Map<string, ModelDiscrepancy>
  readonly approvals: ApprovalsModel
  /** Bound keys of operators' deposits and withdrawals, with the request. */
  readonly fundKeys: Map<string, string>
  /** `payout number, type`, in order; since the last comparison. */
  readonly events: string[]
}

/** `ok`, or the code of the refusal. */
export type Code = string

/** A change with its refusals, its effect and what it moves. */
export interface Change {
  /** Equal changes have equal keys. */
  readonly key: string
  readonly currency: string
  readonly amount: bigint
  /** Null means that it can be made now, `replayed` that it was made before. */
  refusal(): Code | null
  apply(): void
}
