/**
 * The steps of a payment that its own row tells of: the requests that made it, its states, what was
 * sent to the rail and reported by it, the timer that is due next.
 *
 * - They are as old as the row: only the latest scan and the latest recall are known.
 */
import type { IntentContext, IntentState } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import { isUnderReview, type PayoutState } from '../../../actors/payout/context.js'
import { lastInquiryAt } from '../../../actors/rail_inquiry.js'
import type { Instant } from '../../base/clock.js'
import { instantOf } from '../../base/ids.js'

export interface TimelineStep {
  readonly at: number
  readonly kind: 'request' | 'state' | 'rail' | 'timer'
  readonly text: string
}

type Maybe = TimelineStep | undefined

/** In the order of their causes: those of one moment keep it. */
export function payoutSteps(state: PayoutState, context: PayoutContext): readonly TimelineStep[] {
  const { createdAt, completedAt, reversedAt } = context
  return known([
    request(createdAt, 'created', context.requestId),
    entered('created', createdAt),
    entered('processing', context.processingAt),
    ...instruction(context),
    ...executed(completedAt, context),
    entered('completed', completedAt),
    ...refused(context),
    entered('failed', context.failedAt),
    rail(reversedAt, 'returned'),
    entered('reversed', reversedAt),
    timer(context.dueAt, isUnderReview(state, context) ? 'the review ends' : nextOf(context)),
  ])
}

/** Likewise. */
export function intentSteps(state: IntentState, context: IntentContext): readonly TimelineStep[] {
  const { createdAt, scanned, capturedAt, recall, refundedAt } = context
  return known([
    request(createdAt, 'created', context.requestId),
    entered('created', createdAt),
    scannedBy(scanned?.requestId),
    entered('authorized', context.confirmedAt),
    ...instruction(context),
    ...executed(capturedAt, context),
    entered('captured', capturedAt),
    ...refused(context),
    entered('failed', context.failedAt),
    entered('expired', context.expiredAt),
    entered('cancelled', context.cancelledAt),
    rail(recall?.requestedAt, 'recall requested'),
    rail(context.refundFailedAt, 'recall refused'),
    rail(refundedAt, 'returned'),
    entered('refunded', refundedAt),
    timer(context.dueAt, state === 'created' ? 'it expires' : nextOf(context)),
  ])
}

const known = (steps: readonly Maybe[]): readonly TimelineStep[] =>
  steps.filter((step) => step !== undefined)

type Context = PayoutContext | IntentContext

const request = (at: Instant, what: string, id: string | undefined): Maybe =>
  id === undefined ? undefined : { at, kind: 'request', text: `${what} by ${id}` }

const scannedBy = (id: string | undefined): Maybe =>
  id === undefined ? undefined : request(instantOf(id), 'scanned', id)

const entered = (state: PayoutState | IntentState, at: Instant | undefined): Maybe =>
  at === undefined ? undefined : { at, kind: 'state', text: state }

const rail = (at: Instant | undefined, text: string): Maybe =>
  at === undefined ? undefined : { at, kind: 'rail', text }

function instruction({ id, submittedAt: at, inquiries = 0, dueAt }: Context): readonly Maybe[] {
  if (at === undefined) return []
  const submitted = rail(at, `instruction ${id} submitted`)
  if (inquiries === 0) return [submitted]
  return [submitted, rail(lastInquiryAt(at, inquiries, dueAt), `inquiry number ${inquiries}`)]
}

/** The rail's own report: an operator's resolution has no transaction. */
const executed = (at: Instant | undefined, { transactionId }: Context): readonly Maybe[] =>
  transactionId === undefined ? [] : [rail(at, `executed: transaction ${transactionId}`)]

const refused = ({ failure }: Context): readonly Maybe[] =>
  failure?.source === 'rail' ? [rail(failure.at, `refused: ${failure.code}`)] : []

const timer = (at: Instant | null, what: string): Maybe =>
  at === null ? undefined : { at, kind: 'timer', text: `due: ${what}` }

const nextOf = ({ submittedAt }: Context): string =>
  submittedAt === undefined ? 'the submission' : 'the next inquiry'
