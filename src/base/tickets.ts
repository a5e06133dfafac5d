/**
 * What waits for an answer, each found by the number that travels with it.
 *
 * Does not own: deadlines (callers).
 *
 * - Tickets ascend from 1. A ticket is not given again while its entry waits, so a late answer
 *   never finds another entry.
 * - Not a Map: one that is filled and emptied thousands of times a second replaces its table all
 *   the time, and each former table keeps the next one and all that waited in it. Once V8 has moved
 *   a table to the old generation, everything that waited outlives its answer until the next full
 *   collection.
 */
export interface Tickets<Entry> {
  readonly size: number
  /** There must be fewer than `max`. @returns its ticket, at most 2^32 - 1 */
  add(entry: Entry): number
  /** Undefined means that nothing waits with this ticket. */
  take(ticket: number): Entry | undefined
  /** In no particular order. */
  takeAll(isTaken?: (entry: Entry) => boolean): Entry[]
}

const TICKET_MAX = 2 ** 32 - 1

export function createTickets<Entry>(max: number): Tickets<Entry> {
  const length = 2 ** Math.ceil(Math.log2(max + 1))
  /** By ticket modulo its length, as are the tickets. */
  const entries = new Array<Entry | undefined>(length).fill(undefined)
  const tickets = new Uint32Array(length)
  let last = 0
  let size = 0

  const remove = (slot: number): void => {
    entries[slot] = undefined
    size -= 1
  }

  return {
    get size() {
      return size
    },
    add: (entry) => {
      do last = last === TICKET_MAX ? 1 : last + 1
      while (entries[last % length] !== undefined)
      entries[last % length] = entry
      tickets[last % length] = last
      size += 1
      return last
    },
    take: (ticket) => {
      const slot = ticket % length
      const entry = entries[slot]
      if (entry === undefined || tickets[slot] !== ticket) return undefined
      remove(slot)
      return entry
    },
    takeAll: (isTaken = () => true) => {
      const taken: Entry[] = []
      entries.forEach((entry, slot) => {
        if (entry === undefined || !isTaken(entry)) return
        remove(slot)
        taken.push(entry)
      })
      return taken
    },
  }
}
