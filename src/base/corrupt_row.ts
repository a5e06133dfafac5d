/**
 * Corrupt rows: their content cannot be read, and all others are served.
 *
 * - A row is corrupt when its context is not JSON, names another entity, or contains an account
 *   number that cannot be decrypted.
 * - A corrupt row is never changed and does not affect other rows.
 */

/** Thrown when the content is needed, before any change. */
export class CorruptRow extends Error {
  override name = 'CorruptRow'
  readonly entity: string

  constructor(entity: string, why: string) {
    super(`${entity} is corrupt: ${why}`)
    this.entity = entity
  }
}

/** What operators see of a corrupt row besides what it is, e.g. `action 17`. */
export const named = (name: string): { readonly corrupt: string } => ({ corrupt: name })

/** The corrupt rows found since the start. */
export interface CorruptRows {
  /** @returns true the first time */
  add(entity: string): boolean
  has(entity: string): boolean
  readonly count: number
}

/** Bounds memory; a higher count adds no information. */
const KEPT_MAX = 10_000

export function createCorruptRows(): CorruptRows {
  const entities = new Set<string>()
  return {
    add: (entity) => {
      if (entities.has(entity) || entities.size >= KEPT_MAX) return false
      entities.add(entity)
      return true
    },
    has: (entity) => entities.has(entity),
    get count() {
      return entities.size
    },
  }
}
