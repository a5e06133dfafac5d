/** The XState actor of one payout, at the state and context of its snapshot. */
import { createActor } from 'xstate'
import type { MachineOutput } from '../output.js'
import type { PayoutContext, PayoutEvent, PayoutState } from './context.js'
import { payoutMachine } from './machine.js'

export interface PayoutActor {
  send(event: PayoutEvent): void
  getSnapshot(): {
    readonly value: PayoutState
    readonly context: PayoutContext
    can(event: PayoutEvent): boolean
  }
}

export function openPayout(
  state: PayoutState,
  context: PayoutContext,
  collect: (output: MachineOutput) => void,
): PayoutActor {
  const snapshot = payoutMachine.resolveState({ value: state, context })
  const actor = createActor(payoutMachine, { snapshot, input: context })
  actor.on('*', collect)
  actor.start()
  return actor
}
