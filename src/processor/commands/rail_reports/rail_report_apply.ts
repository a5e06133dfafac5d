/**
 * Reports from the rail about one instruction.
 *
 * - Reports must fit the instruction: amount, currency and destination. What does not fit,
 *   contradicts what is already known or comes for nobody is a discrepancy for a person to look
 *   at, never a transition.
 * - The same reports again changes nothing. Everything is acknowledged, after the commit of what it
 *   caused.
 * - `returned` may overtake `executed`: then both happen, in their order, be they transitions or
 *   discrepancies. What comes back of another execution than the one we know is not ours to book
 *   back. The execution that a person vouched for is the first one that the rail numbers.
 * - "Not found" counts only after the rail's finality window; then the same instruction is sent
 *   again.
 * - Whatever the rail says of a payment that an operator resolved answers the status inquiry
 *   about it.
 */
import { plus, type Instant } from '../../../base/clock.js'
import { PREFIX, type TenantId } from '../../../base/ids.js'
import type { Execution, RailReport } from '../../../rails/rail.js'
import { advanceIntent, stageIntent } from '../../changes/advance_intent.js'
import { advancePayout, stagePayout } from '../../changes/advance_payout.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { executionIn, recordDiscrepancy } from '../../changes/discrepancies.js'
import { answer } from '../../cycle/answer.js'
import type { LiveIntent, LivePayout } from '../../cache/memory.js'
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
}

/** An intent or a payout, seen from the rail. */
interface RailInstructionView {
  readonly tenant: TenantId
  readonly state: 'open' | 'paid' | 'returned' | 'ended'
  readonly submittedAt: Instant | undefined
  /**
   * As the rail numbered the execution we know of; undefined when we know of none, or not from the
   * rail.
   */
  readonly transactionId: string | undefined
  /** Null: nothing was ever instructed. */
  readonly expected: () => Expected | null
  step(
    event:
      | { type: 'executed'; at: Instant; transactionId: string }
      | { type: 'refused'; at: Instant; refusal: string }
      | { type: 'returned'; at: Instant }
      | { type: 'recallRefused'; at: Instant }
      | { type: 'notFound'; at: Instant }
      | { type: 'answered'; at: Instant },
  ): void
  /** An operator ended it, and the rail has not said yet how it stands. */
  isInquiredAbout(): boolean
  /** Keeps the number of an execution that was known from elsewhere. */
  number(transactionId: string): void
}

/** Something a rail said, and why it does not fit. */
interface Mismatch {
  readonly report: RailReport
  readonly reason: string
}

export function applyRailReport(report: RailReport, finalityWindowMs: number): Command {
  const isIntent = report.id.startsWith(PREFIX.intent)
  return {
    name: 'rail_report_apply',
    needs: (needs, memory) => {
      if (isIntent) needIntentAndUsage(needs, memory, report.id)
      else needs.payout(report.id)
    },
    decide: (ctx) => {
      const about = isIntent
        ? ofIntent(ctx, ctx.memory.intents.get(report.id))
        : ofPayout(ctx, ctx.memory.payouts.get(report.id))
      const mismatches =
        about === null
          ? [{ report, reason: 'unknown_instruction' }]
          : apply(ctx, about, report, finalityWindowMs)
      if (report.status !== 'accepted' && about?.isInquiredAbout()) {
        about.step({ type: 'answered', at: ctx.now })
      }
      for (const { report: mismatch, reason } of mismatches) {
        recordDiscrepancy(ctx, about?.tenant ?? null, mismatch, reason)
      }
      if (report.reportId !== null) {
        ctx.batch.instructions.push({ kind: 'acknowledge', reportId: report.reportId })
      }
      return DONE
    },
  }
}

const FITS: readonly Mismatch[] = []

/** Takes the reports in, or says what is odd about it. */
function apply(
  ctx: CommandContext,
  about: RailInstructionView,
  report: RailReport,
  finalityWindowMs: number,
): readonly Mismatch[] {
  const at = ctx.now
  const mismatch = (reason: string): readonly Mismatch[] => [{ report, reason }]
  switch (report.status) {
    case 'accepted':
      return FITS
    case 'recall_refused':
      about.step({ type: 'recallRefused', at })
      return FITS
    case 'not_found':
      if (about.state === 'ended') return FITS
      if (about.state !== 'open') return mismatch('not_found_after_execution')
      if (about.submittedAt === undefined) return FITS
      if (at >= plus(about.submittedAt, finalityWindowMs)) about.step({ type: 'notFound', at })
      return FITS
    case 'refused':
      if (about.state === 'ended') return FITS
      if (about.state !== 'open') return mismatch('refused_after_execution')
      about.step({ type: 'refused', at, refusal: report.refusal })
      return FITS
    case 'executed':
      return applyExecution(about, report, at)
    case 'returned':
      return applyReturn(about, report, at)
  }
}

function applyExecution(
  about: RailInstructionView,
  report: RailReport & { status: 'executed' },
  at: Instant,
): readonly Mismatch[] {
  const { transactionId } = report
  if (!fits(about, report)) return [{ report, reason: 'execution_differs' }]
  if (about.state === 'ended') return [{ report, reason: 'executed_after_end' }]
  if (about.state === 'open') about.step({ type: 'executed', at, transactionId })
  else if (isAnother(about, report)) return [{ report, reason: 'executed_again' }]
  else if (about.transactionId === undefined) about.number(transactionId)
  return FITS
}

function applyReturn(
  about: RailInstructionView,
  report: RailReport & { status: 'returned' },
  at: Instant,
): readonly Mismatch[] {
  const { state } = about
  const isPaid = state === 'paid' || state === 'returned'
  const isKnown = isPaid && !isAnother(about, report)
  const isFitting = fits(about, report)
  if (isFitting && (isKnown || state === 'open')) {
    const { transactionId } = report
    if (!isPaid) about.step({ type: 'executed', at, transactionId })
    else if (about.transactionId === undefined) about.number(transactionId)
    if (state !== 'returned') about.step({ type: 'returned', at })
    return FITS
  }
  const when = isPaid ? 'again' : 'after_end'
  const returned = { report, reason: isFitting ? `returned_${when}` : 'return_differs' }
  if (isKnown) return [returned]
  const reason = isFitting ? `executed_${when}` : 'execution_differs'
  return [{ report: executionIn(report), reason }, returned]
}

/** Of a payment whose execution we know: it is told of another one. */
const isAnother = (about: RailInstructionView, { transactionId }: Execution): boolean =>
  (about.transactionId ?? transactionId) !== transactionId

function fits(about: RailInstructionView, execution: Execution): boolean {
  const expected = about.expected()
  return (
    expected !== null &&
    execution.amount === expected.amount &&
    execution.currency === expected.currency &&
    execution.destinationAccount === expected.account
  )
}

function ofIntent(
  ctx: CommandContext,
  live: LiveIntent | null | undefined,
): RailInstructionView | null {
  if (!live) return null
  return {
    tenant: live.context.tenant,
    get state() {
      if (live.state === 'authorized') return 'open'
      if (live.state === 'captured') return 'paid'
      return live.state === 'refunded' ? 'returned' : 'ended'
    },
    submittedAt: live.context.handedOverAt,
    transactionId: live.context.transactionId,
    expected: () =>
      live.context.confirmation === undefined
        ? null
        : expectedOf(instructIntent(live.context, accountOfIntent(ctx, live.context))),
    step: (event) => advanceIntent(ctx, live, event),
    isInquiredAbout: () =>
      live.context.wakeAt !== null && (live.state === 'captured' || live.state === 'failed'),
    number: (transactionId) => {
      ctx.memory.intentHost.amend(live, { ...live.context, transactionId })
      stageIntent(ctx, live)
    },
  }
}

function ofPayout(
  ctx: CommandContext,
  live: LivePayout | null | undefined,
): RailInstructionView | null {
  if (!live) return null
  return {
    tenant: live.context.tenant,
    get state() {
      if (live.state === 'processing') return 'open'
      if (live.state === 'completed') return 'paid'
      return live.state === 'reversed' ? 'returned' : 'ended'
    },
    submittedAt: live.context.handedOverAt,
    transactionId: live.context.transactionId,
    expected: () => expectedOf(instructPayout(live.context, accountOfPayout(ctx, live.context))),
    step: (event) => {
      if (event.type !== 'recallRefused') advancePayout(ctx, live, event)
    },
    isInquiredAbout: () =>
      live.context.wakeAt !== null && (live.state === 'completed' || live.state === 'failed'),
    number: (transactionId) => {
      ctx.memory.payoutHost.amend(live, { ...live.context, transactionId })
      stagePayout(ctx, live)
    },
  }
}

function expectedOf(instruction: ReturnType<typeof instructIntent>): Expected {
  const { amount, currency, destination } = instruction.instruction
  return { amount, currency, account: destination.account }
}
