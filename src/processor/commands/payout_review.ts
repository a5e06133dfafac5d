/**
 * A reviewer's word on a held payout.
 *
 * R1. Approval looks again at what may have changed while the payout waited: its partner and its
 *     beneficiary. A payout that is refused here stays held.
 * R2. Fees, amounts and the account are those of its acceptance; the money has been reserved since
 *     then.
 */
import { payoutView } from '../../../actors/payout/view.js'
import { advancePayout } from '../changes/advance_payout.js'
import { takesPayouts } from '../changes/beneficiaries.js'
import type { Command } from '../cycle/command.js'
import { isSuspended } from '../changes/directory.js'
import { answer, refuse } from '../cycle/answer.js'
import { logAction, type Actor } from '../changes/operator_log.js'

export function approvePayout(actor: Actor, payoutId: string): Command {
  return {
    name: 'approve_payout',
    needs: (needs, memory) => {
      needs.payout(payoutId)
      const live = memory.payouts.get(payoutId)
      if (live) needs.beneficiary(live.context.beneficiary.id)
    },
    decide: (desk) => {
      const live = desk.memory.payouts.get(payoutId)
      if (!live) return refuse('payout_not_found')
      if (live.state !== 'created') return refuse('payout_not_held')
      const { beneficiary, tenant } = live.context
      if (isSuspended(desk.memory, tenant)) return refuse('partner_suspended')
      const known = desk.memory.beneficiaries.get(beneficiary.id)
      if (!known || !takesPayouts(known)) return refuse('invalid_beneficiary')

      // From here on it must succeed.
      advancePayout(desk, live, { type: 'approve', at: desk.now, railUp: desk.railUp })
      logAction(desk, actor, 'approve_payout', payoutId)
      return answer(payoutView(live.state, live.context, desk.rules.brand))
    },
  }
}

export function rejectPayout(actor: Actor, payoutId: string): Command {
  return {
    name: 'reject_payout',
    needs: (needs) => needs.payout(payoutId),
    decide: (desk) => {
      const live = desk.memory.payouts.get(payoutId)
      if (!live) return refuse('payout_not_found')
      if (live.state !== 'created') return refuse('payout_not_held')

      // From here on it must succeed.
      advancePayout(desk, live, { type: 'reject', at: desk.now })
      logAction(desk, actor, 'reject_payout', payoutId)
      return answer(payoutView(live.state, live.context, desk.rules.brand))
    },
  }
}
