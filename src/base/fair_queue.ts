/**
 * A queue in which keys (tenants, partners, API keys) take turns.
 *
 * - Items of one key leave in order of arrival.
 * - A key with a thousand items delays the single item of another key by one turn.
 * - Unbounded: the caller limits how many wait.
 */
export interface FairQueue<Key, Item> {
  readonly size: number
  add(key: Key, item: Item): void
  /**
   * The next item; its key goes behind the others.
   *
   * @param may whether a key has its turn now; one that has not keeps its position
   */
  next(may?: (key: Key) => boolean): Item | undefined
  /** At most `max` items, an even share from each key. */
  take(max: number): Item[]
  /** The items of a key. */
  count(key: Key): number
  /** The keys that have items, the next one first. */
  keys(): Key[]
  /** Removes and returns all items of a key. */
  removeAll(key: Key): Item[]
}

export function createFairQueue<Key, Item>(): FairQueue<Key, Item> {
  /** In the order of turns; none of them is empty. A Map moves a key to the end cheaply. */
  const waiting = new Map<Key, Item[]>()
  let size = 0

  return {
    get size() {
      return size
    },
    add: (key, item) => {
      const items = waiting.get(key)
      if (items === undefined) waiting.set(key, [item])
      else items.push(item)
      size += 1
    },
    next: (may) => {
      for (const [key, items] of waiting) {
        if (may?.(key) === false) continue
        const item = items.shift()
        waiting.delete(key)
        if (items.length > 0) waiting.set(key, items)
        size -= 1
        return item
      }
      return undefined
    },
    take: (max) => {
      const taken: Item[] = []
      const share = Math.max(1, Math.floor(max / Math.max(1, waiting.size)))
      for (const [key, items] of waiting) {
        const capacity = Math.min(share, max - taken.length)
        if (capacity === 0) break
        waiting.delete(key)
        const leaving = items.length <= capacity ? items : items.splice(0, capacity)
        for (const item of leaving) taken.push(item)
        // Re-inserted behind the others: this loop reaches it again.
        if (leaving !== items) waiting.set(key, items)
      }
      size -= taken.length
      return taken
    },
    count: (key) => waiting.get(key)?.length ?? 0,
    keys: () => [...waiting.keys()],
    removeAll: (key) => {
      const items = waiting.get(key) ?? []
      waiting.delete(key)
      size -= items.length
      return items
    },
  }
}
