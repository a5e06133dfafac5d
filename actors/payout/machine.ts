/**
 * The state machine of a payout.
 *
 * Owns: states, transitions and their outputs. Does not own: the checks before acceptance (the
 * command), SQL, the rail, the clock.
 *
 * - Purity, unknown outcomes and inquiries follow the rules of `actors/intent/machine.ts`.
 * - An accepted payout leaves `created` in the commit that creates it; only a payout held for
 *   review stays there. One that is found equal to an orphan execution later is held in
 *   `processing`: its public state does not go back.
 */
import { assign, emit, setup } from 'xstate'
import type { MachineOutput } from '../output.js'
import { submitted } from '../rail_inquiry.js'
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
import type { PayoutContext, PayoutEvent, PayoutFailure, PayoutState } from './context.js'

/** The public failure of a return, reported by the rail or by an operator. */
function returnFailure(event: PayoutEvent): PayoutFailure {
  const source = event.type === 'returned' ? (event.source ?? 'rail') : 'rail'
  return { code: source === 'rail' ? 'returned_by_bank' : 'returned', source, at: event.at }
}

const outputs = (output: MachineOutput): MachineOutput => output

/** For XState's type inference only. */
const types = {} as {
  context: PayoutContext
  events: PayoutEvent
  emitted: MachineOutput
  input: PayoutContext
}

export const payoutMachine = setup({
  types,
  guards: {
    ...GUARDS,
  },
  actions: {
    recordProcessing: assign(({ event }) => ({ processingAt: event.at, dueAt: event.at })),
    submit: assign(({ event }) => submitted(event.at)),
    recordOrphan: assign(({ event }) =>
      event.type === 'hold' ? { orphan: event.heldFor.orphan } : {},
    ),
    holdForReview: assign(({ event }) =>
      event.type === 'hold' ? { heldFor: event.heldFor, dueAt: event.heldFor.until } : {},
    ),
    endHold: assign(({ context, event }) => ({
      heldFor: { ...context.heldFor!, approvedAt: event.at },
      dueAt: event.at,
    })),
    scheduleNextInquiry: assign(({ context, event }) => nextInquiry({ context, event })),
    recordTransaction: assign(({ event }) =>
      event.type === 'executed' ? { completedAt: event.at, ...execution(event) } : {},
    ),
    recordRefusal: assign(({ event }) => (event.type === 'refused' ? refusal(event) : {})),
    recordRejection: assign(({ event }) => ({
      failedAt: event.at,
      failure: {
        code: event.type === 'timer' ? 'review_expired' : 'review_rejected',
        source: 'review' as const,
        at: event.at,
      },
      dueAt: null,
    })),
    scheduleInquiry: assign(({ context, event }) =>
      nextInquiryAfterEnd({
        context: { ...context, endedAt: context.completedAt ?? context.failedAt! },
        at: event.at,
      }),
    ),
    clearTimer: assign(() => ({ dueAt: null })),
    recordReturn: assign(({ event }) => ({
      reversedAt: event.at,
      failure: returnFailure(event),
      dueAt: null,
    })),

    instruct: emit(outputs({ type: 'instruct' })),
    query: emit(outputs({ type: 'query' })),
    settle: emit(outputs({ type: 'post', plan: 'payout_completed' })),
    release: emit(outputs({ type: 'post', plan: 'payout_failed' })),
    refund: emit(outputs({ type: 'post', plan: 'payout_reversed' })),
    publishProcessing: emit(outputs({ type: 'publish', event: 'payout.processing' })),
    publishCompleted: emit(outputs({ type: 'publish', event: 'payout.completed' })),
    publishFailed: emit(outputs({ type: 'publish', event: 'payout.failed' })),
    publishReversed: emit(outputs({ type: 'publish', event: 'payout.reversed' })),
  },
}).createMachine({
  id: 'payout',
  context: ({ input }) => input,
  initial: 'created',
  states: {
    /** Accepted and reserved. Approved at once, or by a reviewer before the review's deadline. */
    created: {
      on: {
        approve: [
          {
            guard: 'canSubmit',
            target: 'processing',
            actions: ['recordProcessing', 'submit', 'publishProcessing', 'instruct'],
          },
          { target: 'processing', actions: ['recordProcessing', 'publishProcessing'] },
        ],
        reject: {
          target: 'failed',
          actions: ['recordRejection', 'release', 'publishFailed'],
        },
        timer: { target: 'failed', actions: ['recordRejection', 'release', 'publishFailed'] },
        hold: { actions: 'recordOrphan' },
      },
    },
    /**
     * Queued, submitted or of unknown outcome. Waits for the rail's report, with inquiries. A held
     * payout waits for a reviewer.
     */
    processing: {
      on: {
        ...WAITS_FOR_REPORT,
        reject: {
          guard: 'isHeld',
          target: 'failed',
          actions: ['recordRejection', 'release', 'publishFailed'],
        },
        timer: [
          {
            guard: 'isHeld',
            target: 'failed',
            actions: ['recordRejection', 'release', 'publishFailed'],
          },
          { guard: 'canInquire', actions: ['scheduleNextInquiry', 'query'] },
          { guard: 'canSubmit', actions: ['submit', 'instruct'] },
        ],
        executed: {
          target: 'completed',
          actions: ['recordTransaction', 'settle', 'publishCompleted'],
        },
        refused: { target: 'failed', actions: ['recordRefusal', 'release', 'publishFailed'] },
      },
    },
    /**
     * The recipient has the money; the bank may still return it. The timer runs only while the
     * inquiry after a resolve is open.
     */
    completed: {
      on: {
        ...WAITS_AFTER_RESOLVE,
        returned: {
          target: 'reversed',
          actions: ['recordReturn', 'refund', 'publishReversed'],
        },
      },
    },
    /** The reservation is released. The timer runs as in `completed`. */
    failed: { on: WAITS_AFTER_RESOLVE },
    reversed: { type: 'final' },
  },
})

export const payoutTransitions = transitionsOf<
  PayoutState,
  PayoutContext,
  PayoutEvent,
  MachineOutput
>(payoutMachine)
