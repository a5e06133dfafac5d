/**
 * The life of a payment intent.
 *
 * Owns: states, transitions, and what follows from each. Does not own: whether a command is allowed
 * (the commands of the processor check balances, limits and quotes first), SQL, the rail, the
 * clock.
 *
 * M1. Flat and pure: no invoke, no after, no promise. The same snapshot and event give the same
 *     result.
 * M2. Once handed over, only news ends an intent, the rail's or what a person found out: silence is
 *     an unknown outcome. What a person found out is asked of the rail until it answers.
 * M3. An event a state does not name changes nothing; callers ask `can` first where that would be a
 *     surprise.
 * M4. `wake` is only sent when `wakeAt` has come.
 * M5. A question counts only when it can be put: while the rail is away it waits for the rail, not
 *     for its next turn hours later.
 */
import { assign, emit, setup } from 'xstate'
import { REMINTS_KEPT } from '../../src/base/bounds.js'
import { DAY, plus } from '../../src/base/clock.js'
import type { Consequence } from '../consequence.js'
import {
  HAND_OVER_AGAIN_MS,
  handedOver,
  nextInquiryAfterResolve,
  nextQuestionAt,
} from '../unknown_outcome.js'
import { isHeld, type IntentContext, type IntentEvent } from './context.js'

const REFUNDABLE_FOR_MS = 90 * DAY

const follows = (consequence: Consequence): Consequence => consequence

/** What XState infers from; it holds nothing. */
const types = {} as {
  context: IntentContext
  events: IntentEvent
  emitted: Consequence
  input: IntentContext
}

export const intentMachine = setup({
  types,
  guards: {
    isRecalling: ({ context }) => context.recall !== undefined && context.recall.refused !== true,
    isNotRecalling: ({ context }) =>
      context.recall === undefined || context.recall.refused === true,
    mayRecall: ({ context, event }) =>
      (context.recall === undefined || context.recall.refused === true) &&
      event.at < plus(context.capturedAt!, REFUNDABLE_FOR_MS),
    canAsk: ({ context, event }) =>
      context.handedOverAt !== undefined && 'railUp' in event && event.railUp,
    canAskBack: ({ context, event }) =>
      context.recall !== undefined &&
      context.recall.refused !== true &&
      'railUp' in event &&
      event.railUp,
    isToBeHeld: ({ event }) => event.type === 'confirm' && event.heldFor !== undefined,
    isHeld: ({ context }) => isHeld(context),
    isHeldAndRailUp: ({ context, event }) => isHeld(context) && 'railUp' in event && event.railUp,
    isNotHandedOver: ({ context }) => context.handedOverAt === undefined,
    canHandOver: ({ event }) => 'railUp' in event && event.railUp,
    isTooLate: ({ context, event }) =>
      event.type === 'wake' &&
      context.handedOverAt === undefined &&
      context.confirmation !== undefined &&
      event.at >= context.confirmation.notAfter,
  },
  actions: {
    bindScan: assign({
      scanned: ({ context, event }) => (event.type === 'scan' ? event.scanned : context.scanned!),
    }),
    recordRemint: assign({
      remints: ({ context, event }) =>
        [...(context.remints ?? []), ...(event.type === 'remint' ? [event.remint] : [])].slice(
          -REMINTS_KEPT,
        ),
    }),
    rememberConfirmation: assign(({ event }) =>
      event.type === 'confirm'
        ? { confirmation: event.confirmation, confirmedAt: event.at, wakeAt: event.at }
        : {},
    ),
    holdForReview: assign(({ event }) =>
      event.type === 'confirm' && event.heldFor !== undefined
        ? { heldFor: event.heldFor, wakeAt: event.heldFor.until }
        : {},
    ),
    /** From now on it goes to the rail as if it had been confirmed at this moment. */
    endHold: assign(({ context, event }) =>
      event.type === 'approve'
        ? {
            heldFor: { ...context.heldFor!, approvedAt: event.at },
            confirmation: { ...context.confirmation!, notAfter: event.notAfter },
            wakeAt: event.at,
          }
        : {},
    ),
    rememberRejection: assign(({ event }) => ({
      failedAt: event.at,
      failure: {
        code: event.type === 'wake' ? 'review_expired' : 'payment_review_rejected',
        source: 'service' as const,
        at: event.at,
      },
      wakeAt: null,
    })),
    handOver: assign(({ event }) => handedOver(event.at)),
    tryAgainSoon: assign(({ event }) => ({
      wakeAt: plus(event.at, HAND_OVER_AGAIN_MS),
    })),
    scheduleQuestion: assign(({ context }) => {
      const asked = (context.asked ?? 0) + 1
      return { asked, wakeAt: nextQuestionAt(context.handedOverAt!, asked) }
    }),
    rememberTransaction: assign(({ event }) =>
      event.type === 'executed'
        ? {
            ...(event.transactionId === undefined ? {} : { transactionId: event.transactionId }),
            capturedAt: event.at,
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
    rememberTooLate: assign(({ event }) => ({
      failedAt: event.at,
      failure: { code: 'rail_unavailable', source: 'service' as const, at: event.at },
      wakeAt: null,
    })),
    rememberRecall: assign(({ event }) => ({
      recall: { requestedAt: event.at, asked: 0 },
      wakeAt: nextQuestionAt(event.at, 0),
    })),
    scheduleRecall: assign(({ context }) => {
      const { requestedAt, asked } = context.recall!
      return {
        recall: { requestedAt, asked: asked + 1 },
        wakeAt: nextQuestionAt(requestedAt, asked + 1),
      }
    }),
    rememberRecallRefused: assign(({ context, event }) => ({
      recall: { ...context.recall!, refused: true },
      refundFailedAt: event.at,
      refundsFailed: (context.refundsFailed ?? 0) + 1,
      wakeAt: null,
    })),
    scheduleInquiry: assign(({ context, event }) => ({
      wakeAt: nextInquiryAfterResolve(context.capturedAt ?? context.failedAt!, event.at),
    })),
    clearTimer: assign({ wakeAt: null }),
    markExpired: assign(({ event }) => ({ expiredAt: event.at, wakeAt: null })),
    markCancelled: assign(({ event }) => ({ cancelledAt: event.at, wakeAt: null })),
    markRefunded: assign(({ event }) => ({ refundedAt: event.at, wakeAt: null })),

    instruct: emit(follows({ type: 'instruct' })),
    askBack: emit(follows({ type: 'recall' })),
    query: emit(follows({ type: 'query' })),
    reserve: emit(follows({ type: 'post', plan: 'intent_confirmed' })),
    settle: emit(follows({ type: 'post', plan: 'intent_captured' })),
    releaseFailed: emit(follows({ type: 'post', plan: 'intent_failed' })),
    releaseCancelled: emit(follows({ type: 'post', plan: 'intent_cancelled' })),
    giveBack: emit(follows({ type: 'post', plan: 'intent_refunded' })),
    useLimits: emit(follows({ type: 'useLimits' })),
    releaseLimits: emit(follows({ type: 'releaseLimits' })),
    publishAuthorized: emit(follows({ type: 'publish', event: 'payment_intent.authorized' })),
    publishCaptured: emit(follows({ type: 'publish', event: 'payment_intent.captured' })),
    publishFailed: emit(follows({ type: 'publish', event: 'payment_intent.failed' })),
    publishExpired: emit(follows({ type: 'publish', event: 'payment_intent.expired' })),
    publishCancelled: emit(follows({ type: 'publish', event: 'payment_intent.cancelled' })),
    publishRefunded: emit(follows({ type: 'publish', event: 'payment_intent.refunded' })),
    publishRefundFailed: emit(follows({ type: 'publish', event: 'payment_intent.refund_failed' })),
  },
}).createMachine({
  id: 'intent',
  context: ({ input }) => input,
  initial: 'created',
  states: {
    /**
     * Waits for a scan and the user's confirmation. Ends as cancelled or, at its deadline, expired.
     */
    created: {
      on: {
        scan: { actions: 'bindScan' },
        remint: { actions: 'recordRemint' },
        confirm: [
          {
            guard: 'isToBeHeld',
            target: 'authorized',
            actions: [
              'rememberConfirmation',
              'holdForReview',
              'reserve',
              'useLimits',
              'publishAuthorized',
            ],
          },
          {
            guard: 'canHandOver',
            target: 'authorized',
            actions: [
              'rememberConfirmation',
              'handOver',
              'reserve',
              'useLimits',
              'publishAuthorized',
              'instruct',
            ],
          },
          {
            target: 'authorized',
            actions: ['rememberConfirmation', 'reserve', 'useLimits', 'publishAuthorized'],
          },
        ],
        cancel: { target: 'cancelled', actions: ['markCancelled', 'publishCancelled'] },
        wake: { target: 'expired', actions: ['markExpired', 'publishExpired'] },
      },
    },
    /**
     * The money is reserved. Waits for the rail's word; without one it asks, and never guesses. A
     * held one waits for a reviewer before it is submitted.
     */
    authorized: {
      on: {
        remint: { actions: 'recordRemint' },
        approve: [
          { guard: 'isHeldAndRailUp', actions: ['endHold', 'handOver', 'instruct'] },
          { guard: 'isHeld', actions: 'endHold' },
        ],
        reject: {
          guard: 'isHeld',
          target: 'failed',
          actions: ['rememberRejection', 'releaseFailed', 'releaseLimits', 'publishFailed'],
        },
        wake: [
          {
            guard: 'isHeld',
            target: 'failed',
            actions: ['rememberRejection', 'releaseFailed', 'releaseLimits', 'publishFailed'],
          },
          { guard: 'canAsk', actions: ['scheduleQuestion', 'query'] },
          {
            guard: 'isTooLate',
            target: 'failed',
            actions: ['rememberTooLate', 'releaseFailed', 'releaseLimits', 'publishFailed'],
          },
          { guard: 'canHandOver', actions: ['handOver', 'instruct'] },
          { actions: 'tryAgainSoon' },
        ],
        notFound: { actions: 'instruct' },
        executed: {
          target: 'captured',
          actions: ['rememberTransaction', 'settle', 'publishCaptured'],
        },
        refused: {
          target: 'failed',
          actions: ['rememberRefusal', 'releaseFailed', 'releaseLimits', 'publishFailed'],
        },
        cancel: {
          guard: 'isNotHandedOver',
          target: 'cancelled',
          actions: ['markCancelled', 'releaseCancelled', 'releaseLimits', 'publishCancelled'],
        },
      },
    },
    /** The merchant has the money. The bank may send it back, by itself or because we asked. */
    captured: {
      on: {
        recall: { guard: 'mayRecall', actions: ['rememberRecall', 'askBack'] },
        wake: [
          { guard: 'canAskBack', actions: ['scheduleRecall', 'askBack'] },
          { guard: 'isRecalling', actions: 'tryAgainSoon' },
          { guard: 'canAsk', actions: ['scheduleInquiry', 'query'] },
          { actions: 'tryAgainSoon' },
        ],
        answered: { guard: 'isNotRecalling', actions: 'clearTimer' },
        recallRefused: {
          guard: 'isRecalling',
          actions: ['rememberRecallRefused', 'publishRefundFailed'],
        },
        returned: {
          target: 'refunded',
          actions: ['markRefunded', 'giveBack', 'publishRefunded'],
        },
      },
    },
    /** The money is released. Has a timer only while the inquiry after a resolve is unanswered. */
    failed: {
      on: {
        wake: [
          { guard: 'canAsk', actions: ['scheduleInquiry', 'query'] },
          { actions: 'tryAgainSoon' },
        ],
        answered: { actions: 'clearTimer' },
      },
    },
    expired: { type: 'final' },
    cancelled: { type: 'final' },
    refunded: { type: 'final' },
  },
})
