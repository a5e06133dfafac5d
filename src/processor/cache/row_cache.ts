/**
 * Write-back cache of rows by key.
 *
 * Owns: entries, negative entries, eviction. Does not own: loading (cycle/pipeline), the rows.
 *
 * - A staged row stays until its batch is committed: the disk does not have it yet.
 * - A prefetched row never replaces a cached one: memory is never older than the disk.
 * - `evict` runs only between batches, while no prefetch is in flight; otherwise the prefetch could
 *   bring back an older version of a row that was committed and evicted while it read.
 */
export interface WriteBackCache<V> {
  /** The row; null when it does not exist, undefined when it is not loaded. */
  get(key: string): V | null | undefined
  /** Adds a prefetched row. Null if it does not exist. */
  fill(key: string, value: V | null): void
  /** Sets a new or changed row that `batch` will commit. */
  set(key: string, value: V, batch: number): void
  /** The row does not exist any more once `batch` is committed. */
  remove(key: string, batch: number): void
  /** Evicts the oldest rows above `max`, ended ones first. */
  evict(committedBatch: number): void
  readonly size: number
}

interface Slot<V> {
  value: V | null
  batch: number
}

export interface WriteBackCacheOptions<V> {
  readonly max: number
  /** Rows that no further command is likely to touch. */
  readonly isEnded?: (value: V) => boolean
}

export function createWriteBackCache<V>({
  max,
  isEnded = () => false,
}: WriteBackCacheOptions<V>): WriteBackCache<V> {
  const slots = new Map<string, Slot<V>>()
  const ended = new Set<string>()

  const get = (key: string): V | null | undefined => slots.get(key)?.value

  const fill = (key: string, value: V | null): void => {
    if (slots.has(key)) return
    slots.set(key, { value, batch: 0 })
    if (value !== null && isEnded(value)) ended.add(key)
  }

  const set = (key: string, value: V, batch: number): void => {
    slots.delete(key) // re-inserted as the newest
    slots.set(key, { value, batch })
    if (isEnded(value)) ended.add(key)
  }

  const remove = (key: string, batch: number): void => {
    slots.delete(key)
    slots.set(key, { value: null, batch })
    ended.add(key)
  }

  const drop = (key: string, { batch }: Slot<V>, committedBatch: number): void => {
    if (batch > committedBatch) return
    slots.delete(key)
    if (ended.size > 0) ended.delete(key)
  }

  const evict = (committedBatch: number): void => {
    for (const key of ended) {
      if (slots.size <= max) return
      drop(key, slots.get(key)!, committedBatch)
    }
    for (const [key, slot] of slots) {
      if (slots.size <= max) return
      drop(key, slot, committedBatch)
    }
  }

  return {
    get,
    fill,
    set,
    remove,
    evict,
    get size() {
      return slots.size
    },
  }
}
