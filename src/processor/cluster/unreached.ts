/**
 * Decides when an owner that no gateway reaches gives its shard up.
 *
 * Does not own: the move itself (cluster/member), the ownership, which the fence decides.
 *
 * - It gives up only when gateways reach a candidate that can take the shard, and that has been so
 *   without a break for GIVE_UP_AFTER_MS. Gateways that are down, or that restart, move nothing.
 * - Of several candidates it names the one that most gateways reach.
 */
import { SECOND } from '../../base/clock.js'
import type { WaitingProcessor } from '../../store/cluster/waiting.js'

/** Gateways need a second to connect to an owner, and longer on a busy machine. */
export const GIVE_UP_AFTER_MS = 5 * SECOND

export interface UnreachedWatch {
  /**
   * Called with each reading.
   *
   * @param gateways that are connected to the owner
   * @param candidates those that can take the shard
   */
  look(gateways: number, candidates: readonly WaitingProcessor[]): void
  /** The candidate that gateways reach instead, as of the last reading. Undefined if none is. */
  reached(): WaitingProcessor | undefined
  /** Whether the shard is to be given up. */
  isDue(): boolean
}

/** @param elapsed monotonic, milliseconds */
export function createUnreachedWatch(elapsed: () => number): UnreachedWatch {
  let since: number | undefined
  let reached: WaitingProcessor | undefined
  return {
    look: (gateways, candidates) => {
      reached = gateways > 0 ? undefined : mostReached(candidates)
      since = reached === undefined ? undefined : (since ?? elapsed())
    },
    reached: () => reached,
    isDue: () => since !== undefined && elapsed() - since >= GIVE_UP_AFTER_MS,
  }
}

const mostReached = (candidates: readonly WaitingProcessor[]): WaitingProcessor | undefined =>
  candidates
    .filter(({ gateways }) => gateways > 0)
    .reduce<WaitingProcessor | undefined>(
      (best, each) => (best === undefined || each.gateways > best.gateways ? each : best),
      undefined,
    )
