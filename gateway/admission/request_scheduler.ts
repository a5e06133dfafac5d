/**
 * Calls that are held in the gateway until the processor has room for them.
 *
 * Owns: how many commands the processor may have at a time, whose turn it is next. Does not own:
 * counting them, how many may be held (load_shedder), what they are told then (request_handler).
 *
 * - The processor gets CAPACITY_MIN commands, and one more for each GROWS_AFTER that it answers
 *   while calls are held: callers who wait for answers soon fill its pipeline, and of a flood it
 *   has little when that is noticed. Once it has next to nothing to do, it gets as few as before.
 * - A call is held before it is looked at, as that is what costs: nothing of it was used when it
 *   is refused, neither its nonce nor its key of idempotency.
 * - Traffic classes take turns, in each of them who came first goes first. So a partner with a
 *   thousand calls delays another one's single call by one.
 * - In its turn a call is served as if it came now. One that was answered meanwhile, as it was
 *   late, or whose client has gone, is not.
 */
import { assert } from '../../src/base/assert.js'
import { DECIDE_CHUNK_MAX } from '../../src/base/constants.js'
import type { Instant } from '../../src/base/clock.js'
import { createFairQueue } from '../../src/base/fair_queue.js'
import type { RequestContext } from '../http/request_context.js'
import type { TrafficClass } from './traffic_class.js'
import type { LoadShedder } from './load_shedder.js'

/** A slice of the cycle, and a group of a commit meanwhile. */
export const CAPACITY_MIN = 2 * DECIDE_CHUNK_MAX
/** More do not make groups cheaper. */
export const CAPACITY_MAX = 1_024
export const GROWS_AFTER = 4
const NEXT_TO_NOTHING = DECIDE_CHUNK_MAX / 2

export interface RequestScheduler {
  /** Whether there are calls before the next one. */
  mustHold(): boolean
  /** `serve` runs when its turn comes. */
  hold(request: RequestContext, trafficClass: TrafficClass, serve: () => void): void
  /** The processor has a command. */
  sent(trafficClass: TrafficClass): void
  /** It is answered. `startedAt`: the request's own beginning. */
  answered(trafficClass: TrafficClass, startedAt: Instant): void
  /** All that are held in the traffic classes that flood. They will not be served. */
  drop(): RequestContext[]
}

interface Held {
  readonly request: RequestContext
  readonly trafficClass: TrafficClass
  readonly serve: () => void
}

export function createRequestScheduler(shedder: Omit<LoadShedder, 'admission'>): RequestScheduler {
  const waiting = createFairQueue<TrafficClass, Held>()
  /** With its fraction. */
  let capacity = CAPACITY_MIN
  let isDispatching = false

  const hasCapacity = (): boolean => shedder.entered + 1 <= capacity

  const dispatchSoon = (): void => {
    if (isDispatching || shedder.held === 0) return
    isDispatching = true
    // Behind all answers of one message, so that the commands of this turn travel in one, too.
    queueMicrotask(dispatch)
  }

  const dispatch = (): void => {
    for (let some = DECIDE_CHUNK_MAX; some > 0 && shedder.held > 0 && hasCapacity(); some -= 1) {
      next().serve()
    }
    isDispatching = shedder.held > 0 && hasCapacity()
    // These were refused: whoever comes is not kept waiting by all the others.
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
      else if (shedder.entered < NEXT_TO_NOTHING) capacity = CAPACITY_MIN
      dispatchSoon()
    },
    drop: () => {
      // Found first, as each that goes changes the share of the others.
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
