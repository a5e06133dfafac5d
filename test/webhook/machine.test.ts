/** The state machine of a delivery. */
import t from 'tap'
import { createActor } from 'xstate'
import { instant } from '../../src/base/clock.js'
import {
  deliveryMachine,
  newDelivery,
  type DeliveryContext,
  type DeliveryEvent,
  type DeliveryState,
} from '../../actors/webhook/delivery/machine.js'

/** XState's own actor; another test compares the table of transitions with it. */
const openDelivery = (value: DeliveryState, context: DeliveryContext) => {
  const snapshot = deliveryMachine.resolveState({ value, context })
  return createActor(deliveryMachine, { snapshot, input: context }).start()
}

const DUE = instant(1_000)
const LATER = instant(5_000)
const EVENTS = {
  attempt: { type: 'attempt', at: LATER },
  early: { type: 'attempt', at: instant(999) },
  probe: { type: 'probe' },
  succeeded: { type: 'succeeded', at: LATER },
  refused: { type: 'refused', at: LATER, reason: 'http_404' },
  failed: { type: 'failed', at: LATER, retryAt: instant(9_000), reason: 'http_503' },
  failedLast: { type: 'failed', at: LATER, retryAt: null, reason: 'timeout' },
  abandon: { type: 'abandon', at: LATER, reason: 'endpoint_deleted' },
  redrive: { type: 'redrive', at: LATER },
} as const satisfies Record<string, DeliveryEvent>

const CONTEXTS: Record<DeliveryState, DeliveryContext> = {
  pending: newDelivery(DUE),
  delivering: newDelivery(DUE),
  waiting: { ...newDelivery(DUE), attempts: 2, tries: 2 },
  delivered: { ...newDelivery(DUE), tries: 1, dueAt: null, endedAt: DUE },
  dead: {
    ...newDelivery(DUE),
    attempts: 3,
    tries: 4,
    dueAt: null,
    endedAt: DUE,
    reason: 'timeout',
  },
}

/** Unlisted pairs change neither state nor context. */
const TABLE: Record<DeliveryState, Partial<Record<keyof typeof EVENTS, DeliveryState>>> = {
  pending: { attempt: 'delivering', early: 'delivering', abandon: 'dead' },
  delivering: {
    succeeded: 'delivered',
    refused: 'dead',
    failed: 'waiting',
    failedLast: 'dead',
  },
  waiting: { attempt: 'delivering', probe: 'delivering', abandon: 'dead', redrive: 'pending' },
  delivered: { redrive: 'pending' },
  dead: { redrive: 'pending' },
}

t.test('every event in every state leads to the listed state', async (t) => {
  for (const state of Object.keys(TABLE) as DeliveryState[]) {
    for (const [name, event] of Object.entries(EVENTS)) {
      const actor = openDelivery(state, CONTEXTS[state])
      actor.send(event)
      const after = actor.getSnapshot()
      const expected = TABLE[state][name as keyof typeof EVENTS]
      t.equal(after.value, expected ?? state, `${state} –${name}→`)
      if (expected === undefined) t.same(after.context, CONTEXTS[state])
      const isOpen = after.context.dueAt !== null
      t.equal(
        isOpen,
        after.value !== 'delivered' && after.value !== 'dead',
        'dueAt is null only in delivered and dead',
      )
    }
  }
})

t.test('a failure counts and schedules a retry; the last one ends as dead', async (t) => {
  const actor = openDelivery('pending', newDelivery(DUE))
  actor.send(EVENTS.attempt)
  actor.send(EVENTS.failed)
  t.match(actor.getSnapshot().context, { attempts: 1, tries: 1, dueAt: 9_000, reason: '' })
  actor.send({ type: 'attempt', at: instant(8_999) })
  t.equal(actor.getSnapshot().value, 'waiting', 'not before dueAt')
  actor.send({ type: 'attempt', at: instant(9_000) })
  actor.send(EVENTS.failedLast)
  t.equal(actor.getSnapshot().value, 'dead')
  t.match(actor.getSnapshot().context, { attempts: 2, tries: 2, dueAt: null, reason: 'timeout' })
  actor.send(EVENTS.redrive)
  t.same(actor.getSnapshot().context, { ...newDelivery(LATER), tries: 2 })
})

t.test('a failed probe changes only the number of tries', async (t) => {
  const actor = openDelivery('waiting', CONTEXTS.waiting)
  actor.send(EVENTS.probe)
  t.equal(actor.getSnapshot().value, 'delivering')
  actor.send(EVENTS.failedLast)
  t.equal(actor.getSnapshot().value, 'waiting')
  t.same(actor.getSnapshot().context, { ...CONTEXTS.waiting, tries: 3 })
})

t.test('a successful probe delivers', async (t) => {
  const actor = openDelivery('waiting', CONTEXTS.waiting)
  actor.send(EVENTS.probe)
  actor.send(EVENTS.succeeded)
  t.equal(actor.getSnapshot().value, 'delivered')
  t.equal(actor.getSnapshot().context.probing, false)
})

t.test('a new delivery is the initial state of the machine and survives JSON', async (t) => {
  const context = newDelivery(DUE)
  const fresh = createActor(deliveryMachine, { input: context }).start()
  t.equal(fresh.getSnapshot().value, 'pending')
  t.same(fresh.getSnapshot().context, context)
  for (const [state, known] of Object.entries(CONTEXTS)) {
    const stored = JSON.parse(JSON.stringify(known)) as DeliveryContext
    const { value, context: back } = openDelivery(state as DeliveryState, stored).getSnapshot()
    t.equal(value, state)
    t.same(back, known)
  }
})
