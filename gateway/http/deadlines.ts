/**
 * Deadlines for many entries that all get the same time.
 *
 * - Every entry waits equally long, so arrival order is expiry order. A check costs only what has
 *   expired, and no entry has a timer of its own.
 * - An entry is reported once, at `withinMs` after it was added or at most a tenth of that later.
 *
 * The entries form a linked list, oldest first. A Map that is filled and emptied thousands of times
 * a second costs more than all other work of a request.
 */
import { plus, type Clock, type Instant } from '../../src/base/clock.js'

/** The list links of an entry. Only this file uses them. */
export interface DeadlineEntry<Entry> {
  /** The queue that holds the entry, if any. */
  queue: object | undefined
  due: Instant
  earlier: Entry | undefined
  later: Entry | undefined
}

export interface Deadlines<Entry> {
  /** The entry must not be in a queue. */
  add(entry: Entry): void
  /** Does nothing when the entry is not in this queue. */
  delete(entry: Entry): void
  readonly size: number
  /** Stops checking. Remaining entries are never reported. */
  stop(): void
}

export function createDeadlines<Entry extends DeadlineEntry<Entry>>(
  withinMs: number,
  clock: Clock,
  onLate: (entry: Entry) => void,
): Deadlines<Entry> {
  const queue = {}
  let oldest: Entry | undefined
  let newest: Entry | undefined
  let size = 0

  const add = (entry: Entry): void => {
    entry.queue = queue
    entry.due = plus(clock.now(), withinMs)
    entry.earlier = newest
    if (newest === undefined) oldest = entry
    else newest.later = entry
    newest = entry
    size += 1
  }

  const remove = (entry: Entry): void => {
    if (entry.queue !== queue) return
    const { earlier, later } = entry
    if (earlier === undefined) oldest = later
    else earlier.later = later
    if (later === undefined) newest = earlier
    else later.earlier = earlier
    entry.queue = entry.earlier = entry.later = undefined
    size -= 1
  }

  const expire = (): void => {
    const now = clock.now()
    while (oldest !== undefined && oldest.due <= now) {
      const late = oldest
      remove(late)
      onLate(late)
    }
  }

  const checking = setInterval(expire, Math.max(1, withinMs / 10))
  return {
    add,
    delete: remove,
    get size() {
      return size
    },
    stop: () => clearInterval(checking),
  }
}
