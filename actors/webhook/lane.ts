/**
 * A lane: the deliveries of one endpoint that are in memory, and what its last answers say about
 * it.
 *
 * Owns: the lane's bounds and whether it may start another delivery. Does not own: whose turn it is
 * (webhook/pool), rows on disk (webhook/store).
 *
 * L1. Memory holds a window of what is due; the rest is on disk and `dueOnDisk` is not later than
 *     the first of it.
 * L2. `held` names every delivery that is in memory in any way, until its result is on disk: it is
 *     not loaded twice.
 * L3. An endpoint that is not known yet, or failed last time, takes one at a time. Each answer adds
 *     one, up to four: one that comes back is not met by all that has waited for it.
 * L4. Tries leave at the endpoint's rate at most; a second's worth may leave at once. The next
 *     one waits for a second at most, also when the clock is set back.
 */
import { SECOND, type Instant } from '../../src/base/clock.js'
import type { DeliveryId, EndpointId } from '../../src/base/ids.js'
import { CLOSED, isOpen, mayProbe, type Breaker } from './breaker.js'
import type { Endpoint } from './endpoint.js'
import { CONNECTIONS_PER_ENDPOINT } from './sender.js'
import type { Delivery } from './store.js'

export const LANE_MAX = 64
const BURST_MS = SECOND

export interface Lane {
  readonly endpointId: EndpointId
  /** As the directory told last; undefined before it did. */
  endpoint: Endpoint | undefined
  /** The endpoint is enabled, and we have not asked for it to be disabled. */
  running: boolean
  queue: Delivery[]
  readonly held: Set<DeliveryId>
  /** Let go while a load was under way: the load may have seen them as they were before. */
  readonly releasedMeanwhile: Set<DeliveryId>
  loading: boolean
  dueOnDisk: Instant | null
  inFlight: number
  /** How many it takes at once (L3). */
  allowed: number
  /** Between two tries in the long run; 0: as fast as it answers (L4). */
  readonly gapMs: number
  /** Up to here the tries so far have used its rate. */
  spentUntil: number
  trust: 'unknown' | 'prompt' | 'suspect'
  breaker: Breaker
  /** Some status came from it, as it is registered now and as far as this process knows. */
  hasAnswered: boolean
  failingSince: Instant | null
  /** It waits for its turn: it is in a queue once. */
  inLine: boolean
}

export const newLane = (
  endpointId: EndpointId,
  failingSince: Instant | null,
  gapMs: number,
): Lane => ({
  endpointId,
  endpoint: undefined,
  running: false,
  queue: [],
  held: new Set(),
  releasedMeanwhile: new Set(),
  loading: false,
  dueOnDisk: null,
  inFlight: 0,
  allowed: 1,
  gapMs,
  spentUntil: 0,
  trust: 'unknown',
  breaker: CLOSED,
  hasAnswered: false,
  failingSince,
  inLine: false,
})

/** May the first delivery of the queue leave now, as far as the endpoint is concerned? */
export function mayStart(lane: Lane, now: Instant): boolean {
  if (!lane.running || lane.queue.length === 0) return false
  if (isOpen(lane.breaker)) return lane.inFlight === 0 && mayProbe(lane.breaker, now)
  // More than a burst is never spent ahead, except by a clock that is set back since.
  lane.spentUntil = Math.min(lane.spentUntil, now + BURST_MS)
  return lane.inFlight < lane.allowed && lane.spentUntil + lane.gapMs - now <= BURST_MS
}

/** A try leaves now. */
export function spend(lane: Lane, now: Instant): void {
  lane.spentUntil = Math.max(lane.spentUntil, now) + lane.gapMs
}

/** It has answered, at once or late. */
export function trust(lane: Lane, late: boolean): void {
  lane.trust = late ? 'suspect' : 'prompt'
  lane.allowed = Math.min(lane.allowed + 1, CONNECTIONS_PER_ENDPOINT)
}

/** It has failed, or takes its time. */
export function suspect(lane: Lane): void {
  lane.trust = 'suspect'
  lane.allowed = 1
}

/** Nothing is known of it any more. */
export function startAnew(lane: Lane): void {
  lane.breaker = CLOSED
  lane.hasAnswered = false
  lane.trust = 'unknown'
  lane.allowed = 1
}

/** May a new delivery wait in memory? Those that are due and on disk already go first. */
export function mayTake(lane: Lane, { context }: Delivery): boolean {
  if (!lane.running || isOpen(lane.breaker) || lane.queue.length >= LANE_MAX) return false
  return lane.dueOnDisk === null || context.dueAt === null || lane.dueOnDisk > context.dueAt
}

/** Is there something to fetch from disk, and a use for it? */
export function mayLoad(lane: Lane, now: Instant): boolean {
  if (!lane.running || lane.loading || lane.dueOnDisk === null) return false
  if (isOpen(lane.breaker)) {
    return lane.queue.length === 0 && lane.inFlight === 0 && mayProbe(lane.breaker, now)
  }
  return lane.dueOnDisk <= now && lane.queue.length <= LANE_MAX / 2
}

/** Notes that a delivery on disk is due then. */
export function dueOnDisk(lane: Lane, at: Instant | null): void {
  if (at !== null && (lane.dueOnDisk === null || at < lane.dueOnDisk)) lane.dueOnDisk = at
}

/** Leaves everything that has not begun to the disk, where it is anyway. */
export function unload(lane: Lane): void {
  for (const delivery of lane.queue) {
    release(lane, delivery.id)
    dueOnDisk(lane, delivery.context.dueAt)
  }
  lane.queue = []
}

export function release(lane: Lane, id: DeliveryId): void {
  lane.held.delete(id)
  if (lane.loading) lane.releasedMeanwhile.add(id)
}
