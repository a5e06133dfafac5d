/**
 * Decides when a candidate takes over a lease.
 *
 * Does not own: the looks (postgres/lease_wait); the take-over, which is conditional on the owner
 * row that was read (postgres/lease). A wrong decision here costs a restart, never a commit.
 *
 * - A lease whose holder is this candidate's predecessor is taken once its session has ended: it
 *   had the lock of the data directory that this candidate has now, unless that was copied.
 * - A released lease is taken at once by the processor that the move names, by any when there is no
 *   move.
 * - An owner whose database session has ended can neither commit nor answer: its lease is taken
 *   after RESTART_WITHIN_MS, so its own restart comes first. This candidate must have seen the
 *   session open in the same epoch, because on a promoted standby no session of a former primary is
 *   open, and its owner may still answer reads.
 * - Any lease is taken when it has not changed for LEASE_TIMEOUT_MS, by this machine's monotonic
 *   clock.
 * - A shard that was never served is taken at once by its member, and by any other candidate after
 *   the same time.
 */
import { SECOND } from '../../base/clock.js'
import { isSameFolder } from './holder.js'
import { LEASE_TIMEOUT_MS, type SeenOwner } from './lease.js'

export const RESTART_WITHIN_MS = 2 * SECOND

/** A lease as a candidate has seen it. */
export interface SeenLease extends SeenOwner {
  readonly shard: string
  /** Whether the session of the owner's commits is open. */
  readonly isConnected: boolean
  /** The processor that the shard moves to. Null if it does not move. */
  readonly moveTo: string | null
}

export interface LeaseWatch {
  /** Called with each reading of the lease. @returns whether to take over now */
  isTakeable(seen: SeenLease): boolean
}

export interface Candidate {
  readonly name: string
  /** The holder that it writes. */
  readonly holder: string
  /** Leaves a new shard to another processor first. */
  readonly isSpare: boolean
}

/** @param elapsed monotonic, milliseconds */
export function createLeaseWatch(
  { name, holder: own, isSpare }: Candidate,
  elapsed: () => number,
): LeaseWatch {
  let last = ''
  let unchangedSince = 0
  let openIn: number | undefined
  let disconnectedSince: number | undefined
  return {
    isTakeable: ({ epoch, holder, beat, isConnected, moveTo }) => {
      const now = elapsed()
      const state = `${epoch} ${beat} ${holder}`
      if (state !== last) {
        last = state
        unchangedSince = now
        disconnectedSince = undefined
      }
      if (isConnected) {
        openIn = epoch
        disconnectedSince = undefined
      } else if (openIn === epoch) disconnectedSince ??= now
      if (isSameFolder(holder, own) && !isConnected) return true
      if (now - unchangedSince >= LEASE_TIMEOUT_MS) return true
      if (holder === '') return moveTo === null ? epoch > 0 || !isSpare : moveTo === name
      return disconnectedSince !== undefined && now - disconnectedSince >= RESTART_WITHIN_MS
    },
  }
}
