/**
 * The in-memory queue of one endpoint: its loaded deliveries, concurrency, rate and breaker.
 *
 * Does not own: scheduling between queues (webhook/pool), rows on disk (store/store).
 *
 * - Memory holds a window of the due deliveries; the others are on disk, and `dueOnDisk` is not
 *   later than the earliest of them.
 * - A delivery that waits on disk costs the pool twice the CPU of one that waits in memory. So a
 *   queue may fill half of the memory that all queues leave free: a burst to one endpoint stays in
 *   memory, and however many endpoints are slow, the next one gets some.
 * - `held` has the id of every delivery in memory until its result is on disk, so none is loaded
 *   twice.
 * - A new or failing endpoint gets one attempt at a time. Concurrency grows by one per answer, up
 *   to four, so a recovering endpoint is not overwhelmed.
 * - Attempts are limited to the endpoint's rate with a burst of one second. The next one waits at
 *   most one second, also when the clock is set back.
 */
import { SECOND, type Instant } from '../../../src/base/clock.js'
import type { DeliveryId, EndpointId } from '../../../src/base/ids.js'
import { isPutOff } from '../delivery/backoff.js'
import { CLOSED, isOpen, mayProbe, type Breaker } from './circuit_breaker.js'
import type { Endpoint } from './endpoint.js'
import type { Delivery } from '../store/store.js'

export const CONNECTIONS_PER_ENDPOINT = 4
/** Deliveries that may wait in any queue; more are not loaded from disk. */
export const ENDPOINT_QUEUE_MAX = 64
/** New deliveries that may wait in all queues together. */
export const ALL_QUEUES_MAX = 8_192
const BURST_MS = SECOND

export interface EndpointQueue {
  readonly endpointId: EndpointId
  /** The directory's latest version; undefined before the first one. */
  endpoint: Endpoint | undefined
  /** The endpoint is enabled and this pool has not requested to disable it. */
  running: boolean
  waiting: Delivery[]
  readonly held: Set<DeliveryId>
  /** Released during a load, which may have read them in their old state. */
  readonly releasedDuringLoad: Set<DeliveryId>
  loading: boolean
  dueOnDisk: Instant | null
  inFlight: number
  /** Attempts allowed in flight. */
  concurrency: number
  /** Average interval between attempts. 0 means no rate limit. */
  readonly gapMs: number
  /** The instant up to which the attempts so far have used the rate. */
  spentUntil: number
  tier: 'unknown' | 'fast' | 'slow'
  breaker: Breaker
  /** A status was received from its current URL since this process started. */
  hasAnswered: boolean
  failingSince: Instant | null
  /** The last failure since then, to the hour. Null if it is not known. */
  failedAt: Instant | null
  /** It is in the pool's fair queue, at most once. */
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
  releasedDuringLoad: new Set(),
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
  failedAt: null,
  isQueued: false,
})

/** Whether the endpoint allows the first delivery of the queue to start now. */
export function mayStart(queue: EndpointQueue, now: Instant): boolean {
  if (!queue.running || queue.waiting.length === 0) return false
  if (isOpen(queue.breaker)) return queue.inFlight === 0 && mayProbe(queue.breaker, now)
  // More than a burst ahead of now only when the clock was set back.
  queue.spentUntil = Math.min(queue.spentUntil, now + BURST_MS)
  return queue.inFlight < queue.concurrency && queue.spentUntil + queue.gapMs - now <= BURST_MS
}

/** Charges an attempt that starts now to the rate. */
export function spend(queue: EndpointQueue, now: Instant): void {
  queue.spentUntil = Math.max(queue.spentUntil, now) + queue.gapMs
}

/** After an answer, fast or slow. */
export function noteSuccess(queue: EndpointQueue, late: boolean): void {
  queue.tier = late ? 'slow' : 'fast'
  queue.concurrency = Math.min(queue.concurrency + 1, CONNECTIONS_PER_ENDPOINT)
}

/** After a failure, or while an attempt is slow. */
export function treatAsSlow(queue: EndpointQueue): void {
  queue.tier = 'slow'
  queue.concurrency = 1
}

/** Treats the endpoint as a new one. */
export function resetHealth(queue: EndpointQueue): void {
  queue.breaker = CLOSED
  queue.hasAnswered = false
  queue.tier = 'unknown'
  queue.concurrency = 1
}

/**
 * Whether a new delivery may wait in memory; due deliveries on disk go first.
 *
 * @param inAll deliveries that wait in all queues
 */
export function mayTake(queue: EndpointQueue, { context }: Delivery, inAll: number): boolean {
  const max = Math.max(ENDPOINT_QUEUE_MAX, (ALL_QUEUES_MAX - inAll) / 2)
  if (!queue.running || isOpen(queue.breaker) || queue.waiting.length >= max) return false
  return queue.dueOnDisk === null || context.dueAt === null || queue.dueOnDisk > context.dueAt
}

/** Whether deliveries are to be loaded from disk. */
export function mayLoad(queue: EndpointQueue, now: Instant): boolean {
  if (!queue.running || queue.loading || queue.dueOnDisk === null) return false
  if (isOpen(queue.breaker)) {
    return queue.waiting.length === 0 && queue.inFlight === 0 && mayProbe(queue.breaker, now)
  }
  const isDue = queue.dueOnDisk <= now || isPutOff(queue.dueOnDisk, now)
  return isDue && queue.waiting.length <= ENDPOINT_QUEUE_MAX / 2
}

/** Records that a delivery on disk is due at this instant. */
export function dueOnDisk(queue: EndpointQueue, at: Instant | null): void {
  if (at !== null && (queue.dueOnDisk === null || at < queue.dueOnDisk)) queue.dueOnDisk = at
}

/** Before a read of the disk: what is recorded from now on may not be in it. */
export function clearDueOnDisk(queue: EndpointQueue): void {
  queue.dueOnDisk = null
}

/** Drops the waiting deliveries from memory; they are also on disk. @returns their number */
export function unload(queue: EndpointQueue): number {
  const count = queue.waiting.length
  for (const delivery of queue.waiting) {
    release(queue, delivery.id)
    dueOnDisk(queue, delivery.context.dueAt)
  }
  queue.waiting = []
  return count
}

export function release(queue: EndpointQueue, id: DeliveryId): void {
  queue.held.delete(id)
  if (queue.loading) queue.releasedDuringLoad.add(id)
}
