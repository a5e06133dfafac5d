/**
 * Calls that are held in the gateway until the processor has room for them.
 *
 * Owns: how many commands the processor may have at a time, whose turn it is next. Does not own:
 * counting them, how many may be held (standing_queue), what they are told then (call).
 *
 * B1. The processor gets ROOM_MIN commands, and one more for each GROWS_AFTER that it answers while
 *     calls are held: callers who wait for answers soon fill its pipeline, and of a flood it has
 *     little when that is noticed. Once it has next to nothing to do, it gets as few as before.
 * B2. A call is held before it is looked at, as that is what costs: nothing of it was used when it
 *     is refused, neither its nonce nor its key of idempotency.
 * B3. Lanes take turns, in each of them who came first goes first. So a partner with a thousand
 *     calls delays another one's single call by one.
 * B4. In its turn a call is served as if it came now. One that was answered meanwhile, as it was
 *     late, or whose client has gone, is not.
 */
import { assert } from '../src/base/assert.js'
import { SLICE_MAX } from '../src/base/bounds.js'
import type { Instant } from '../src/base/clock.js'
import { createFairQueue } from '../src/base/fair_queue.js'
import type { Exchange } from './exchange.js'
import type { Lane } from './lanes.js'
import type { StandingQueue } from './standing_queue.js'

/** A slice of the cycle, and a group of a commit meanwhile. */
export const ROOM_MIN = 2 * SLICE_MAX
/** More do not make groups cheaper. */
export const ROOM_MAX = 1_024
export const GROWS_AFTER = 4
const NEXT_TO_NOTHING = SLICE_MAX / 2

export interface Backlog {
  /** Whether there are calls before the next one. */
  mustHold(): boolean
  /** `serve` runs when its turn comes. */
  hold(exchange: Exchange, lane: Lane, serve: () => void): void
  /** The processor has a command. */
  sent(lane: Lane): void
  /** It is answered. `startedAt`: the request's own beginning. */
  answered(lane: Lane, startedAt: Instant): void
  /** All that are held in the lanes that flood. They will not be served. */
  drop(): Exchange[]
}

interface Held {
  readonly exchange: Exchange
  readonly lane: Lane
  readonly serve: () => void
}

export function createBacklog(queue: Omit<StandingQueue, 'verdict'>): Backlog {
  const waiting = createFairQueue<Lane, Held>()
  /** With its fraction. */
  let room = ROOM_MIN
  let goesOn = false

  const hasRoom = (): boolean => queue.entered + 1 <= room

  const goOnSoon = (): void => {
    if (goesOn || queue.held === 0) return
    goesOn = true
    // Behind all answers of one message, so that the commands of this turn travel in one, too.
    queueMicrotask(goOn)
  }

  const goOn = (): void => {
    for (let some = SLICE_MAX; some > 0 && queue.held > 0 && hasRoom(); some -= 1) {
      next().serve()
    }
    goesOn = queue.held > 0 && hasRoom()
    // These were refused: whoever comes is not kept waiting by all the others.
    if (goesOn) setImmediate(goOn)
  }

  const next = (): Held => {
    const held = waiting.next()
    assert(held !== undefined, 'a request is held')
    queue.release(held.lane)
    return held
  }

  return {
    mustHold: () => queue.held > 0 || !hasRoom(),
    hold: (exchange, lane, serve) => {
      const postponed = exchange.postpone(serve)
      if (postponed === undefined) return serve()
      waiting.add(lane, { exchange, lane, serve: postponed })
      queue.hold(lane)
    },
    sent: queue.enter,
    answered: (lane, startedAt) => {
      queue.leave(lane, startedAt)
      if (queue.held > 0) room = Math.min(ROOM_MAX, room + 1 / GROWS_AFTER)
      else if (queue.entered < NEXT_TO_NOTHING) room = ROOM_MIN
      goOnSoon()
    },
    drop: () => {
      // Found first, as each that goes changes the share of the others.
      const flooding = waiting.keys().filter((lane) => queue.floods(lane))
      room = ROOM_MIN
      return flooding.flatMap((lane) =>
        waiting.removeAll(lane).map(({ exchange }) => {
          queue.release(lane)
          return exchange
        }),
      )
    },
  }
}
