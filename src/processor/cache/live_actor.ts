/**
 * An intent or payout in memory: the snapshot of its actor.
 *
 * Owns: restoring it from its row. Does not own: storage (store), caching (cache/row_cache), its
 * transitions (the machines in `actors/`) and their effects (changes/advance_intent,
 * changes/advance_payout).
 *
 * - A snapshot is (state, context) and complete: a restored actor behaves like the original.
 * - A corrupt snapshot affects only its own entity: a command that reads it throws before it
 *   changes anything.
 */
import { isMoment } from '../../base/clock.js'
import { CorruptRow } from '../../base/corrupt_row.js'

export interface Live<State extends string, Context> {
  state: State
  context: Context
  /** The stored context is corrupt: reading `context` throws CorruptRow. */
  readonly isCorrupt?: true
}

/** The snapshot as stored. */
export interface StoredActor {
  readonly id: string
  readonly tenant: string
  readonly state: string
  /** JSON. */
  readonly context: string
}

export function restored<State extends string, Context extends { id: string; tenant: string }>(
  row: StoredActor,
  contextIn: (stored: unknown) => Context | null,
): Live<State, Context> {
  const state = row.state as State
  const context = contextOf(row, contextIn)
  if (context !== undefined) return { state, context }
  return {
    state,
    get context(): Context {
      throw new CorruptRow(row.id, 'its context cannot be read')
    },
    isCorrupt: true,
  }
}

/** Undefined when it is not JSON, belongs to another entity, or has an impossible moment. */
function contextOf<Context extends { id: string; tenant: string }>(
  { id, tenant, context: json }: StoredActor,
  contextIn: (stored: unknown) => Context | null,
): Context | undefined {
  try {
    const context = contextIn(JSON.parse(json))
    if (context?.id !== id || context.tenant !== tenant) return undefined
    return hasMoments(context) ? context : undefined
  } catch {
    return undefined
  }
}

/**
 * Members with a name in `At` are moments. With an impossible one the view of a change would fail,
 * when the change is made.
 */
const hasMoments = (context: object): boolean =>
  Object.entries(context).every(
    ([name, value]) => typeof value !== 'number' || !name.endsWith('At') || isMoment(value),
  )
