/**
 * The state machine of a payment intent.
 *
 * Owns: states, transitions and their outputs. Does not own: the checks of balances, limits and
 * quotes (the processor's commands), SQL, the rail, the clock.
 *
 * - Flat and pure: no invoke, no after, no promise. The same snapshot and event give the same
 *   result.
 * - Once submitted, only a rail report or an operator's resolve ends an intent; a missing report is
 *   an unknown outcome. After a resolve the inquiries continue until the rail answers.
 * - An event that a state does not handle changes nothing; callers check `can` first where it
 *   matters.
 * - `timer` is only sent when `dueAt` is due.
 * - A timer that can only wait for the rail changes nothing while the rail is down: it stays due.
 */
import { assign, emit, setup } from 'xstate'
import { REMINTS_KEPT } from '../../src/base/constants.js'
import { DAY, plus } from '../../src/base/clock.js'
import type { MachineOutput } from '../output.js'
import { nextInquiryAt, submitted } from '../rail_inquiry.js'
import {
  execution,
  GUARDS,
  nextInquiry,
  nextInquiryAfterEnd,
  refusal,
  WAITS_AFTER_RESOLVE,
  WAITS_FOR_REPORT,
} from '../submission.js'
import { transitionsOf } from '../transition_table.js'
import type { IntentContext, IntentEvent, IntentState } from './context.js'

const REFUNDABLE_FOR_MS = 90 * DAY

const outputs = (output: MachineOutput): MachineOutput => output

/** For XState's type inference only. */
const types = {} as {
  context: IntentContext
  events: IntentEvent
  emitted: MachineOutput
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
    ...GUARDS,
    canInquireRecall: ({ context, event }) =>
      context.recall !== undefined &&
      context.recall.refused !== true &&
      'railUp' in event &&
      event.railUp,
    isToBeHeld: ({ event }) => event.type === 'confirm' && event.heldFor !== undefined,
    isNotSubmitted: ({ context }) => context.submittedAt === undefined,
    isTooLate: ({ context, event }) =>
      event.type === 'timer' &&
      context.submittedAt === undefined &&
      context.confirmation !== undefined &&
      event.at >= context.confirmation.notAfter,
  },
  actions: {
    bindScan: assign(({ event }) => (event.type === 'scan' ? { scanned: event.scanned } : {})),
    recordRemint: assign(({ context, event }) =>
      event.type === 'remint'
        ? { remints: [...(context.remints ?? []), event.remint].slice(-REMINTS_KEPT) }
        : {},
    ),
    recordConfirmation: assign(({ event }) =>
      event.type === 'confirm'
        ? { confirmation: event.confirmation, confirmedAt: event.at, dueAt: event.at }
        : {},
    ),
    holdForReview: assign(({ event }) =>
      'heldFor' in event && event.heldFor !== undefined
        ? { heldFor: event.heldFor, dueAt: event.heldFor.until }
        : {},
    ),
    /** The intent is submitted as if it were confirmed now. */
    endHold: assign(({ context, event }) =>
      event.type === 'approve'
        ? {
            heldFor: { ...context.heldFor!, approvedAt: event.at },
            confirmation: { ...context.confirmation!, notAfter: event.notAfter },
            dueAt: event.at,
          }
        : {},
    ),
    recordRejection: assign(({ event }) => ({
      failedAt: event.at,
      failure: {
        code: event.type === 'timer' ? 'review_expired' : 'payment_review_rejected',
        source: 'service' as const,
        at: event.at,
      },
      dueAt: null,
    })),
    submit: assign(({ event }) => submitted(event.at)),
    scheduleNextInquiry: assign(({ context, event }) => nextInquiry({ context, event })),
    recordTransaction: assign(({ event }) =>
      event.type === 'executed' ? { capturedAt: event.at, ...execution(event) } : {},
    ),
    recordRefusal: assign(({ event }) => (event.type === 'refused' ? refusal(event) : {})),
    recordTooLate: assign(({ event }) => ({
      failedAt: event.at,
      failure: { code: 'rail_unavailable', source: 'service' as const, at: event.at },
      dueAt: null,
    })),
    recordRecall: assign(({ event }) => ({
      recall: { requestedAt: event.at, inquiries: 0 },
      dueAt: nextInquiryAt(event.at, 0, event.at),
    })),
    scheduleRecall: assign(({ context, event }) => {
      const { requestedAt, inquiries } = context.recall!
      return {
        recall: { requestedAt, inquiries: inquiries + 1 },
        dueAt: nextInquiryAt(requestedAt, inquiries + 1, event.at),
      }
    }),
    recordRecallRefused: assign(({ context, event }) => ({
      recall: { ...context.recall!, refused: true },
      refundFailedAt: event.at,
      refundsFailed: (context.refundsFailed ?? 0) + 1,
      dueAt: null,
    })),
    scheduleInquiry: assign(({ context, event }) =>
      nextInquiryAfterEnd({
        context: { ...context, endedAt: context.capturedAt ?? context.failedAt! },
        at: event.at,
      }),
    ),
    clearTimer: assign(() => ({ dueAt: null })),
    recordExpired: assign(({ event }) => ({ expiredAt: event.at, dueAt: null })),
    recordCancelled: assign(({ event }) => ({ cancelledAt: event.at, dueAt: null })),
    recordRefunded: assign(({ event }) => ({
      refundedAt: event.at,
      dueAt: null,
      ...(event.type === 'returned' && event.source === 'service'
        ? { refundSource: 'service' as const }
        : {}),
    })),

    instruct: emit(outputs({ type: 'instruct' })),
    query: emit(outputs({ type: 'query' })),
    requestRecall: emit(outputs({ type: 'recall' })),
    reserve: emit(outputs({ type: 'post', plan: 'intent_confirmed' })),
    settle: emit(outputs({ type: 'post', plan: 'intent_captured' })),
    releaseFailed: emit(outputs({ type: 'post', plan: 'intent_failed' })),
    releaseCancelled: emit(outputs({ type: 'post', plan: 'intent_cancelled' })),
    refund: emit(outputs({ type: 'post', plan: 'intent_refunded' })),
    useLimits: emit(outputs({ type: 'useLimits' })),
    releaseLimits: emit(outputs({ type: 'releaseLimits' })),
    publishAuthorized: emit(outputs({ type: 'publish', event: 'payment_intent.authorized' })),
    publishCaptured: emit(outputs({ type: 'publish', event: 'payment_intent.captured' })),
    publishFailed: emit(outputs({ type: 'publish', event: 'payment_intent.failed' })),
    publishExpired: emit(outputs({ type: 'publish', event: 'payment_intent.expired' })),
    publishCancelled: emit(outputs({ type: 'publish', event: 'payment_intent.cancelled' })),
    publishRefunded: emit(outputs({ type: 'publish', event: 'payment_intent.refunded' })),
    publishRefundFailed: emit(outputs({ type: 'publish', event: 'payment_intent.refund_failed' })),
  },
}).createMachine({
  id: 'intent',
  context: ({ input }) => input,
  initial: 'created',
  states: {
    /** Waits for a scan and the user's confirmation, until cancelled or expired. */
    created: {
      on: {
        scan: { actions: 'bindScan' },
        remint: { actions: 'recordRemint' },
        confirm: [
          {
            guard: 'isToBeHeld',
            target: 'authorized',
            actions: [
              'recordConfirmation',
              'holdForReview',
              'reserve',
              'useLimits',
              'publishAuthorized',
            ],
          },
          {
            guard: 'canSubmit',
            target: 'authorized',
            actions: [
              'recordConfirmation',
              'submit',
              'reserve',
              'useLimits',
              'publishAuthorized',
              'instruct',
            ],
          },
          {
            target: 'authorized',
            actions: ['recordConfirmation', 'reserve', 'useLimits', 'publishAuthorized'],
          },
        ],
        cancel: { target: 'cancelled', actions: ['recordCancelled', 'publishCancelled'] },
        timer: { target: 'expired', actions: ['recordExpired', 'publishExpired'] },
      },
    },
    /**
     * The money is reserved. Waits for the rail's report, with inquiries at intervals. A held
     * intent waits for a reviewer before it is submitted.
     */
    authorized: {
      on: {
        remint: { actions: 'recordRemint' },
        ...WAITS_FOR_REPORT,
        reject: {
          guard: 'isHeld',
          target: 'failed',
          actions: ['recordRejection', 'releaseFailed', 'releaseLimits', 'publishFailed'],
        },
        timer: [
          {
            guard: 'isHeld',
            target: 'failed',
            actions: ['recordRejection', 'releaseFailed', 'releaseLimits', 'publishFailed'],
          },
          { guard: 'canInquire', actions: ['scheduleNextInquiry', 'query'] },
          {
            guard: 'isTooLate',
            target: 'failed',
            actions: ['recordTooLate', 'releaseFailed', 'releaseLimits', 'publishFailed'],
          },
          { guard: 'canSubmit', actions: ['submit', 'instruct'] },
        ],
        executed: {
          target: 'captured',
          actions: ['recordTransaction', 'settle', 'publishCaptured'],
        },
        refused: {
          target: 'failed',
          actions: ['recordRefusal', 'releaseFailed', 'releaseLimits', 'publishFailed'],
        },
        cancel: {
          guard: 'isNotSubmitted',
          target: 'cancelled',
          actions: ['recordCancelled', 'releaseCancelled', 'releaseLimits', 'publishCancelled'],
        },
      },
    },
    /** The merchant has the money. It may come back, by a bank return or a recall. */
    captured: {
      on: {
        recall: { guard: 'mayRecall', actions: ['recordRecall', 'requestRecall'] },
        timer: [
          { guard: 'canInquireRecall', actions: ['scheduleRecall', 'requestRecall'] },
          { guard: 'canInquire', actions: ['scheduleInquiry', 'query'] },
        ],
        inquiryAnswered: { guard: 'isNotRecalling', actions: 'clearTimer' },
        recallRefused: {
          guard: 'isRecalling',
          actions: ['recordRecallRefused', 'publishRefundFailed'],
        },
        returned: {
          target: 'refunded',
          actions: ['recordRefunded', 'refund', 'publishRefunded'],
        },
      },
    },
    /** The money is released. The timer runs only while the inquiry after a resolve is open. */
    failed: { on: WAITS_AFTER_RESOLVE },
    expired: { type: 'final' },
    cancelled: { type: 'final' },
    refunded: { type: 'final' },
  },
})

export const intentTransitions = transitionsOf<
  IntentState,
  IntentContext,
  IntentEvent,
  MachineOutput
>(intentMachine)
