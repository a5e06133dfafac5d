/**
 * Disables a beneficiary: new payouts to it are refused and held ones cannot be approved. Payouts
 * in progress keep their frozen copy. Disabling twice changes nothing.
 */
import { isMoment } from '../../../base/clock.js'
import { CorruptRow } from '../../../base/corrupt_row.js'
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { beneficiaryView, stageBeneficiary } from '../../changes/beneficiaries.js'

export function disableBeneficiary(tenant: TenantId, id: string): Command {
  return {
    name: 'disable_beneficiary',
    needs: (needs) => needs.beneficiary(id),
    decide: (ctx) => {
      const row = ctx.memory.beneficiaries.get(id)
      if (!row || row.tenant !== tenant) return refuse('beneficiary_not_found')
      if (!isMoment(row.created_at)) throw new CorruptRow(id, 'its moment is impossible')
      if (row.status === 'disabled') return answer(beneficiaryView(row))

      // From here on it must succeed.
      const disabled = { ...row, status: 'disabled' }
      stageBeneficiary(ctx, disabled)
      return answer(beneficiaryView(disabled))
    },
  }
}
