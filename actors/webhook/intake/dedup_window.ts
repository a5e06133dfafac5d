/**
 * Which events the pool has taken already, as far as memory can tell.
 *
 * Owns: the recent ids and how far back they reach. Does not own: the events on disk
 * (store/store), what a repetition means (intake/event_consumer).
 *
 * - An id above `watermark` is here exactly when it is remembered: what was on disk at the start is
 *   not above it, what came since is remembered, and it rises over what is forgotten.
 * - Ids grow with time, so it is only an old event that the disk has to be asked about.
 */
import type { EventId } from '../../../src/base/ids.js'

/** Some 10 MB in both halves. An event that comes again within minutes is among them. */
const HALF_MAX = 32_768

export interface DedupWindow {
  /** Undefined: only the disk can tell. */
  has(id: EventId): boolean | undefined
  add(id: EventId): void
}

/** @param newestOnDisk the greatest id there; empty when there is none */
export function createDedupWindow(newestOnDisk: string, halfMax = HALF_MAX): DedupWindow {
  let watermark = newestOnDisk
  let newer = new Set<EventId>()
  let older = new Set<EventId>()

  /** The older half is forgotten as a whole: taking out single ids would walk over the gaps. */
  const forgetOlder = (): void => {
    for (const id of older) if (id > watermark) watermark = id
    older = newer
    newer = new Set()
  }

  return {
    has: (id) => {
      if (newer.has(id) || older.has(id)) return true
      return id > watermark ? false : undefined
    },
    add: (id) => {
      if (newer.size >= halfMax) forgetOlder()
      newer.add(id)
    },
  }
}
