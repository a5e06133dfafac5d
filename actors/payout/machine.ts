/**
 * The life of a payout.
 *
 * Owns: states, transitions, and what follows from each. Does not own: the checks before acceptance
 * (the command), SQL, the rail, the clock.
 *
 * M1. Flat and pure, as the intent's machine.
 * M2. `created` is public but short: an accepted payout passes it in the commit that creates it;
 *     only a payout held for review rests there.
 * M3. Once handed over, only news ends it, as an intent (its M2).
 * M4. A question that can not be put waits for the rail, as an intent's does (its M5).
 */
import { assign, emit, setup } from 'xstate'
import { plus } from '../../src/base/clock.js'
import type { Consequence } from '../consequence.js'
import {
  HAND_OVER_AGAIN_MS,
  handedOver,
  nextInquiryAfterResolve,
  nextQuestionAt,
} from '../unknown_outcome.js'
import type { PayoutContext, PayoutEvent, PayoutFailure } from './context.js'

/** What the public is told of a return: the rail's word, or that of an operator who saw it. */
function returnTold(event: PayoutEvent): PayoutFailure {
  const source = event.type === 'returned' ? (event.source ?? 'rail') : 'rail'
  return { code: source === 'rail' ? 'returned_by_bank' : 'returned', source, at: event.at }
}

const follows = (consequence: Consequence): Consequence => consequence

/** What XState infers from; it holds nothing. */
const types = {} as {
  context: PayoutContext
  events: PayoutEvent
  emitted: Consequence
  input: PayoutContext
}

export const payoutMachine = setup({
  types,
  guards: {
    canAsk: ({ context, event }) =>
      context.handedOverAt !== undefined && 'railUp' in event && event.railUp,
    canHandOver: ({ event }) => 'railUp' in event && event.railUp,
  },
  actions: {
    markProcessing: assign(({ event }) => ({ processingAt: event.at, wakeAt: event.at })),
    handOver: assign(({ event }) => handedOver(event.at)),
    tryAgainSoon: assign(({ event }) => ({ wakeAt: plus(event.at, HAND_OVER_AGAIN_MS) })),
    scheduleQuestion: assign(({ context }) => {
      const asked = (context.asked ?? 0) + 1
      return { asked, wakeAt: nextQuestionAt(context.handedOverAt!, asked) }
    }),
    rememberTransaction: assign(({ event }) =>
      event.type === 'executed'
        ? {
            ...(event.transactionId === undefined ? {} : { transactionId: event.transactionId }),
            completedAt: event.at,
            wakeAt:
              event.transactionId === undefined
                ? nextInquiryAfterResolve(event.at, event.at)
                : null,
          }
        : {},
    ),
    rememberRefusal: assign(({ event }) =>
      event.type === 'refused'
        ? {
            failedAt: event.at,
            failure: { code: event.refusal, source: event.source ?? 'rail', at: event.at },
            wakeAt: event.source === 'service' ? nextInquiryAfterResolve(event.at, event.at) : null,
          }
        : {},
    ),
    rememberRejection: assign(({ event }) => ({
      failedAt: event.at,
      failure: {
        code: event.type === 'wake' ? 'review_expired' : 'review_rejected',
        source: 'review' as const,
        at: event.at,
      },
      wakeAt: null,
    })),
    scheduleInquiry: assign(({ context, event }) => ({
      wakeAt: nextInquiryAfterResolve(context.completedAt ?? context.failedAt!, event.at),
    })),
    clearTimer: assign({ wakeAt: null }),
    rememberReturn: assign(({ event }) => ({
      reversedAt: event.at,
      failure: returnTold(event),
      wakeAt: null,
    })),

    instruct: emit(follows({ type: 'instruct' })),
    query: emit(follows({ type: 'query' })),
    settle: emit(follows({ type: 'post', plan: 'payout_completed' })),
    release: emit(follows({ type: 'post', plan: 'payout_failed' })),
    giveBack: emit(follows({ type: 'post', plan: 'payout_reversed' })),
    publishProcessing: emit(follows({ type: 'publish', event: 'payout.processing' })),
    publishCompleted: emit(follows({ type: 'publish', event: 'payout.completed' })),
    publishFailed: emit(follows({ type: 'publish', event: 'payout.failed' })),
    publishReversed: emit(follows({ type: 'publish', event: 'payout.reversed' })),
  },
}).createMachine({
  id: 'payout',
  context: ({ input }) => input,
  initial: 'created',
  states: {
    /**
     * Accepted and reserved. Waits for approval: at once, or by a reviewer until the review's
     * deadline.
     */
    created: {
      on: {
        approve: [
          {
            guard: 'canHandOver',
            target: 'processing',
            actions: ['markProcessing', 'handOver', 'publishProcessing', 'instruct'],
          },
          { target: 'processing', actions: ['markProcessing', 'publishProcessing'] },
        ],
        reject: {
          target: 'failed',
          actions: ['rememberRejection', 'release', 'publishFailed'],
        },
        wake: { target: 'failed', actions: ['rememberRejection', 'release', 'publishFailed'] },
      },
    },
    /** Queued, submitted or of unknown outcome. Waits for the rail's word; without one it asks. */
    processing: {
      on: {
        wake: [
          { guard: 'canAsk', actions: ['scheduleQuestion', 'query'] },
          { guard: 'canHandOver', actions: ['handOver', 'instruct'] },
          { actions: 'tryAgainSoon' },
        ],
        notFound: { actions: 'instruct' },
        executed: {
          target: 'completed',
          actions: ['rememberTransaction', 'settle', 'publishCompleted'],
        },
        refused: { target: 'failed', actions: ['rememberRefusal', 'release', 'publishFailed'] },
      },
    },
    /**
     * Delivered. Has a timer only while the inquiry after a resolve is unanswered; the bank may
     * still return it.
     */
    completed: {
      on: {
        wake: [
          { guard: 'canAsk', actions: ['scheduleInquiry', 'query'] },
          { actions: 'tryAgainSoon' },
        ],
        answered: { actions: 'clearTimer' },
        returned: {
          target: 'reversed',
          actions: ['rememberReturn', 'giveBack', 'publishReversed'],
        },
      },
    },
    /** The money is released. Has a timer as a completed one. */
    failed: {
      on: {
        wake: [
          { guard: 'canAsk', actions: ['scheduleInquiry', 'query'] },
          { actions: 'tryAgainSoon' },
        ],
        answered: { actions: 'clearTimer' },
      },
    },
    reversed: { type: 'final' },
  },
})
