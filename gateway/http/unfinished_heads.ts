/**
 * The deadline of a connection's first request head while connections are scarce.
 *
 * uWebSockets.js allows an unfinished head about ten seconds. It reports the end of a connection
 * through the response object of its opening, but only until the first request of the connection:
 * from then on that object must not be used. It does not report which connection a request uses.
 *
 * - A connection is watched from its opening until it ends or any connection of the same address
 *   completes a head. A watched connection therefore never had a request.
 * - An address that completes heads keeps the longer deadline; the connection limit bounds it.
 */
import type { Clock } from '../../src/base/clock.js'
import { createDeadlines, type DeadlineEntry } from './deadlines.js'

/** The response object of a connection's opening. */
interface Opening {
  /** `report` is called when the connection ends before its first request. */
  onAborted(report: () => void): unknown
}

interface Watched<Res> extends DeadlineEntry<Watched<Res>> {
  readonly res: Res
  readonly address: string
}

export interface UnfinishedHeads<Res> {
  watch(res: Res, address: string): void
  /** A connection of this address has a complete head. */
  completed(address: string): void
  /** The number of watched connections. */
  readonly size: number
  stop(): void
}

export function createUnfinishedHeads<Res extends Opening>(
  withinMs: number,
  clock: Clock,
  refuse: (res: Res) => void,
): UnfinishedHeads<Res> {
  const byAddress = new Map<string, Set<Watched<Res>>>()

  const forget = (watched: Watched<Res>): void => {
    deadlines.delete(watched)
    const others = byAddress.get(watched.address)
    others?.delete(watched)
    if (others?.size === 0) byAddress.delete(watched.address)
  }
  const deadlines = createDeadlines<Watched<Res>>(withinMs, clock, (watched) => {
    forget(watched)
    refuse(watched.res)
  })

  return {
    watch: (res, address) => {
      const watched: Watched<Res> = {
        res,
        address,
        queue: undefined,
        due: clock.now(),
        earlier: undefined,
        later: undefined,
      }
      res.onAborted(() => forget(watched))
      const others = byAddress.get(address)
      if (others === undefined) byAddress.set(address, new Set([watched]))
      else others.add(watched)
      deadlines.add(watched)
    },
    completed: (address) => {
      for (const watched of byAddress.get(address) ?? []) deadlines.delete(watched)
      byAddress.delete(address)
    },
    get size() {
      return deadlines.size
    },
    stop: () => deadlines.stop(),
  }
}
