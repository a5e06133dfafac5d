/**
 * Runs one kind of machine: the actors' mailbox is the cycle, their memory is the row cache, their
 * disk is the store.
 *
 * Owns: making, restoring and stepping XState actors. Does not own: what follows from a transition
 * (changes/advance_intent, changes/advance_payout).
 *
 * - A new entity is its machine's initial state with its own context; the actor object is made
 *   when its first event arrives, because making one costs ten times an event. A test holds the
 *   two ways equal.
 * - A restored actor behaves as the one that was kept: the snapshot is (state, context), all of
 *   it.
 * - An entity that waits for nothing lets its actor object go: it has five kilobytes, and no
 *   event is likely.
 * - In the cycle a damaged snapshot harms its own entity alone: a command that touches it throws,
 *   and nothing has changed by then.
 */
import type { Instant } from '../../base/clock.js'
import { CorruptRow } from '../../base/corrupt_row.js'
import type { MachineOutput } from '../../../actors/output.js'

/** What every kind of entity keeps. */
export interface WithTimer {
  /** Null: it waits for nothing. */
  readonly wakeAt: Instant | null
}

/** What the host needs of an XState actor. */
export interface RunningActor<State extends string, Context, Event> {
  send(event: Event): void
  getSnapshot(): { readonly value: State; readonly context: Context; can(event: Event): boolean }
}

/** Makes the actor of a snapshot; `collect` takes what its transitions emit. */
export type OpenActor<State extends string, Context, Event> = (
  state: State,
  context: Context,
  collect: (output: MachineOutput) => void,
) => RunningActor<State, Context, Event>

/** An entity as the processor holds it. */
export interface Live<State extends string, Context, Event> {
  state: State
  context: Context
  actor: RunningActor<State, Context, Event> | null
  /** Its context cannot be read, and throws. */
  readonly isDamaged?: true
}

/** As the store has it. */
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
  /** Makes the actor if there is none. @throws when the snapshot is not of its machine */
  open(live: Live<State, Context, Event>): void
  /** Changes what the entity keeps, not what happens to it. The actor is made anew from it. */
  amend(live: Live<State, Context, Event>, context: Context): void
  /**
   * Steps the actor and returns what follows, in order. The caller stages it or stops the process.
   */
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
    isDamaged: true,
  }
}

/** Undefined when it is no JSON, or another entity's. */
function contextOf({ id, tenant, context: json }: StoredActor): unknown {
  try {
    const context = JSON.parse(json) as { id?: unknown; tenant?: unknown } | null
    return context?.id === id && context.tenant === tenant ? context : undefined
  } catch {
    return undefined
  }
}
