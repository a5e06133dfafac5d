/** The XState actor of one delivery, made from its row when its first event arrives. */
import { createActor } from 'xstate'
import {
  deliveryMachine,
  type DeliveryContext,
  type DeliveryEvent,
  type DeliveryState,
} from './delivery_machine.js'

export interface DeliveryActor {
  send(event: DeliveryEvent): void
  getSnapshot(): {
    readonly value: DeliveryState
    readonly context: DeliveryContext
    can(event: DeliveryEvent): boolean
  }
}

export function openDelivery(state: DeliveryState, context: DeliveryContext): DeliveryActor {
  const snapshot = deliveryMachine.resolveState({ value: state, context })
  const actor = createActor(deliveryMachine, { snapshot, input: context })
  actor.start()
  return actor
}
