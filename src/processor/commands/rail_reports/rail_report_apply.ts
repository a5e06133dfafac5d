/**
 * Applies a rail's report about one instruction.
 *
 * - A report must match the instruction in amount, currency and destination. A report that does not
 *   match, contradicts a known outcome or names an unknown instruction is a discrepancy for an
 *   operator, never a transition.
 * - A report from another rail than the payment's, or about another rail's instruction, is a
 *   discrepancy: it is never applied.
 * - A report about an orphan execution updates it: these books do not have its payment, or have it
 *   as not approved or confirmed yet. One about an orphan execution that is matched to a payment is
 *   about that payment.
 * - The first rail that reports an orphan execution is its rail, and that of the payment it is
 *   matched to. Until then all are asked, and an answer of one that does not have it says nothing.
 * - A repeated report changes nothing. Every report is acknowledged, after the commit of its
 *   changes.
 * - `returned` may arrive before `executed`: then both are applied in their order, as transitions
 *   or as discrepancies. The return of another execution than the known one is a discrepancy. An
 *   execution confirmed by an operator takes the transaction id of the first one the rail reports.
 * - `not_found` counts only after the rail's finality window; then the same instruction is sent
 *   again. While submissions are paused it is not: it is inquired about each minute, so that it is
 *   sent soon after their end. A held payment waits for its reviewer instead.
 * - A recall that is refused after an operator has reversed the intent is a discrepancy: the money
 *   that was refunded did not come back.
 * - Any report about a payment that an operator resolved answers the status inquiry about it.
 */
import { MINUTE, plus, type Instant } from '../../../base/clock.js'
import { PREFIX, type TenantId } from '../../../base/ids.js'
import { SANDBOX_RAIL, type Execution, type RailReport } from '../../../rails/rail.js'
import { isHeld } from '../../../../actors/hold.js'
import type { IntentContext } from '../../../../actors/intent/context.js'
import type { PayoutContext } from '../../../../actors/payout/context.js'
import { advanceIntent, stageIntent } from '../../changes/advance_intent.js'
import { advancePayout, stagePayout } from '../../changes/advance_payout.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { executionIn, recordDiscrepancy } from '../../changes/discrepancies.js'
import { isErasedCopy } from '../../changes/erased_beneficiaries.js'
import { ownExecution, reportOrphan, stageOrphan } from '../../changes/orphans.js'
import { onRail, railOf, routeOf } from '../../changes/payment_rail.js'
import { isPaused } from '../../changes/submission_pauses.js'
import { answer, type Answer } from '../../cycle/answer.js'
import type { LiveIntent, LivePayout, Memory } from '../../cache/memory.js'
import type { Orphan } from '../../cache/orphan_index.js'
import {
  accountOfIntent,
  accountOfPayout,
  instructIntent,
  instructPayout,
} from '../../changes/rail_instructions.js'
import { needIntentAndUsage } from '../intents/intent_needs.js'

const DONE = answer({})

interface Expected {
  readonly amount: bigint
  readonly currency: string
  readonly account: string
  /** Empty means that the destination names none. */
  readonly bankCode: string
}

/** An intent or a payout as the rail sees it. */
interface RailInstructionView {
  readonly tenant: TenantId
  readonly rail: string
  /** This rail has executed it. */
  moveTo(rail: string): void
  readonly state: 'open' | 'paid' | 'returned' | 'ended'
  readonly submittedAt: Instant | undefined
  /** The rail's id of the known execution; undefined when there is none from the rail. */
  readonly transactionId: string | undefined
  /** Its account number is erased, and no report can be compared with it. */
  readonly isErased: boolean
  /** Null means that nothing was instructed. */
  readonly expected: () => Expected | null
  step(
    event:
      | { type: 'executed'; at: Instant; transactionId: string }
      | { type: 'refused'; at: Instant; refusal: string }
      | { type: 'returned'; at: Instant }
      | { type: 'recallRefused'; at: Instant }
      | { type: 'notFound'; at: Instant }
      | { type: 'inquiryAnswered'; at: Instant },
  ): void
  /** An operator resolved it, and the rail has not answered the status inquiry yet. */
  isInquiredAbout(): boolean
  /** An operator reversed it before the rail had answered its recall. */
  readonly isReversedInRecall: boolean
  /** It waits for a reviewer, until the deadline of the review. */
  readonly isHeld: boolean
  /** Whether its instruction may not be sent again now. */
  isPaused(): boolean
  /** Its next inquiry, instead of the scheduled one. The one that was answered does not count. */
  inquireBy(at: Instant): void
  /** Records the rail's id of an execution that an operator confirmed. */
  recordTransaction(transactionId: string): void
}

/** A report, and why it does not match the instruction. */
interface Mismatch {
  readonly report: RailReport
  readonly reason: string
}

/**
 * @param rail the one that reports it
 * @param isForeign it answers about an instruction of another shard: its payment has moved here, it
 *   is an orphan execution of these books too, or it is not for them
 */
export function applyRailReport(
  report: RailReport,
  finalityWindowMs: number,
  rail = SANDBOX_RAIL,
  isForeign = false,
): Command {
  return {
    name: 'rail_report_apply',
    needs: (needs, memory) => {
      const id = paymentOf(memory, report)
      if (isIntent(id)) needIntentAndUsage(needs, memory, id)
      else needs.payout(id)
    },
    decide: (ctx) => {
      const id = paymentOf(ctx.memory, report)
      const found = isIntent(id)
        ? viewOfIntent(ctx, ctx.memory.intents.get(id))
        : viewOfPayout(ctx, ctx.memory.payouts.get(id))
      const payment = found !== null && isOrphanYet(ctx, found, id) ? null : found
      const orphan = executionOf(ctx.memory, report, payment)
      const isKnown = payment !== null || (orphan !== undefined && orphan.status !== 'resolved')
      if (!isKnown && isForeign) return DONE
      if (orphan !== undefined && saysNothing(ctx, orphan, report, rail)) {
        return acknowledged(ctx, report, rail)
      }
      const isLocated = orphan?.rail === null && hasIt(report) && isFromRail(report, rail, rail)
      const itsRail = payment === null ? (orphan?.rail ?? null) : payment.rail
      const isOwn = isLocated || isFromRail(report, rail, itsRail)
      const mismatches = !isOwn
        ? [{ report: { ...report, rail }, reason: 'other_rail' }]
        : payment === null
          ? applyToUnknown(ctx, report)
          : apply(ctx, payment, report, finalityWindowMs)
      if (isLocated) locate(ctx, report, payment, rail)
      if (isOwn && report.status !== 'accepted' && payment?.isInquiredAbout()) {
        payment.step({ type: 'inquiryAnswered', at: ctx.now })
      }
      for (const { report: mismatch, reason } of mismatches) {
        recordDiscrepancy(ctx, payment?.tenant ?? null, mismatch, reason)
      }
      return acknowledged(ctx, report, rail)
    },
  }
}

function acknowledged(ctx: CommandContext, { reportId }: RailReport, rail: string): Answer {
  if (reportId !== null) ctx.batch.addInstruction(rail, { kind: 'acknowledge', reportId })
  return DONE
}

/** Not approved or confirmed in these books, unlike in the lost ones. */
const isOrphanYet = (ctx: CommandContext, payment: RailInstructionView, id: string): boolean =>
  payment.state === 'ended' &&
  payment.submittedAt === undefined &&
  ownExecution(ctx, id) !== undefined

const NO_MISMATCH: readonly Mismatch[] = []

/** Id of the payment that the report is about. */
const paymentOf = ({ orphans }: Memory, { id }: RailReport): string =>
  orphans.get(id)?.matched_to ?? id

const isIntent = (id: string): boolean => id.startsWith(PREFIX.intent)

/**
 * Whether the payment's rail sent it, about an instruction of its own.
 *
 * @param rail null if no known instruction has one, so any may send it
 */
const isFromRail = (report: RailReport, sender: string, rail: string | null): boolean =>
  rail === null || (sender === rail && (report.rail ?? rail) === rail)

/** The orphan execution that the report is about: of no payment, or matched to the payment. */
function executionOf(
  { orphans }: Memory,
  { id }: RailReport,
  payment: RailInstructionView | null,
): Orphan | undefined {
  const orphan = orphans.get(id)
  return payment === null || orphan?.status === 'matched' ? orphan : undefined
}

/** Whether another rail can have the orphan execution, and this one does not. */
function saysNothing(
  { rules }: CommandContext,
  orphan: Orphan,
  report: RailReport,
  rail: string,
): boolean {
  const isElsewhere = orphan.rail === null ? rules.rails.entries.length > 1 : orphan.rail !== rail
  return isElsewhere && !hasIt(report)
}

const hasIt = ({ status }: RailReport): boolean =>
  status !== 'not_found' && status !== 'recall_refused'

function locate(
  ctx: CommandContext,
  { id }: RailReport,
  payment: RailInstructionView | null,
  rail: string,
): void {
  stageOrphan(ctx, { ...ctx.memory.orphans.get(id)!, rail })
  payment?.moveTo(rail)
}

/** Applies the report of an instruction that these books do not have. */
function applyToUnknown(ctx: CommandContext, report: RailReport): readonly Mismatch[] {
  const orphan = ctx.memory.orphans.get(report.id)
  const reason = orphan === undefined ? 'unknown_instruction' : reportOrphan(ctx, orphan, report)
  return reason === null ? NO_MISMATCH : [{ report, reason }]
}

/** Applies the report. @returns what does not match, as reports of their own */
function apply(
  ctx: CommandContext,
  payment: RailInstructionView,
  report: RailReport,
  finalityWindowMs: number,
): readonly Mismatch[] {
  const at = ctx.now
  const mismatch = (reason: string): readonly Mismatch[] => [{ report, reason }]
  switch (report.status) {
    case 'accepted':
      return NO_MISMATCH
    case 'recall_refused':
      if (payment.isReversedInRecall) return mismatch('recall_refused_after_reversal')
      payment.step({ type: 'recallRefused', at })
      return NO_MISMATCH
    case 'not_found':
      if (payment.state === 'ended') return NO_MISMATCH
      if (payment.state !== 'open') return mismatch('not_found_after_execution')
      if (payment.submittedAt === undefined) return NO_MISMATCH
      if (at < plus(payment.submittedAt, finalityWindowMs)) return NO_MISMATCH
      if (payment.isPaused() && !payment.isHeld) payment.inquireBy(plus(at, MINUTE))
      else payment.step({ type: 'notFound', at })
      return NO_MISMATCH
    case 'refused':
      if (payment.state === 'ended') return NO_MISMATCH
      if (payment.state !== 'open') return mismatch('refused_after_execution')
      payment.step({ type: 'refused', at, refusal: report.refusal })
      return NO_MISMATCH
    case 'executed':
      return applyExecution(payment, report, at)
    case 'returned':
      return applyReturn(payment, report, at)
  }
}

function applyExecution(
  payment: RailInstructionView,
  report: RailReport & { status: 'executed' },
  at: Instant,
): readonly Mismatch[] {
  const { transactionId } = report
  if (payment.isErased && payment.transactionId === transactionId) return NO_MISMATCH
  if (!matches(payment, report)) return [{ report, reason: 'execution_differs' }]
  if (payment.state === 'ended') return [{ report, reason: 'executed_after_end' }]
  if (payment.state === 'open') payment.step({ type: 'executed', at, transactionId })
  else if (isOtherExecution(payment, report)) return [{ report, reason: 'executed_again' }]
  else if (payment.transactionId === undefined) payment.recordTransaction(transactionId)
  return NO_MISMATCH
}

function applyReturn(
  payment: RailInstructionView,
  report: RailReport & { status: 'returned' },
  at: Instant,
): readonly Mismatch[] {
  const { state } = payment
  const isPaid = state === 'paid' || state === 'returned'
  const isKnown = isPaid && !isOtherExecution(payment, report)
  const isMatching = matches(payment, report)
  if (isMatching && (isKnown || state === 'open')) {
    const { transactionId } = report
    if (!isPaid) payment.step({ type: 'executed', at, transactionId })
    else if (payment.transactionId === undefined) payment.recordTransaction(transactionId)
    if (state !== 'returned') payment.step({ type: 'returned', at })
    return NO_MISMATCH
  }
  const when = isPaid ? 'again' : 'after_end'
  const returned = { report, reason: isMatching ? `returned_${when}` : 'return_differs' }
  if (isKnown) return [returned]
  const reason = isMatching ? `executed_${when}` : 'execution_differs'
  return [{ report: executionIn(report), reason }, returned]
}

/** Whether the report is about another execution than the known one. */
const isOtherExecution = (payment: RailInstructionView, { transactionId }: Execution): boolean =>
  (payment.transactionId ?? transactionId) !== transactionId

function matches(payment: RailInstructionView, execution: Execution): boolean {
  const expected = payment.expected()
  return (
    expected !== null &&
    execution.amount === expected.amount &&
    execution.currency === expected.currency &&
    execution.destinationAccount === expected.account &&
    isExpectedBank(execution, expected)
  )
}

/** A proxy such as a mobile number names no bank. */
const isExpectedBank = ({ destinationBank }: Execution, { bankCode }: Expected): boolean =>
  destinationBank === undefined || bankCode === '' || destinationBank === bankCode

function viewOfIntent(
  ctx: CommandContext,
  live: LiveIntent | null | undefined,
): RailInstructionView | null {
  if (!live) return null
  return {
    ...sharedView(ctx, live, () => stageIntent(ctx, live)),
    get state() {
      if (live.state === 'authorized') return 'open'
      if (live.state === 'captured') return 'paid'
      return live.state === 'refunded' ? 'returned' : 'ended'
    },
    isErased: false,
    expected: () =>
      live.context.confirmation === undefined
        ? null
        : expectedOf(instructIntent(live.context, accountOfIntent(ctx, live.context))),
    step: (event) => advanceIntent(ctx, live, event),
    isInquiredAbout: () =>
      live.context.dueAt !== null && (live.state === 'captured' || live.state === 'failed'),
    isReversedInRecall: isReversedInRecall(live.context),
  }
}

function viewOfPayout(
  ctx: CommandContext,
  live: LivePayout | null | undefined,
): RailInstructionView | null {
  if (!live) return null
  return {
    ...sharedView(ctx, live, () => stagePayout(ctx, live)),
    get state() {
      if (live.state === 'processing') return 'open'
      if (live.state === 'completed') return 'paid'
      return live.state === 'reversed' ? 'returned' : 'ended'
    },
    isErased: isErasedCopy(live.context.beneficiary),
    expected: () => expectedOf(instructPayout(live.context, accountOfPayout(ctx, live.context))),
    step: (event) => {
      if (event.type !== 'recallRefused') advancePayout(ctx, live, event)
    },
    isInquiredAbout: () =>
      live.context.dueAt !== null && (live.state === 'completed' || live.state === 'failed'),
    isReversedInRecall: false,
  }
}

/** What intents and payouts have in common. */
function sharedView<Context extends IntentContext | PayoutContext>(
  ctx: CommandContext,
  live: { context: Context },
  stage: () => void,
) {
  const { context } = live
  const change = (changed: Context): void => {
    live.context = changed
    stage()
  }
  return {
    tenant: context.tenant,
    rail: railOf(context),
    submittedAt: context.submittedAt,
    transactionId: context.transactionId,
    isHeld: isHeld(context),
    isPaused: () => isPaused(ctx.memory, railOf(context), routeOf(context)),
    moveTo: (rail: string) => change(onRail(live.context, rail)),
    inquireBy: (dueAt: Instant) =>
      change({ ...live.context, inquiries: uncounted(live.context.inquiries), dueAt }),
    recordTransaction: (transactionId: string) => change({ ...live.context, transactionId }),
  }
}

const isReversedInRecall = ({ refundSource, recall }: IntentContext): boolean =>
  refundSource === 'service' && recall !== undefined && recall.refused !== true

const uncounted = (inquiries = 0): number => Math.max(0, inquiries - 1)

function expectedOf(instruction: ReturnType<typeof instructIntent>): Expected {
  const { amount, currency, destination } = instruction.instruction
  const { account, bankCode } = destination
  return { amount, currency, account, bankCode }
}
