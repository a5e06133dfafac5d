/** The XState actor of one intent, at the state and context of its snapshot. */
import { createActor } from 'xstate'
import type { MachineOutput } from '../output.js'
import type { IntentContext, IntentEvent, IntentState } from './context.js'
import { intentMachine } from './machine.js'

export interface IntentActor {
  send(event: IntentEvent): void
  getSnapshot(): {
    readonly value: IntentState
    readonly context: IntentContext
    can(event: IntentEvent): boolean
  }
}

export function openIntent(
  state: IntentState,
  context: IntentContext,
  collect: (output: MachineOutput) => void,
): IntentActor {
  const snapshot = intentMachine.resolveState({ value: state, context })
  const actor = createActor(intentMachine, { snapshot, input: context })
  actor.on('*', collect)
  actor.start()
  return actor
}
