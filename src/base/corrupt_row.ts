/**
 * Rows whose content cannot be read: set apart, so that everything else is served.
 *
 * - A row is corrupt when its context is no JSON, names another entity, or holds an account number
 *   that does not open.
 * - What is corrupt is never changed, and takes nothing else with it.
 */

/** Thrown by whatever needs the content, before anything has changed. */
export class CorruptRow extends Error {
  override name = 'CorruptRow'
  readonly entity: string

  constructor(entity: string, why: string) {
    super(`${entity} is corrupt: ${why}`)
    this.entity = entity
  }
}

/** Which rows were found corrupt since the start. */
export interface CorruptRows {
  /** @returns true the first time */
  add(entity: string): boolean
  readonly count: number
}

/** Beyond this many the number is not what matters. */
const KEPT_MAX = 10_000

export function createCorruptRows(): CorruptRows {
  const entities = new Set<string>()
  return {
    add: (entity) => {
      if (entities.has(entity) || entities.size >= KEPT_MAX) return false
      entities.add(entity)
      return true
    },
    get count() {
      return entities.size
    },
  }
}
