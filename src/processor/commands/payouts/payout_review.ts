/**
 * A reviewer's decision on a held payout.
 *
 * - An approval checks again what may have changed since the acceptance: the partner and the
 *   beneficiary. A payout that is refused here stays held, as does one whose amount needs a second
 *   operator until that one approves.
 * - An approval names each orphan execution that may have paid it (changes/orphans). One that its
 *   own orphan execution has paid is not rejected: it would be paid and not be charged.
 * - Fees, amounts and the account are those of the acceptance; the money stays reserved.
 */
import { isUnderReview } from '../../../../actors/payout/context.js'
import { payoutView } from '../../../../actors/payout/view.js'
import { advancePayout } from '../../changes/advance_payout.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { movedByPayout } from '../../changes/books.js'
import { takesPayouts } from '../../changes/beneficiaries.js'
import type { Command } from '../../cycle/command.js'
import { isSuspended } from '../../changes/directory.js'
import { refusalBesidePayout, refusalOfFailure } from '../../changes/orphans.js'
import { answer, refuse } from '../../cycle/answer.js'
import { maySubmit } from '../../changes/payment_rail.js'
import { logAction, type Actor } from '../../changes/operator_log.js'

/** @param otherThan orphan executions that the operator says did not pay it */
export function approvePayout(
  actor: Actor,
  payoutId: string,
  otherThan: readonly string[] = [],
): Command {
  const named = [...new Set(otherThan)].toSorted()
  return {
    name: 'approve_payout',
    needs: (needs, memory) => {
      needs.payout(payoutId)
      const live = memory.payouts.get(payoutId)
      if (live) needs.beneficiary(live.context.beneficiary.id)
    },
    decide: (ctx) => {
      const live = ctx.memory.payouts.get(payoutId)
      if (!live) return refuse('payout_not_found')
      if (!isUnderReview(live.state, live.context)) return refuse('payout_not_held')
      const { beneficiary, tenant } = live.context
      if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')
      const known = ctx.memory.beneficiaries.get(beneficiary.id)
      if (!known || !takesPayouts(known)) return refuse('invalid_beneficiary')
      const equal = refusalBesidePayout(ctx, live.context, named)
      if (equal !== null) return equal
      const moved = movedByPayout(live.context)
      const refusal = refusalOfOneOperator(ctx, actor, {
        operation: 'approve_payout',
        arguments: { payout_id: payoutId, ...(named.length === 0 ? {} : { other_than: named }) },
        subject: named.length === 0 ? payoutId : `${payoutId} other than ${named.join(', ')}`,
        moved,
      })
      if (refusal !== null) return refusal

      // From here on it must succeed.
      advancePayout(ctx, live, {
        ...{ type: 'approve', at: ctx.now, railUp: maySubmit(ctx, live.context) },
      })
      logAction(ctx, actor, 'approve_payout', payoutId, null, moved)
      for (const orphan of named)
        logAction(ctx, actor, 'other_than_orphan', `${orphan} ${payoutId}`)
      return answer(payoutView(live.state, live.context, ctx.rules.brand))
    },
  }
}

export function rejectPayout(actor: Actor, payoutId: string): Command {
  return {
    name: 'reject_payout',
    needs: (needs) => needs.payout(payoutId),
    decide: (ctx) => {
      const live = ctx.memory.payouts.get(payoutId)
      if (!live) return refuse('payout_not_found')
      if (!isUnderReview(live.state, live.context)) return refuse('payout_not_held')
      const executed = refusalOfFailure(ctx, payoutId)
      if (executed !== null) return executed

      // From here on it must succeed.
      advancePayout(ctx, live, { type: 'reject', at: ctx.now })
      logAction(ctx, actor, 'reject_payout', payoutId)
      return answer(payoutView(live.state, live.context, ctx.rules.brand))
    },
  }
}
