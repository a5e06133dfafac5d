/** Reads a payout, and refuses its cancellation, which is never possible. */
import type { TenantId } from '../../../base/ids.js'
import { payoutView } from '../../../../actors/payout/view.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'

export function getPayout(tenant: TenantId, payoutId: string): Command {
  return {
    name: 'get_payout',
    allowedInRecovery: true,
    needs: (needs) => needs.payout(payoutId),
    decide: ({ memory, rules }) => {
      const live = memory.payouts.get(payoutId)
      if (!live || live.context.tenant !== tenant) return refuse('payout_not_found')
      return answer(payoutView(live.state, live.context, rules.brand))
    },
  }
}

/** Always a conflict, or not found for an unknown payout. */
export function cancelPayout(tenant: TenantId, payoutId: string): Command {
  return {
    name: 'cancel_payout',
    allowedInRecovery: true,
    needs: (needs) => needs.payout(payoutId),
    decide: ({ memory }) => {
      const live = memory.payouts.get(payoutId)
      if (!live || live.context.tenant !== tenant) return refuse('payout_not_found')
      return refuse('payout_not_cancelable')
    },
  }
}
