/**
 * The outputs of a transition, as data.
 *
 * A machine performs no I/O: the processor turns its outputs into rows of the same commit
 * (postings, events) or into rail instructions sent after it. A timer is not an output: it is
 * `dueAt` in the context.
 */
import type { PlanName } from '../src/ledger/plans.js'

export type MachineOutput =
  /** Post the plan's lines with the entity's amounts. */
  | { readonly type: 'post'; readonly plan: PlanName }
  /** Write one event with the public view after this transition. */
  | { readonly type: 'publish'; readonly event: string }
  /** Send the instruction to the rail after the commit. */
  | { readonly type: 'instruct' }
  /** Send a status inquiry to the rail. */
  | { readonly type: 'query' }
  /** Request a recall from the rail. */
  | { readonly type: 'recall' }
  /** Count the confirmation against the user's limits. */
  | { readonly type: 'useLimits' }
  /** Release what the confirmation used of the user's limits. */
  | { readonly type: 'releaseLimits' }
