/**
 * The state machine of a delivery: one event to one endpoint.
 *
 * Owns: states, transitions and the context. Does not own: the retry schedule (delivery/backoff),
 * scheduling of attempts (webhook/pool), HTTP, SQL, the clock.
 *
 * - Flat and pure: no invoke, no after, no promise. Times are members of the events.
 * - `delivering` exists in memory only; rows have one of the other four states. An attempt whose
 *   result was not committed is repeated.
 * - A probe is an attempt before `dueAt` that tests whether the endpoint has recovered. A failed
 *   probe does not count as an attempt.
 * - `dueAt` is null exactly in `delivered` and `dead`.
 * - A redrive restarts the schedule; `tries` continues to count. `pending` and `delivering` ignore
 *   it.
 */
import { assign, setup } from 'xstate'
import type { Instant } from '../../../src/base/clock.js'
import { transitionsOf } from '../../transition_table.js'

export type DeliveryState = 'pending' | 'delivering' | 'waiting' | 'delivered' | 'dead'

export interface DeliveryContext {
  /** Attempts that failed and counted. */
  readonly attempts: number
  /** All tries, probes among them. */
  readonly tries: number
  /** When the next attempt is due. Null if there is no further one. */
  readonly dueAt: Instant | null
  /** The current attempt is a probe. */
  readonly probing: boolean
  readonly endedAt: Instant | null
  /** Why it is dead; empty otherwise. */
  readonly reason: string
}

export type DeliveryEvent =
  | { readonly type: 'attempt'; readonly at: Instant }
  | { readonly type: 'probe' }
  /** 2xx. */
  | { readonly type: 'succeeded'; readonly at: Instant }
  /** A permanent rejection: 3xx, 4xx. */
  | { readonly type: 'refused'; readonly at: Instant; readonly reason: string }
  /** 5xx, network error, timeout. `retryAt` is null after the last attempt. */
  | {
      readonly type: 'failed'
      readonly at: Instant
      readonly retryAt: Instant | null
      readonly reason: string
    }
  /** The endpoint was deleted. */
  | { readonly type: 'abandon'; readonly at: Instant; readonly reason: string }
  /** A partner or an operator requests it. */
  | { readonly type: 'redrive'; readonly at: Instant }

/** The context of a new delivery, due at once. */
export const newDelivery = (at: Instant): DeliveryContext => ({
  attempts: 0,
  tries: 0,
  dueAt: at,
  probing: false,
  endedAt: null,
  reason: '',
})

/** For XState's type inference only. */
const types = {} as { context: DeliveryContext; events: DeliveryEvent; input: DeliveryContext }

export const deliveryMachine = setup({
  types,
  guards: {
    isDue: ({ context, event }) =>
      event.type === 'attempt' && context.dueAt !== null && event.at >= context.dueAt,
    isProbe: ({ context }) => context.probing,
    isLast: ({ event }) => event.type === 'failed' && event.retryAt === null,
  },
  actions: {
    startProbe: assign(() => ({ probing: true })),
    countTry: assign(({ context }) => ({ tries: context.tries + 1, probing: false })),
    countAttempt: assign(({ context }) => ({ attempts: context.attempts + 1 })),
    scheduleRetry: assign(({ event }) => (event.type === 'failed' ? { dueAt: event.retryAt } : {})),
    end: assign(({ event }) => (event.type === 'probe' ? {} : { dueAt: null, endedAt: event.at })),
    recordReason: assign(({ event }) => ('reason' in event ? { reason: event.reason } : {})),
    restartSchedule: assign(({ context, event }) =>
      event.type === 'redrive' ? { ...newDelivery(event.at), tries: context.tries } : {},
    ),
  },
}).createMachine({
  id: 'delivery',
  context: ({ input }) => input,
  initial: 'pending',
  states: {
    /** Waits for its first attempt. */
    pending: {
      on: {
        attempt: 'delivering',
        abandon: { target: 'dead', actions: ['end', 'recordReason'] },
      },
    },
    /** Waits for the receiver's answer. */
    delivering: {
      on: {
        succeeded: { target: 'delivered', actions: ['countTry', 'end'] },
        refused: { target: 'dead', actions: ['countTry', 'end', 'recordReason'] },
        failed: [
          { guard: 'isProbe', target: 'waiting', actions: 'countTry' },
          {
            guard: 'isLast',
            target: 'dead',
            actions: ['countTry', 'countAttempt', 'end', 'recordReason'],
          },
          { target: 'waiting', actions: ['countTry', 'countAttempt', 'scheduleRetry'] },
        ],
      },
    },
    /** Waits for `dueAt`, or for a probe before it. */
    waiting: {
      on: {
        attempt: { guard: 'isDue', target: 'delivering' },
        probe: { target: 'delivering', actions: 'startProbe' },
        redrive: { target: 'pending', actions: 'restartSchedule' },
        abandon: { target: 'dead', actions: ['end', 'recordReason'] },
      },
    },
    /** The receiver answered 2xx. Only a redrive sends it again. */
    delivered: { on: { redrive: { target: 'pending', actions: 'restartSchedule' } } },
    /** Not attempted again without a redrive. */
    dead: { on: { redrive: { target: 'pending', actions: 'restartSchedule' } } },
  },
})

export const deliveryTransitions = transitionsOf<DeliveryState, DeliveryContext, DeliveryEvent>(
  deliveryMachine,
)
