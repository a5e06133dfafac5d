/**
 * What follows from a transition, as data.
 *
 * A machine never acts: it emits outputs, and the processor turns them into rows of the same
 * commit (postings, events) or into orders that leave after it (rail). Timers are not emitted:
 * `wakeAt` in the context is the timer.
 */
import type { PlanName } from '../src/ledger/plans.js'

export type MachineOutput =
  /** Post the plan's lines with the amounts of this entity. */
  | { readonly type: 'post'; readonly plan: PlanName }
  /** Write one event with the public projection at this very moment. */
  | { readonly type: 'publish'; readonly event: string }
  /** Send the instruction to the rail once the commit is on disk. */
  | { readonly type: 'instruct' }
  /** Ask the rail what became of the instruction. */
  | { readonly type: 'query' }
  /** Ask the rail for the money back. */
  | { readonly type: 'recall' }
  /** Count the confirmation against the user's limits. */
  | { readonly type: 'useLimits' }
  /** Give back what the confirmation used of the user's limits. */
  | { readonly type: 'releaseLimits' }
