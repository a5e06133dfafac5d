/**
 * A machine's transitions as a table of state × event, compiled once at start.
 *
 * Owns: taking a step. Does not own: the definition, which is XState's (`machine.ts` of each
 * entity).
 *
 * - XState interprets its definition at every event, which was a fifth of the CPU of a payment. A
 *   test compares every pair of state and event with XState's own actor.
 * - Only what our machines use is compiled: flat states, named guards, assignments by a function,
 *   constant outputs. Anything else fails at start.
 * - A step is pure: it changes neither the context nor the event.
 */
import type { AnyStateMachine, AnyStateNode } from 'xstate'

export interface Step<State, Context, Output> {
  readonly state: State
  readonly context: Context
  readonly outputs: readonly Output[]
}

export interface Transitions<State extends string, Context, Event, Output = never> {
  readonly initial: State
  /** Null if the state does not take the event. @throws when the machine has no such state */
  step(state: State, context: Context, event: Event): Step<State, Context, Output> | null
}

type Decide<Context, Event, Result> = (given: {
  readonly context: Context
  readonly event: Event
}) => Result

interface Transition<State, Context, Event, Output> {
  readonly guard: Decide<Context, Event, boolean> | null
  readonly target: State
  readonly assignments: readonly Decide<Context, Event, Partial<Context>>[]
  readonly outputs: readonly Output[]
}

/** What XState's `assign` and `emit` return. */
interface Action {
  readonly type?: unknown
  readonly assignment?: unknown
  readonly event?: unknown
}

export function transitionsOf<
  State extends string,
  Context extends object,
  Event extends { readonly type: string },
  Output = never,
>(machine: AnyStateMachine): Transitions<State, Context, Event, Output> {
  const { root } = machine
  if (!isPlain(root) || root.transitions.size > 0) throw unsupported('its root')
  const table = new Map(
    Object.values(root.states).map((node) => [
      node.key,
      compiled<State, Context, Event, Output>(machine, node),
    ]),
  )
  return {
    initial: root.initial.target[0]?.key as State,
    step: (state, context, event) => {
      const events = table.get(state)
      if (events === undefined) throw new Error(`the machine ${root.key} has no state ${state}`)
      for (const { guard, target, assignments, outputs } of events.get(event.type) ?? []) {
        if (guard !== null && !guard({ context, event })) continue
        if (assignments.length === 0) return { state: target, context, outputs }
        const next = { ...context }
        // Each assignment sees those before it, as in XState.
        for (const assign of assignments) Object.assign(next, assign({ context: next, event }))
        return { state: target, context: next, outputs }
      }
      return null
    },
  }
}

function compiled<State, Context, Event, Output>(machine: AnyStateMachine, node: AnyStateNode) {
  type Assignment = Decide<Context, Event, Partial<Context>>
  const { guards, actions } = machine.implementations
  if (!isPlain(node) || Object.keys(node.states).length > 0) throw unsupported(node.id)

  const guardOf = (name: unknown): Decide<Context, Event, boolean> | null => {
    if (name === undefined) return null
    const guard: unknown = guards[name as string]
    if (typeof guard !== 'function') throw unsupported(`a guard of ${node.id}`)
    return guard as Decide<Context, Event, boolean>
  }
  const events = new Map<string, Transition<State, Context, Event, Output>[]>()
  for (const [event, transitions] of node.transitions) {
    if (event.includes('*')) throw unsupported(`the event ${event} of ${node.id}`)
    const choices = transitions.map(({ guard, target, actions: names }) => {
      const assignments: Assignment[] = []
      const outputs: Output[] = []
      for (const name of names) {
        const { type, assignment, event: output } = (actions[name as never] ?? {}) as Action
        if (type === 'xstate.assign' && typeof assignment === 'function') {
          assignments.push(assignment as Assignment)
        } else if (type === 'xstate.emit' && typeof output === 'object') {
          outputs.push(output as Output)
        } else throw unsupported(`an action of ${node.id}`)
      }
      const to = (target?.[0]?.key ?? node.key) as State
      return { guard: guardOf(guard), target: to, assignments, outputs }
    })
    events.set(event, choices)
  }
  return events
}

/** Nothing happens by itself, on entry or on exit. */
const isPlain = ({ entry, exit, always, after, invoke }: AnyStateNode): boolean =>
  [entry, exit, always ?? [], after, invoke].every(({ length }) => length === 0)

const unsupported = (what: string): Error =>
  new Error(`the table of transitions does not support ${what}`)
