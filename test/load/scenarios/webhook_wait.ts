/**
 * Journeys that end with a webhook.
 *
 * Owns: which connection waits for which entity. Does not own: receiving (receiver_thread).
 *
 * - Reports may come before the answer that names the entity: it is kept for some seconds.
 * - Every client hears of every entity, also of those of other clients; these are forgotten.
 */

export interface AwaitedWebhooks {
  /** True when the reports is there already, and the journey has ended. */
  wait(connection: number, entity: string): boolean
  /** The connection that waited for it. */
  hear(entity: string): number | undefined
  abandon(connection: number): void
}

const EARLY_MAX = 20_000

export function createAwaited(): AwaitedWebhooks {
  const connections = new Map<string, number>()
  const entities = new Map<number, string>()
  let early = new Set<string>()
  let earlier = new Set<string>()

  return {
    wait: (connection, entity) => {
      if (early.delete(entity) || earlier.delete(entity)) return true
      connections.set(entity, connection)
      entities.set(connection, entity)
      return false
    },
    hear: (entity) => {
      const connection = connections.get(entity)
      if (connection !== undefined) {
        connections.delete(entity)
        entities.delete(connection)
        return connection
      }
      early.add(entity)
      if (early.size > EARLY_MAX) {
        earlier = early
        early = new Set()
      }
      return undefined
    },
    abandon: (connection) => {
      const entity = entities.get(connection)
      if (entity === undefined) return
      entities.delete(connection)
      connections.delete(entity)
    },
  }
}
