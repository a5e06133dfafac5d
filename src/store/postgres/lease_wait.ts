/**
 * A candidate's wait for a lease: it looks again and again, and takes the first one that it may.
 *
 * Does not own: when a lease may be taken (postgres/lease_watch), the take-over (postgres/lease).
 */
import type { Pause } from '../../base/clock.js'
import type { Connection } from './connection.js'
import { isSameFolder } from './holder.js'
import {
  HEARTBEAT_MS,
  isOwnerConnected,
  readOwner,
  takeOver,
  type Ownership,
  type TakeOverOptions,
} from './lease.js'
import { createLeaseWatch, type LeaseWatch, type SeenLease } from './lease_watch.js'

export interface LeaseWait<Seen extends SeenLease, Owned> {
  /** Reads the leases, in the order in which it takes them. */
  readonly look: () => Promise<readonly Seen[]>
  /** Decides when this lease may be taken. */
  readonly watchOf: (shard: string) => LeaseWatch
  /** @returns undefined when it was not taken */
  readonly take: (seen: Seen) => Promise<Owned | undefined>
  /** Called after a look that took none. @param looks before this one */
  readonly onLook: (looks: number, seen: readonly Seen[]) => void | Promise<void>
  readonly lookEveryMs: number
  readonly pause: Pause
}

export async function awaitLease<Seen extends SeenLease, Owned>(
  wait: LeaseWait<Seen, Owned>,
): Promise<Owned> {
  const watches = new Map<string, LeaseWatch>()
  const watchOf = (shard: string): LeaseWatch => {
    const watch = watches.get(shard) ?? wait.watchOf(shard)
    watches.set(shard, watch)
    return watch
  }
  for (let looks = 0; ; looks++) {
    const seen = await wait.look()
    // Each watch is updated, also that of a lease later in the order.
    const takeable = seen.filter((each) => watchOf(each.shard).isTakeable(each))
    for (const each of takeable) {
      const owned = await wait.take(each)
      if (owned !== undefined) return owned
    }
    await wait.onLook(looks, seen)
    await wait.pause(wait.lookEveryMs)
  }
}

export interface LeaseOptions extends TakeOverOptions {
  /** Monotonic, milliseconds. */
  readonly elapsed: () => number
  /** The same server, with a bound for each answer. Default: `connection`. */
  readonly looks?: Pick<Connection, 'all'>
  /** Called now and then while it waits. @throws NoAnswer when another server was promoted */
  readonly checkServer?: () => Promise<void>
  /** Called once when another process owns the books. */
  readonly onWaiting?: () => void | Promise<void>
}

/** Looks between two checks of the server. */
const CHECK_EVERY = 5

/** Waits as a candidate of this one schema until this process owns it. */
export function acquireLease(options: LeaseOptions): Promise<Ownership> {
  const { connection, holder, elapsed, pause, onWaiting = () => undefined, log } = options
  const { looks = connection, checkServer = () => Promise.resolve() } = options
  let count = 0
  return awaitLease<SeenLease, Ownership>({
    look: async () => {
      count += 1
      if (count % CHECK_EVERY === 0) await checkServer()
      const owner = await readOwner(looks)
      // Only a predecessor's session is asked for: other owners have the whole timeout.
      const isPredecessor = isSameFolder(owner.holder, holder)
      const isConnected = !isPredecessor || (await isOwnerConnected(looks, owner))
      return [{ ...owner, isConnected, shard: '', moveTo: null }]
    },
    watchOf: () => createLeaseWatch({ name: '', holder, isSpare: false }, elapsed),
    take: (seen) => takeOver(options, seen),
    onLook: async (before, [seen]) => {
      if (before > 0 || seen === undefined) return
      if (seen.holder === '' || isSameFolder(seen.holder, holder)) return
      log.info({ holder: seen.holder }, 'candidate: the books have an owner')
      await onWaiting()
    },
    lookEveryMs: HEARTBEAT_MS,
    pause,
  })
}
