/**
 * One deadline for many things that all get the same time.
 *
 * Owns: noticing what is late. Does not own: what then happens to it.
 *
 * - All wait equally long, so the order of arrival is the order of lateness: a look costs what is
 *   late, and no thing has a timer of its own.
 * - A thing is reported once, `withinMs` after it was added and at most a tenth later.
 *
 * The things themselves are linked into a line, oldest first. A Map in its place, filled and
 * emptied thousands of times a second, spends more on its own upkeep than the rest of a request
 * costs.
 */
import { plus, type Clock, type Instant } from '../../src/base/clock.js'

/** A thing's place in a line. Only this file touches it. */
export interface Waits<Thing> {
  /** The line it stands in, if any. */
  line: object | undefined
  due: Instant
  earlier: Thing | undefined
  later: Thing | undefined
}

export interface Deadlines<Thing> {
  /** The thing stands in no line yet. */
  add(thing: Thing): void
  /** Does nothing when the thing does not stand in this line. */
  delete(thing: Thing): void
  readonly size: number
  /** Stops looking. Things still waiting are never reported. */
  stop(): void
}

export function createDeadlines<Thing extends Waits<Thing>>(
  withinMs: number,
  clock: Clock,
  onLate: (thing: Thing) => void,
): Deadlines<Thing> {
  const line = {}
  let oldest: Thing | undefined
  let newest: Thing | undefined
  let size = 0

  const add = (thing: Thing): void => {
    thing.line = line
    thing.due = plus(clock.now(), withinMs)
    thing.earlier = newest
    if (newest === undefined) oldest = thing
    else newest.later = thing
    newest = thing
    size += 1
  }

  const remove = (thing: Thing): void => {
    if (thing.line !== line) return
    const { earlier, later } = thing
    if (earlier === undefined) oldest = later
    else earlier.later = later
    if (later === undefined) newest = earlier
    else later.earlier = earlier
    thing.line = thing.earlier = thing.later = undefined
    size -= 1
  }

  const look = (): void => {
    const now = clock.now()
    while (oldest !== undefined && oldest.due <= now) {
      const late = oldest
      remove(late)
      onLate(late)
    }
  }

  const looking = setInterval(look, Math.max(1, withinMs / 10))
  return {
    add,
    delete: remove,
    get size() {
      return size
    },
    stop: () => clearInterval(looking),
  }
}
