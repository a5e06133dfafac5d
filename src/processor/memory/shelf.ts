/**
 * Rows in memory, by key: the warm part of a table.
 *
 * Owns: what is held, what is known to be absent, and what may be dropped. Does not own: loading
 * (pipeline) or the rows.
 *
 * H1. A row staged in a group stays until that group is committed: disk does not have it yet.
 * H2. What a prefetch brings never replaces what is held: memory is never older than disk.
 * H3. `evict` runs only between batches, when no prefetch is under way; else a prefetch could bring
 *     back a row that was committed and dropped while it read.
 */
export interface Shelf<V> {
  /** The row, null when there is none, undefined when it was not loaded. */
  get(key: string): V | null | undefined
  /** Takes in what a prefetch found (null: nothing). */
  learn(key: string, value: V | null): void
  /** Keeps a new or changed row that group `group` will commit. */
  put(key: string, value: V, group: number): void
  /** Drops the oldest rows beyond the bound, ended ones first. */
  evict(committedGroup: number): void
  readonly size: number
}

interface Slot<V> {
  value: V | null
  group: number
}

export interface ShelfOptions<V> {
  readonly max: number
  /** Rows that no further command is likely to touch. */
  readonly isEnded?: (value: V) => boolean
}

export function createShelf<V>({ max, isEnded = () => false }: ShelfOptions<V>): Shelf<V> {
  const slots = new Map<string, Slot<V>>()
  const ended = new Set<string>()

  const get = (key: string): V | null | undefined => slots.get(key)?.value

  const learn = (key: string, value: V | null): void => {
    if (slots.has(key)) return
    slots.set(key, { value, group: 0 })
    if (value !== null && isEnded(value)) ended.add(key)
  }

  const put = (key: string, value: V, group: number): void => {
    slots.delete(key) // re-inserted at the young end
    slots.set(key, { value, group })
    if (isEnded(value)) ended.add(key)
  }

  const drop = (key: string, committedGroup: number): void => {
    const slot = slots.get(key)
    if (slot !== undefined && slot.group > committedGroup) return
    slots.delete(key)
    ended.delete(key)
  }

  const evict = (committedGroup: number): void => {
    for (const keys of [ended, slots.keys()]) {
      for (const key of keys) {
        if (slots.size <= max) return
        drop(key, committedGroup)
      }
    }
  }

  return {
    get,
    learn,
    put,
    evict,
    get size() {
      return slots.size
    },
  }
}
