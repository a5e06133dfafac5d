/**
 * Resolves an orphan execution after an operator has found the payment it belongs to.
 *
 * - `matched`: it is the payment of a held payout or intent, which completes without a submission;
 *   its money is posted as for a rail report. The rail must have executed it, to its account. An
 *   execution with the id of a payment of these books is matched to no other one. The payment is
 *   on the rail that has reported the execution, for recalls, inquiries and reports; if none has
 *   yet, from its report on. A repeat of the same match changes nothing and has the same answer.
 * - `dismissed`: it belongs to no payment of ours. Payments held for it stay held until a reviewer
 *   decides.
 */
import { isMoment } from '../../../base/clock.js'
import { CorruptRow } from '../../../base/corrupt_row.js'
import { PREFIX, type TenantId } from '../../../base/ids.js'
import type { Currency } from '../../../money/currency.js'
import { money } from '../../../money/money.js'
import type { Moved } from '../../cache/single_handed_sums.js'
import { isHeld } from '../../../../actors/hold.js'
import { isUnderReview } from '../../../../actors/payout/context.js'
import { advanceIntent } from '../../changes/advance_intent.js'
import { advancePayout } from '../../changes/advance_payout.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { INVALID_EVIDENCE, isEvidence, logAction, type Actor } from '../../changes/operator_log.js'
import {
  isExecutionOfIntent,
  isExecutionOfPayout,
  orphanView,
  ownExecution,
  stageOrphan,
} from '../../changes/orphans.js'
import { onRail } from '../../changes/payment_rail.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import type { Orphan } from '../../cache/orphan_index.js'
import { needIntentAndUsage } from '../intents/intent_needs.js'

export interface Resolution {
  readonly resolution: string
  /** Required for `matched`. */
  readonly paymentId: string | undefined
  readonly evidence: string
}

export function resolveOrphan(
  actor: Actor,
  instruction: string,
  { resolution, paymentId, evidence }: Resolution,
): Command {
  const isMatch = resolution === 'matched'
  const isIntent = paymentId?.startsWith(PREFIX.intent) === true
  return {
    name: 'resolve_orphan',
    needs: (needs, memory) => {
      if (paymentId === undefined) return
      if (instruction.startsWith(PREFIX.intent)) needs.intent(instruction)
      else needs.payout(instruction)
      if (isIntent) needIntentAndUsage(needs, memory, paymentId)
      else needs.payout(paymentId)
    },
    decide: (ctx) => {
      const isKnown = isMatch || resolution === 'dismissed'
      if (!isKnown || isMatch !== (paymentId !== undefined)) return refuse('invalid_request')
      if (!isEvidence(evidence)) return INVALID_EVIDENCE
      const orphan = ctx.memory.orphans.get(instruction)
      if (orphan === undefined) return refuse('orphan_execution_not_found')
      // As before: a cluster dismisses it in its other shards afterwards, and may not have done so.
      if (orphan.status === 'matched' && orphan.matched_to === paymentId)
        return answer({ ...orphanView(orphan), held: [] })
      if (orphan.status !== 'open') return refuse('orphan_execution_resolved')
      if (!isMoment(orphan.executed_at)) {
        throw new CorruptRow(instruction, 'its moment is impossible')
      }
      if (isMatch && orphan.state !== 'executed') return refuse('orphan_execution_not_executed')
      const pay = paymentId === undefined ? null : paymentOf(ctx, paymentId)
      if (paymentId !== undefined && pay === null) {
        return refuse(isIntent ? 'payment_intent_not_found' : 'payout_not_found')
      }
      const isOfOther = paymentId !== undefined && isOfAnother(ctx, instruction, paymentId)
      if (isOfOther || (pay !== null && !pay.matches(orphan)))
        return refuse('orphan_execution_differs')
      const moved = pay === null ? null : movedBy(pay, orphan)
      if (paymentId !== undefined && moved !== null) {
        const refusal = refusalOfOneOperator(ctx, actor, {
          operation: 'resolve_orphan',
          arguments: { instruction_id: instruction, payment_id: paymentId, evidence },
          subject: `${instruction} ${paymentId}`,
          moved,
        })
        if (refusal !== null) return refusal
      }

      // From here on it must succeed.
      pay?.complete(orphan)
      const resolved: Orphan = {
        ...orphan,
        status: isMatch ? 'matched' : 'resolved',
        matched_to: paymentId ?? null,
        resolved_at: ctx.now,
      }
      stageOrphan(ctx, resolved)
      logAction(ctx, actor, `resolve_orphan_${resolution}`, instruction, evidence, moved)
      return answer({ ...orphanView(resolved), held: [] })
    },
  }
}

/** Equal in amount and currency, so the execution has the money of the payment. */
const movedBy = ({ tenant }: Payment, { currency, amount }: Orphan): Moved => ({
  tenant,
  funds: money(currency as Currency, amount),
})

/**
 * Whether the payment has an orphan execution of its own, or the orphan is that of another payment
 * of these books.
 */
function isOfAnother(ctx: CommandContext, instruction: string, paymentId: string): boolean {
  if (instruction === paymentId) return false
  if (ownExecution(ctx, paymentId) !== undefined) return true
  const payout = ctx.memory.payouts.get(instruction)
  const isPayout = payout?.state === 'created' || payout?.state === 'processing'
  return isPayout || ctx.memory.intents.get(instruction)?.state === 'authorized'
}

interface Payment {
  readonly tenant: TenantId
  /** Whether the payment is held and the orphan can be its execution. */
  matches(orphan: Orphan): boolean
  complete(orphan: Orphan): void
}

function paymentOf(ctx: CommandContext, id: string): Payment | null {
  return id.startsWith(PREFIX.intent) ? intentOf(ctx, id) : payoutOf(ctx, id)
}

function intentOf(ctx: CommandContext, id: string): Payment | null {
  const live = ctx.memory.intents.get(id)
  if (!live) return null
  return {
    tenant: live.context.tenant,
    matches: (orphan) =>
      live.state === 'authorized' &&
      isHeld(live.context) &&
      isExecutionOfIntent(ctx, orphan, live.context),
    complete: ({ rail, transaction_id: transactionId }) => {
      if (rail !== null) live.context = onRail(live.context, rail)
      advanceIntent(ctx, live, { type: 'executed', at: ctx.now, transactionId })
    },
  }
}

function payoutOf(ctx: CommandContext, id: string): Payment | null {
  const live = ctx.memory.payouts.get(id)
  if (!live) return null
  return {
    tenant: live.context.tenant,
    matches: (orphan) =>
      isUnderReview(live.state, live.context) && isExecutionOfPayout(ctx, orphan, live.context),
    complete: ({ rail, transaction_id: transactionId }) => {
      if (rail !== null) live.context = onRail(live.context, rail)
      // As while the rail is down: nothing is submitted.
      advancePayout(ctx, live, { type: 'approve', at: ctx.now, railUp: false })
      advancePayout(ctx, live, { type: 'executed', at: ctx.now, transactionId })
    },
  }
}
