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

export function payoutSteps(state: PayoutState, context: PayoutContext): readonly TimelineStep[] {
  const { createdAt, requestId, failure, completedAt, reversedAt, wakeAt } = context
  return known([
    request(createdAt, 'created', requestId),
    ...states([
      ['created', createdAt],
      ['processing', context.processingAt],
      ['completed', completedAt],
      ['failed', context.failedAt],
      ['reversed', reversedAt],
    ]),
    ...instruction(context),
    completedAt !== undefined && executed(completedAt, context.transactionId),
    failure?.source === 'rail' && {
      at: failure.at,
      kind: 'rail',
      text: `refused: ${failure.code}`,
    },
    reversedAt !== undefined && { at: reversedAt, kind: 'rail', text: 'returned' },
    timer(wakeAt, isUnderReview(state, context) ? 'the review ends' : nextOf(context)),
  ])
}

export function intentSteps(state: IntentState, context: IntentContext): readonly TimelineStep[] {
  const { createdAt, scanned, failure, capturedAt, recall, refundedAt, refundFailedAt } = context
  return known([
    request(createdAt, 'created', context.requestId),
    scanned?.requestId !== undefined &&
      request(instantOf(scanned.requestId), 'scanned', scanned.requestId),
    ...states([
      ['created', createdAt],
      ['authorized', context.confirmedAt],
      ['captured', capturedAt],
      ['failed', context.failedAt],
      ['expired', context.expiredAt],
      ['cancelled', context.cancelledAt],
      ['refunded', refundedAt],
    ]),
    ...instruction(context),
    capturedAt !== undefined && executed(capturedAt, context.transactionId),
    failure?.source === 'rail' && {
      at: failure.at,
      kind: 'rail',
      text: `refused: ${failure.code}`,
    },
    recall !== undefined && { at: recall.requestedAt, kind: 'rail', text: 'recall requested' },
    refundFailedAt !== undefined && { at: refundFailedAt, kind: 'rail', text: 'recall refused' },
    refundedAt !== undefined && { at: refundedAt, kind: 'rail', text: 'returned' },
    timer(context.wakeAt, state === 'created' ? 'it expires' : nextOf(context)),
  ])
}

const known = (steps: readonly (Maybe | false)[]): readonly TimelineStep[] =>
  steps.filter((step): step is TimelineStep => step !== undefined && step !== false)

const request = (at: Instant, what: string, id: string | undefined): Maybe =>
  id === undefined ? undefined : { at, kind: 'request', text: `${what} by ${id}` }

const states = (all: readonly (readonly [name: string, at: Instant | undefined])[]): Maybe[] =>
  all.map(([name, at]) => (at === undefined ? undefined : { at, kind: 'state', text: name }))

type Submitted = Pick<PayoutContext | IntentContext, 'id' | 'handedOverAt' | 'asked' | 'wakeAt'>

function instruction({ id, handedOverAt: at, asked = 0, wakeAt }: Submitted): Maybe[] {
  if (at === undefined) return []
  const inquired: Maybe =
    asked === 0
      ? undefined
      : { at: lastInquiryAt(at, asked, wakeAt), kind: 'rail', text: `inquiry number ${asked}` }
  return [{ at, kind: 'rail', text: `instruction ${id} submitted` }, inquired]
}

const executed = (at: Instant, transactionId: string | undefined): TimelineStep => ({
  ...{ at, kind: 'rail' },
  text: transactionId === undefined ? 'executed' : `executed: transaction ${transactionId}`,
})

const timer = (at: Instant | null, what: string): Maybe =>
  at === null ? undefined : { at, kind: 'timer', text: `due: ${what}` }

const nextOf = ({ handedOverAt }: Pick<Submitted, 'handedOverAt'>): string =>
  handedOverAt === undefined ? 'the submission' : 'the next inquiry'
