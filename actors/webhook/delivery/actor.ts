/**
 * Restores the XState actor of a delivery from its row, or steps it without an actor object.
 *
 * - The snapshot is exactly (state, context); a test holds both ways of stepping equal.
 * - An attempt takes two steps. An actor object costs three times as much, so attempts step the
 *   snapshot; the snapshot of a first attempt differs between deliveries only in its context.
 */
import { createActor, type ActorScope, type SnapshotFrom } from 'xstate'
import { instant } from '../../../src/base/clock.js'
import {
  deliveryMachine,
  newDelivery,
  type DeliveryContext,
  type DeliveryEvent,
  type DeliveryState,
} from './machine.js'

export type DeliverySnapshot = SnapshotFrom<typeof deliveryMachine>

export interface DeliveryActor {
  send(event: DeliveryEvent): void
  getSnapshot(): {
    readonly value: DeliveryState
    readonly context: DeliveryContext
    can(event: DeliveryEvent): boolean
  }
}

export function openDelivery(state: DeliveryState, context: DeliveryContext): DeliveryActor {
  const snapshot = snapshotOf(state, context)
  const actor = createActor(deliveryMachine, { snapshot, input: context })
  actor.start()
  return actor
}

export const snapshotOf = (state: DeliveryState, context: DeliveryContext): DeliverySnapshot =>
  deliveryMachine.resolveState({ value: state, context })

/** The snapshot after this event. */
export const stepDelivery = (snapshot: DeliverySnapshot, event: DeliveryEvent): DeliverySnapshot =>
  deliveryMachine.transition(snapshot, event, SCOPE)

/** `pending` after the event `attempt`, which does not change the context. */
export const firstAttempt = (context: DeliveryContext): DeliverySnapshot =>
  snapshotOf(FIRST_ATTEMPT.value, context)

/** The machine starts, stops and emits nothing, so one scope serves all deliveries. */
const self = createActor(deliveryMachine, { input: newDelivery(instant(0)) })
const nothing = (): void => undefined
const SCOPE: ActorScope<DeliverySnapshot, DeliveryEvent> = {
  self,
  id: self.id,
  sessionId: self.sessionId,
  system: self.system,
  logger: nothing,
  defer: nothing,
  emit: nothing,
  stopChild: nothing,
  actionExecutor: nothing,
}

const FIRST_ATTEMPT = stepDelivery(self.getSnapshot(), { type: 'attempt', at: instant(0) })
