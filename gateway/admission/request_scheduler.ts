/**
 * Holds signed requests in the gateway until the processor has capacity, and releases them fairly.
 *
 * Owns: how many commands the processor may have, the order of held requests. Does not own:
 * counting, how many may be held (load_shedder.ts), rejections (request_handler.ts).
 *
 * - The processor gets CAPACITY_MIN commands, plus one for every GROWS_AFTER answers while requests
 *   are held. Closed-loop callers thus fill its pipeline quickly, and a flood puts few commands
 *   into it before shedding begins. Below IDLE_BELOW commands the capacity returns to CAPACITY_MIN.
 * - A request is held before any other work on it: a rejected one has used neither its nonce nor
 *   its idempotency key.
 * - Traffic classes alternate; within a class the order is first in, first out. A partner with a
 *   thousand held requests delays another partner's single request by one.
 * - A released request is served as if it had just arrived. One that already timed out, or whose
 *   client disconnected, is skipped.
 */
import { assert } from '../../src/base/assert.js'
import { DECIDE_CHUNK_MAX } from '../../src/base/constants.js'
import type { Instant } from '../../src/base/clock.js'
import { createFairQueue } from '../../src/base/fair_queue.js'
import type { RequestContext } from '../http/request_context.js'
import type { TrafficClass } from './traffic_class.js'
import type { LoadShedder } from './load_shedder.js'

/** One decide chunk, and one commit batch in the meantime. */
export const CAPACITY_MIN = 2 * DECIDE_CHUNK_MAX
/** More commands do not make commits cheaper. */
export const CAPACITY_MAX = 1_024
export const GROWS_AFTER = 4
const IDLE_BELOW = DECIDE_CHUNK_MAX / 2

export interface RequestScheduler {
  /** Whether the next request must be held. */
  mustHold(): boolean
  /** Calls `serve` when the request is released. */
  hold(request: RequestContext, trafficClass: TrafficClass, serve: () => void): void
  /** A command was sent to the processor. */
  sent(trafficClass: TrafficClass): void
  /** The command is answered. `startedAt` is when its request began. */
  answered(trafficClass: TrafficClass, startedAt: Instant): void
  /** Removes and returns the requests held in the flooding traffic classes. */
  drop(): RequestContext[]
}

interface Held {
  readonly request: RequestContext
  readonly trafficClass: TrafficClass
  readonly serve: () => void
}

export function createRequestScheduler(shedder: Omit<LoadShedder, 'admission'>): RequestScheduler {
  const waiting = createFairQueue<TrafficClass, Held>()
  /** Fractional. */
  let capacity = CAPACITY_MIN
  let isDispatching = false

  const hasCapacity = (): boolean => shedder.entered + 1 <= capacity

  const dispatchSoon = (): void => {
    if (isDispatching || shedder.held === 0) return
    isDispatching = true
    // After all replies of one message, so the commands released together travel in one message.
    queueMicrotask(dispatch)
  }

  const dispatch = (): void => {
    for (let left = DECIDE_CHUNK_MAX; left > 0 && shedder.held > 0 && hasCapacity(); left -= 1) {
      next().serve()
    }
    isDispatching = shedder.held > 0 && hasCapacity()
    // Capacity remains because these were rejected: yield to the event loop before the next ones.
    if (isDispatching) setImmediate(dispatch)
  }

  const next = (): Held => {
    const held = waiting.next()
    assert(held !== undefined, 'a request is held')
    shedder.release(held.trafficClass)
    return held
  }

  return {
    mustHold: () => shedder.held > 0 || !hasCapacity(),
    hold: (request, trafficClass, serve) => {
      const postponed = request.postpone(serve)
      if (postponed === undefined) return serve()
      waiting.add(trafficClass, { request, trafficClass, serve: postponed })
      shedder.hold(trafficClass)
    },
    sent: shedder.enter,
    answered: (trafficClass, startedAt) => {
      shedder.leave(trafficClass, startedAt)
      if (shedder.held > 0) capacity = Math.min(CAPACITY_MAX, capacity + 1 / GROWS_AFTER)
      else if (shedder.entered < IDLE_BELOW) capacity = CAPACITY_MIN
      dispatchSoon()
    },
    drop: () => {
      // Collected first: each removal changes the share of the others.
      const flooding = waiting.keys().filter((trafficClass) => shedder.floods(trafficClass))
      capacity = CAPACITY_MIN
      return flooding.flatMap((trafficClass) =>
        waiting.removeAll(trafficClass).map(({ request }) => {
          shedder.release(trafficClass)
          return request
        }),
      )
    },
  }
}
