/**
 * Relay, bus and webhook pool, with a bus that fails.
 *
 * Owns: messages in flight, the pool's events and pending reports. Does not own: the outbox.
 *
 * - The pool counts an event once, however often it arrives, and its bytes never change.
 */
import assert from 'node:assert/strict'
import type { StoredEvent } from '../../src/store/store.js'
import type { SeededRandom } from '../fuzz/seeded_random.js'

export interface FaultyBus {
  readonly isUp: boolean
  /** All events that arrived, by id. */
  readonly pool: ReadonlyMap<string, StoredEvent>
  /** The last one of the bus, and the highest id of the pool. */
  newest(): readonly string[]
  inFlight(): number
  /** Events with an outcome that the processor may not have recorded. */
  unreported(): readonly string[]
  publish(events: readonly StoredEvent[]): void
  /** Delivers one event. */
  deliver(): void
  reported(ids: readonly string[]): void
  disconnect(): void
  connect(): void
}

export function createFaultyBus(random: SeededRandom): FaultyBus {
  const pool = new Map<string, StoredEvent>()
  const unreported = new Set<string>()
  let inFlight: StoredEvent[] = []
  let isUp = true
  let last: string | null = null
  return {
    get isUp() {
      return isUp
    },
    pool,
    newest: () => {
      const highest = [...pool.keys()].sort().at(-1)
      return [last, highest].filter((id) => typeof id === 'string')
    },
    inFlight: () => inFlight.length,
    unreported: () => [...unreported],
    publish: (events) => {
      if (!isUp) return
      inFlight.push(...events)
      last = events.at(-1)?.id ?? last
    },
    deliver: () => {
      const [event] = inFlight.splice(random.int(inFlight.length), 1)
      if (event === undefined) return
      const known = pool.get(event.id)
      if (known !== undefined) assert.deepEqual(event, known, 'an event never changes')
      pool.set(event.id, event)
      unreported.add(event.id)
    },
    reported: (ids) => {
      for (const id of ids) unreported.delete(id)
    },
    disconnect: () => {
      isUp = false
      inFlight = []
    },
    connect: () => {
      isUp = true
    },
  }
}
