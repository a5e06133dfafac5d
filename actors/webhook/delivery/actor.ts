/**
 * The XState actor of one delivery, made from its row.
 *
 * Owns: restoring, and stepping without an actor object. Does not own: the transitions
 * (delivery/machine).
 *
 * - The snapshot is (state, context), all of it: a delivery goes the same way whichever way it is
 *   stepped, which a test holds.
 * - A try steps a delivery twice and then writes it down. An actor object costs three times as
 *   much as the two steps, so they are done on the snapshot; that of a first try under way is the
 *   same for all but its context.
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

/** The snapshot that an actor has after this event. */
export const stepDelivery = (snapshot: DeliverySnapshot, event: DeliveryEvent): DeliverySnapshot =>
  deliveryMachine.transition(snapshot, event, SCOPE)

/** `pending` after `attempt`, whose transition changes no context. */
export const firstTry = (context: DeliveryContext): DeliverySnapshot =>
  snapshotOf(FIRST_TRY.value, context)

/** The machine starts, stops and emits nothing, so that one scope serves all. */
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

const FIRST_TRY = stepDelivery(self.getSnapshot(), { type: 'attempt', at: instant(0) })
