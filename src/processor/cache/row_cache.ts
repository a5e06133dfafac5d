/**
 * Rows in memory, by key: the warm part of a table.
 *
 * Owns: what is held, what is known to be absent, and what may be dropped. Does not own: loading
 * (pipeline) or the rows.
 *
 * - A row staged in a batch stays until that batch is committed: disk does not have it yet.
 * - What a prefetch brings never replaces what is held: memory is never older than disk.
 * - `evict` runs only between batches, when no prefetch is under way; else a prefetch could bring
 *   back a row that was committed and dropped while it read.
 */
export interface WriteBackCache<V> {
  /** The row, null when there is none, undefined when it was not loaded. */
  get(key: string): V | null | undefined
  /** Takes in what a prefetch found (null: nothing). */
  fill(key: string, value: V | null): void
  /** Keeps a new or changed row that batch `group` will commit. */
  set(key: string, value: V, batch: number): void
  /** Drops the oldest rows beyond the bound, ended ones first. */
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
    slots.delete(key) // re-inserted at the young end
    slots.set(key, { value, batch })
    if (isEnded(value)) ended.add(key)
  }

  const drop = (key: string, committedBatch: number): void => {
    const slot = slots.get(key)
    if (slot !== undefined && slot.batch > committedBatch) return
    slots.delete(key)
    ended.delete(key)
  }

  const evict = (committedBatch: number): void => {
    for (const keys of [ended, slots.keys()]) {
      for (const key of keys) {
        if (slots.size <= max) return
        drop(key, committedBatch)
      }
    }
  }

  return {
    get,
    fill,
    set,
    evict,
    get size() {
      return slots.size
    },
  }
}
