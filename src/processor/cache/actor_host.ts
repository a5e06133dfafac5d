/**
 * Restores, steps and releases the XState actors of one kind of entity.
 *
 * Owns: the actor object. Does not own: storage (store), caching (cache/row_cache), the effects of
 * a transition (changes/advance_intent, changes/advance_payout).
 *
 * - A new entity starts from its machine's initial state and its own context; the actor object is
 *   created for its first event, because creation costs ten times as much as an event. A test
 *   checks that both ways give the same actor.
 * - A snapshot is (state, context) and complete: a restored actor behaves like the original.
 * - An entity without a timer releases its actor object (5 KB): further events are unlikely.
 * - A corrupt snapshot affects only its own entity: a command that reads it throws before it
 *   changes anything.
 */
import type { Instant } from '../../base/clock.js'
import { CorruptRow } from '../../base/corrupt_row.js'
import type { MachineOutput } from '../../../actors/output.js'

/** The part of its context that every kind of entity has. */
export interface WithTimer {
  /** When the timer fires; null: no timer. */
  readonly wakeAt: Instant | null
}

/** The part of an XState actor that the host uses. */
export interface RunningActor<State extends string, Context, Event> {
  send(event: Event): void
  getSnapshot(): { readonly value: State; readonly context: Context; can(event: Event): boolean }
}

/** Creates the actor of a snapshot; its transitions pass their outputs to `collect`. */
export type OpenActor<State extends string, Context, Event> = (
  state: State,
  context: Context,
  collect: (output: MachineOutput) => void,
) => RunningActor<State, Context, Event>

/** An entity in memory. */
export interface Live<State extends string, Context, Event> {
  state: State
  context: Context
  actor: RunningActor<State, Context, Event> | null
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

export interface ActorHost<State extends string, Context, Event> {
  begin(context: Context): Live<State, Context, Event>
  restore(row: StoredActor): Live<State, Context, Event>
  can(live: Live<State, Context, Event>, event: Event): boolean
  /** Creates the actor if there is none. @throws when the snapshot does not fit its machine */
  open(live: Live<State, Context, Event>): void
  /** Replaces the context without an event; the actor is re-created from it. */
  amend(live: Live<State, Context, Event>, context: Context): void
  /** Steps the actor. @returns its outputs in order; the caller stages them or exits */
  send(live: Live<State, Context, Event>, event: Event): readonly MachineOutput[]
}

export function createActorHost<State extends string, Context extends WithTimer, Event>(
  initial: State,
  open: OpenActor<State, Context, Event>,
): ActorHost<State, Context, Event> {
  let emitted: MachineOutput[] = []
  const collect = (output: MachineOutput): void => {
    emitted.push(output)
  }
  const actorOf = (live: Live<State, Context, Event>): RunningActor<State, Context, Event> =>
    (live.actor ??= open(live.state, live.context, collect))

  return {
    begin: (context) => ({ state: initial, context, actor: null }),
    restore: restored,
    can: (live, event) => actorOf(live).getSnapshot().can(event),
    open: (live) => void actorOf(live),
    amend: (live, context) => {
      live.context = context
      live.actor = null
    },
    send: (live, event) => {
      emitted = []
      const actor = actorOf(live)
      actor.send(event)
      const snapshot = actor.getSnapshot()
      live.state = snapshot.value
      live.context = snapshot.context
      if (live.context.wakeAt === null) live.actor = null
      return emitted
    },
  }
}

function restored<State extends string, Context, Event>(
  row: StoredActor,
): Live<State, Context, Event> {
  const state = row.state as State
  const context = contextOf(row)
  if (context !== undefined) return { state, context: context as Context, actor: null }
  return {
    state,
    get context(): Context {
      throw new CorruptRow(row.id, 'its context cannot be read')
    },
    actor: null,
    isCorrupt: true,
  }
}

/** Undefined when it is not JSON, or belongs to another entity. */
function contextOf({ id, tenant, context: json }: StoredActor): unknown {
  try {
    const context = JSON.parse(json) as { id?: unknown; tenant?: unknown } | null
    return context?.id === id && context.tenant === tenant ? context : undefined
  } catch {
    return undefined
  }
}
