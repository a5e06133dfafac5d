/**
 * News from the rail about one instruction.
 *
 * N1. News must fit the instruction: amount, currency and destination. What does not fit, contradicts what is already
 *     known or comes for nobody is a discrepancy for a person to look at, never a transition.
 * N2. The same news again changes nothing. Everything is acknowledged, after the commit of what it caused.
 * N3. `returned` may overtake `executed`: then both transitions happen, in their order.
 * N4. "Not found" counts only after the rail's finality window; then the same instruction is sent again.
 */
import { hash } from 'node:crypto'
import { plus, type Instant } from '../../base/clock.js'
import { publicRefusal } from '../../../actors/failure_texts.js'
import type { Execution, RailReport } from '../../rails/rail.js'
import { advanceIntent } from '../advance_intent.js'
import { advancePayout } from '../advance_payout.js'
import type { Command, Desk } from '../command.js'
import { answer } from '../group.js'
import type { LiveIntent, LivePayout } from '../memory.js'
import { instructIntent, instructPayout } from '../orders.js'
import { needIntentAndUsage } from './intent_needs.js'

const DONE = answer({})

/** An intent or a payout, seen from the rail. */
interface Instructed {
  readonly state: 'open' | 'paid' | 'returned' | 'ended'
  readonly handedOverAt: Instant | undefined
  readonly expected: () => { amount: bigint; currency: string; account: string }
  step(
    event:
      | { type: 'executed'; at: Instant; transactionId: string }
      | { type: 'refused'; at: Instant; refusal: string }
      | { type: 'returned'; at: Instant }
      | { type: 'recallRefused'; at: Instant }
      | { type: 'notFound'; at: Instant },
  ): void
}

export function railNews(report: RailReport, finalityWindowMs: number): Command {
  const isIntent = report.id.startsWith('pi_')
  return {
    name: 'rail_news',
    needs: (needs, memory) => {
      if (isIntent) needIntentAndUsage(needs, memory, report.id)
      else needs.payout(report.id)
    },
    decide: (desk) => {
      const about = isIntent
        ? ofIntent(desk, desk.memory.intents.get(report.id))
        : ofPayout(desk, desk.memory.payouts.get(report.id))
      const oddity =
        about === null ? 'unknown_instruction' : apply(desk, about, report, finalityWindowMs)
      if (oddity !== null) recordDiscrepancy(desk, report, oddity)
      if (report.reportId !== null) {
        desk.group.orders.push({ kind: 'acknowledge', reportId: report.reportId })
      }
      return DONE
    },
  }
}

/** Takes the news in, or names what is odd about it. */
function apply(
  desk: Desk,
  about: Instructed,
  report: RailReport,
  finalityWindowMs: number,
): string | null {
  const at = desk.now
  switch (report.status) {
    case 'accepted':
      return null
    case 'recall_refused':
      about.step({ type: 'recallRefused', at })
      return null
    case 'not_found':
      if (about.state !== 'open')
        return about.state === 'ended' ? null : 'not_found_after_execution'
      if (about.handedOverAt === undefined) return null
      if (at >= plus(about.handedOverAt, finalityWindowMs)) about.step({ type: 'notFound', at })
      return null
    case 'refused':
      if (about.state === 'ended') return null
      if (about.state !== 'open') return 'refused_after_execution'
      about.step({ type: 'refused', at, refusal: publicRefusal(report.refusal) })
      return null
    case 'executed':
      if (!fits(about, report)) return 'execution_differs'
      if (about.state === 'ended') return 'executed_after_end'
      if (about.state === 'open') {
        about.step({ type: 'executed', at, transactionId: report.transactionId })
      }
      return null
    case 'returned':
      if (!fits(about, report)) return 'return_differs'
      if (about.state === 'ended') return 'returned_after_end'
      if (about.state === 'open') {
        about.step({ type: 'executed', at, transactionId: report.transactionId })
      }
      if (about.state !== 'returned') about.step({ type: 'returned', at })
      return null
  }
}

function fits(about: Instructed, execution: Execution): boolean {
  const { amount, currency, account } = about.expected()
  return (
    execution.amount === amount &&
    execution.currency === currency &&
    execution.destinationAccount === account
  )
}

/** One row for each odd piece of news, however often it comes. */
function recordDiscrepancy(desk: Desk, report: RailReport, reason: string): void {
  const id = `dis_${hash('sha256', `${report.id}\n${reason}\n${report.reportId}`, 'hex').slice(0, 26)}`
  desk.group.stage('discrepancies', id, {
    id,
    entity: report.id,
    reason,
    report: { status: report.status, reportId: report.reportId },
    at: desk.now,
  })
}

function ofIntent(desk: Desk, live: LiveIntent | null | undefined): Instructed | null {
  if (!live || live.context.scanned === undefined) return null
  return {
    get state() {
      if (live.state === 'authorized') return 'open'
      if (live.state === 'captured') return 'paid'
      return live.state === 'refunded' ? 'returned' : 'ended'
    },
    handedOverAt: live.context.handedOverAt,
    expected: () => expectedOf(instructIntent(desk, live.context)),
    step: (event) => advanceIntent(desk, live, event),
  }
}

function ofPayout(desk: Desk, live: LivePayout | null | undefined): Instructed | null {
  if (!live) return null
  return {
    get state() {
      if (live.state === 'processing') return 'open'
      if (live.state === 'completed') return 'paid'
      return live.state === 'reversed' ? 'returned' : 'ended'
    },
    handedOverAt: live.context.handedOverAt,
    expected: () => expectedOf(instructPayout(desk, live.context)),
    step: (event) => {
      if (event.type !== 'recallRefused') advancePayout(desk, live, event)
    },
  }
}

function expectedOf(order: ReturnType<typeof instructIntent>): {
  amount: bigint
  currency: string
  account: string
} {
  if (order.kind !== 'instruct') throw new Error('broken invariant: not an instruction')
  const { amount, currency, destination } = order.instruction
  return { amount, currency, account: destination.account }
}
