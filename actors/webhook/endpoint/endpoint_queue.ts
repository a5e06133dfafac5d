/**
 * A queue: the deliveries of one endpoint that are in memory, and what its last answers say about
 * it.
 *
 * Owns: the queue's bounds and whether it may start another delivery. Does not own: whose turn it
 * is (webhook/pool), rows on disk (store/store).
 *
 * - Memory holds a window of what is due; the rest is on disk and `dueOnDisk` is not later than
 *   the first of it.
 * - `held` names every delivery that is in memory in any way, until its result is on disk: it is
 *   not loaded twice.
 * - An endpoint that is not known yet, or failed last time, takes one at a time. Each answer adds
 *   one, up to four: one that comes back is not met by all that has waited for it.
 * - Tries leave at the endpoint's rate at most; a second's worth may leave at once. The next
 *   one waits for a second at most, also when the clock is set back.
 */
import { SECOND, type Instant } from '../../../src/base/clock.js'
import type { DeliveryId, EndpointId } from '../../../src/base/ids.js'
import { CLOSED, isOpen, mayProbe, type Breaker } from './circuit_breaker.js'
import type { Endpoint } from './endpoint.js'
import { CONNECTIONS_PER_ENDPOINT } from '../sending/sender.js'
import type { Delivery } from '../store/store.js'

export const ENDPOINT_QUEUE_MAX = 64
const BURST_MS = SECOND

export interface EndpointQueue {
  readonly endpointId: EndpointId
  /** As the directory told last; undefined before it did. */
  endpoint: Endpoint | undefined
  /** The endpoint is enabled, and we have not asked for it to be disabled. */
  running: boolean
  waiting: Delivery[]
  readonly held: Set<DeliveryId>
  /** Let go while a load was under way: the load may have seen them as they were before. */
  readonly releasedMeanwhile: Set<DeliveryId>
  loading: boolean
  dueOnDisk: Instant | null
  inFlight: number
  /** How many it takes at once. */
  concurrency: number
  /** Between two tries in the long run; 0: as fast as it answers. */
  readonly gapMs: number
  /** Up to here the tries so far have used its rate. */
  spentUntil: number
  tier: 'unknown' | 'fast' | 'slow'
  breaker: Breaker
  /** Some status came from it, as it is registered now and as far as this process knows. */
  hasAnswered: boolean
  failingSince: Instant | null
  /** It waits for its turn: it is in a queue once. */
  isQueued: boolean
}

export const newEndpointQueue = (
  endpointId: EndpointId,
  failingSince: Instant | null,
  gapMs: number,
): EndpointQueue => ({
  endpointId,
  endpoint: undefined,
  running: false,
  waiting: [],
  held: new Set(),
  releasedMeanwhile: new Set(),
  loading: false,
  dueOnDisk: null,
  inFlight: 0,
  concurrency: 1,
  gapMs,
  spentUntil: 0,
  tier: 'unknown',
  breaker: CLOSED,
  hasAnswered: false,
  failingSince,
  isQueued: false,
})

/** May the first delivery of the queue leave now, as far as the endpoint is concerned? */
export function mayStart(queue: EndpointQueue, now: Instant): boolean {
  if (!queue.running || queue.waiting.length === 0) return false
  if (isOpen(queue.breaker)) return queue.inFlight === 0 && mayProbe(queue.breaker, now)
  // More than a burst is never spent ahead, except by a clock that is set back since.
  queue.spentUntil = Math.min(queue.spentUntil, now + BURST_MS)
  return queue.inFlight < queue.concurrency && queue.spentUntil + queue.gapMs - now <= BURST_MS
}

/** A try leaves now. */
export function spend(queue: EndpointQueue, now: Instant): void {
  queue.spentUntil = Math.max(queue.spentUntil, now) + queue.gapMs
}

/** It has answered, at once or late. */
export function raiseConcurrency(queue: EndpointQueue, late: boolean): void {
  queue.tier = late ? 'slow' : 'fast'
  queue.concurrency = Math.min(queue.concurrency + 1, CONNECTIONS_PER_ENDPOINT)
}

/** It has failed, or takes its time. */
export function resetConcurrency(queue: EndpointQueue): void {
  queue.tier = 'slow'
  queue.concurrency = 1
}

/** Nothing is known of it any more. */
export function resetHealth(queue: EndpointQueue): void {
  queue.breaker = CLOSED
  queue.hasAnswered = false
  queue.tier = 'unknown'
  queue.concurrency = 1
}

/** May a new delivery wait in memory? Those that are due and on disk already go first. */
export function mayTake(queue: EndpointQueue, { context }: Delivery): boolean {
  if (!queue.running || isOpen(queue.breaker) || queue.waiting.length >= ENDPOINT_QUEUE_MAX)
    return false
  return queue.dueOnDisk === null || context.dueAt === null || queue.dueOnDisk > context.dueAt
}

/** Is there something to fetch from disk, and a use for it? */
export function mayLoad(queue: EndpointQueue, now: Instant): boolean {
  if (!queue.running || queue.loading || queue.dueOnDisk === null) return false
  if (isOpen(queue.breaker)) {
    return queue.waiting.length === 0 && queue.inFlight === 0 && mayProbe(queue.breaker, now)
  }
  return queue.dueOnDisk <= now && queue.waiting.length <= ENDPOINT_QUEUE_MAX / 2
}

/** Notes that a delivery on disk is due then. */
export function dueOnDisk(queue: EndpointQueue, at: Instant | null): void {
  if (at !== null && (queue.dueOnDisk === null || at < queue.dueOnDisk)) queue.dueOnDisk = at
}

/** Leaves everything that has not begun to the disk, where it is anyway. */
export function unload(queue: EndpointQueue): void {
  for (const delivery of queue.waiting) {
    release(queue, delivery.id)
    dueOnDisk(queue, delivery.context.dueAt)
  }
  queue.waiting = []
}

export function release(queue: EndpointQueue, id: DeliveryId): void {
  queue.held.delete(id)
  if (queue.loading) queue.releasedMeanwhile.add(id)
}
