/** A machine's states and transitions as plain data, to be drawn. */
import type { AnyStateMachine } from 'xstate'

export interface StatechartTransition {
  readonly event: string
  readonly to: string
}

export interface StatechartState {
  readonly name: string
  readonly transitions: readonly StatechartTransition[]
}

/** The initial state is the first one. */
export function statechartOf({ root }: AnyStateMachine): readonly StatechartState[] {
  const initial = root.initial.target[0]?.key
  return Object.values(root.states)
    .map(({ key, transitions }) => ({
      name: key,
      transitions: [...transitions].flatMap(([event, choices]) =>
        choices.map(({ target }) => ({ event, to: target?.[0]?.key ?? key })),
      ),
    }))
    .sort((one, other) => Number(other.name === initial) - Number(one.name === initial))
}
