/**
 * Journeys that end with a webhook.
 *
 * Owns: which lane waits for which entity. Does not own: receiving (receiver_thread).
 *
 * A1. News may come before the answer that names the entity: it is kept for some seconds.
 * A2. Every client hears of every entity, also of those of other clients; these are forgotten.
 */

export interface Awaited {
  /** True when the news is there already, and the journey has ended. */
  wait(lane: number, entity: string): boolean
  /** The lane that waited for it. */
  hear(entity: string): number | undefined
  abandon(lane: number): void
}

const EARLY_MAX = 20_000

export function createAwaited(): Awaited {
  const lanes = new Map<string, number>()
  const entities = new Map<number, string>()
  let early = new Set<string>()
  let earlier = new Set<string>()

  return {
    wait: (lane, entity) => {
      if (early.delete(entity) || earlier.delete(entity)) return true
      lanes.set(entity, lane)
      entities.set(lane, entity)
      return false
    },
    hear: (entity) => {
      const lane = lanes.get(entity)
      if (lane !== undefined) {
        lanes.delete(entity)
        entities.delete(lane)
        return lane
      }
      early.add(entity)
      if (early.size > EARLY_MAX) {
        earlier = early
        early = new Set()
      }
      return undefined
    },
    abandon: (lane) => {
      const entity = entities.get(lane)
      if (entity === undefined) return
      entities.delete(lane)
      lanes.delete(entity)
    },
  }
}
