/**
 * What the machines of intents and payouts share: the submission to the rail, the status inquiries
 * about it, and the review of a held payment.
 *
 * Does not own: the schedule of inquiries (rail_inquiry), states and their targets (the machines).
 */
import type { Instant } from '../src/base/clock.js'
import { isHeld, type Hold } from './hold.js'
import { nextInquiryAfterResolve, nextInquiryAt } from './rail_inquiry.js'

interface Given {
  readonly context: {
    readonly submittedAt?: Instant
    readonly inquiries?: number
    readonly heldFor?: Hold
  }
  readonly event: { readonly type: string; readonly at: Instant; readonly railUp?: boolean }
}

export const GUARDS = {
  canInquire: ({ context, event }: Given): boolean =>
    context.submittedAt !== undefined && event.railUp === true,
  canSubmit: ({ event }: Given): boolean => event.railUp === true,
  isHeld: ({ context }: Given): boolean => isHeld(context),
  isNotHeld: ({ context }: Given): boolean => !isHeld(context),
  isHeldAndRailUp: ({ context, event }: Given): boolean => isHeld(context) && event.railUp === true,
}

/** Members of the context at the next status inquiry. */
export function nextInquiry({ context, event }: Given) {
  const inquiries = (context.inquiries ?? 0) + 1
  return { inquiries, dueAt: nextInquiryAt(context.submittedAt!, inquiries, event.at) }
}

interface Ended {
  readonly context: {
    readonly endedAt: Instant
    readonly inquiredSince?: Instant
    readonly dueAt: Instant | null
  }
  readonly at: Instant
}

/**
 * Members of the context at an inquiry about a payment that has ended. A timer that was set with
 * `inquiredSince` fires for the first time: the inquiries continue from then on, however old the
 * payment is.
 */
export function nextInquiryAfterEnd({ context, at }: Ended): {
  readonly inquiredSince?: Instant
  readonly dueAt: Instant | null
} {
  const { endedAt, inquiredSince, dueAt } = context
  if (inquiredSince === undefined) return { dueAt: nextInquiryAfterResolve(endedAt, at) }
  const since = dueAt === inquiredSince ? at : inquiredSince
  return { inquiredSince: since, dueAt: nextInquiryAfterResolve(since, at) }
}

interface Executed {
  readonly at: Instant
  readonly transactionId?: string
}

/** Without a transaction id an operator has resolved it, and the inquiries continue. */
export const execution = ({ at, transactionId }: Executed) =>
  transactionId === undefined
    ? { dueAt: nextInquiryAfterResolve(at, at) }
    : { transactionId, dueAt: null }

interface Refused<Source> {
  readonly at: Instant
  readonly refusal: string
  /** Default: the rail. */
  readonly source?: Source
}

/** Refused by the rail, or resolved by an operator: then the inquiries continue. */
export const refusal = <Source extends string>({ at, refusal, source }: Refused<Source>) => ({
  failedAt: at,
  failure: { code: refusal, source: source ?? ('rail' as const), at },
  dueAt: source === 'service' ? nextInquiryAfterResolve(at, at) : null,
})

/** The events of the state that waits for the rail's report, or for a reviewer. */
export const WAITS_FOR_REPORT = {
  hold: { guard: 'isNotHeld', actions: 'holdForReview' },
  approve: [
    { guard: 'isHeldAndRailUp', actions: ['endHold', 'submit', 'instruct'] },
    { guard: 'isHeld', actions: 'endHold' },
  ],
  notFound: { guard: 'isNotHeld', actions: 'instruct' },
} as const

/** The inquiries after a resolve, until the rail answers. */
export const WAITS_AFTER_RESOLVE = {
  timer: { guard: 'canInquire', actions: ['scheduleInquiry', 'query'] },
  inquiryAnswered: { actions: 'clearTimer' },
} as const
