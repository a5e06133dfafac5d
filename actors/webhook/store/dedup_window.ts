/**
 * The deduplication window: recent event ids in memory, in front of the events on disk.
 *
 * - Every stored id above `watermark` is in memory: ids on disk at the start are not above it, and
 *   evicting ids raises it.
 * - Ids grow with time, so only an old event needs a query on disk.
 */
import type { EventId } from '../../../src/base/ids.js'

/** About 10 MB in both halves; holds the events of several minutes. */
const HALF_MAX = 32_768

export interface DedupWindow {
  /** Undefined means that the event has to be looked up on disk. */
  has(id: EventId): boolean | undefined
  add(id: EventId): void
}

/** @param newestOnDisk the greatest stored id; empty means none */
export function createDedupWindow(newestOnDisk: string, halfMax = HALF_MAX): DedupWindow {
  let watermark = newestOnDisk
  let newer = new Set<EventId>()
  let older = new Set<EventId>()

  /** Evicts the older half at once: deleting single ids from a Set leaves gaps to walk over. */
  const evictOlder = (): void => {
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
      if (newer.size >= halfMax) evictOlder()
      newer.add(id)
    },
  }
}
