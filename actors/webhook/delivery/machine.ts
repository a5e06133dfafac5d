/**
 * The lifecycle of a delivery: one event to one endpoint.
 *
 * Owns: states, transitions, what a delivery remembers. Does not own: when the next attempt is
 * (delivery/backoff), who goes first (webhook/pool), HTTP, SQL, the clock.
 *
 * - Flat and pure: no invoke, no after, no promise. Times come with the events.
 * - `delivering` is a state of memory only: an attempt whose end was not written down is made
 *   again, so a row rests in one of the other four.
 * - A probe is made ahead of the delivery's time to see whether the endpoint is back. When it
 *   fails nothing has changed: it used up no attempt.
 * - `dueAt` is null exactly in `delivering`'s two ends, `delivered` and `dead`.
 * - A redrive begins the schedule anew; tries go on counting. What waits for its first attempt,
 *   or is under way, takes none.
 */
import { assign, setup } from 'xstate'
import type { Instant } from '../../../src/base/clock.js'

export type DeliveryState = 'pending' | 'delivering' | 'waiting' | 'delivered' | 'dead'

export interface DeliveryContext {
  /** Attempts that failed and counted. */
  readonly attempts: number
  /** All tries, probes among them. */
  readonly tries: number
  /** When the next attempt is due; null: no further one. */
  readonly dueAt: Instant | null
  /** The try under way is ahead of its time. */
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
  /** An answer that will not change: 3xx, 4xx. */
  | { readonly type: 'refused'; readonly at: Instant; readonly reason: string }
  /** 5xx, network, timeout. `retryAt` is null when the schedule is used up. */
  | {
      readonly type: 'failed'
      readonly at: Instant
      readonly retryAt: Instant | null
      readonly reason: string
    }
  /** The endpoint was deleted. */
  | { readonly type: 'abandon'; readonly at: Instant; readonly reason: string }
  /** Somebody wants it delivered now. */
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

/** What XState infers from; it holds nothing. */
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
    startProbe: assign({ probing: true }),
    countTry: assign(({ context }) => ({ tries: context.tries + 1, probing: false })),
    countAttempt: assign(({ context }) => ({ attempts: context.attempts + 1 })),
    scheduleRetry: assign(({ event }) => (event.type === 'failed' ? { dueAt: event.retryAt } : {})),
    end: assign(({ event }) => (event.type === 'probe' ? {} : { dueAt: null, endedAt: event.at })),
    recordReason: assign(({ event }) => ('reason' in event ? { reason: event.reason } : {})),
    beginAnew: assign(({ context, event }) =>
      event.type === 'redrive' ? { ...newDelivery(event.at), tries: context.tries } : {},
    ),
  },
}).createMachine({
  id: 'delivery',
  context: ({ input }) => input,
  initial: 'pending',
  states: {
    /** Waits for its first attempt. Success to delivering, deletion of the endpoint to dead. */
    pending: {
      on: {
        attempt: 'delivering',
        abandon: { target: 'dead', actions: ['end', 'recordReason'] },
      },
    },
    /**
     * Waits for the receiver's answer. 2xx to delivered, 3xx and 4xx to dead, anything else back to
     * waiting.
     */
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
    /**
     * Waits for `dueAt`, or for a probe before it. Success to delivering, deletion of the endpoint
     * to dead, redrive to pending.
     */
    waiting: {
      on: {
        attempt: { guard: 'isDue', target: 'delivering' },
        probe: { target: 'delivering', actions: 'startProbe' },
        redrive: { target: 'pending', actions: 'beginAnew' },
        abandon: { target: 'dead', actions: ['end', 'recordReason'] },
      },
    },
    /** The receiver has answered 2xx. Waits for nothing; a redrive sends it again. */
    delivered: { on: { redrive: { target: 'pending', actions: 'beginAnew' } } },
    /** Will not be tried again by itself. Waits for a redrive. */
    dead: { on: { redrive: { target: 'pending', actions: 'beginAnew' } } },
  },
})
