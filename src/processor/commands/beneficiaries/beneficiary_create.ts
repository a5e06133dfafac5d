/**
 * Creates a beneficiary.
 *
 * - Any ISO country and currency can be stored; a payout checks whether a route exists.
 */
import type { TenantId } from '../../../base/ids.js'
import type { NewBeneficiary__Output as NewBeneficiary } from '../../../../protos/types/causeway/v1/NewBeneficiary.js'
import type { Command } from '../../cycle/command.js'
import { beneficiaryRow, beneficiaryView, stageBeneficiary } from '../../changes/beneficiaries.js'
import { isSuspended } from '../../changes/directory.js'
import { answer, refuse } from '../../cycle/answer.js'

export function createBeneficiary(tenant: TenantId, given: NewBeneficiary | null): Command {
  return {
    name: 'create_beneficiary',
    needs: () => undefined,
    decide: (ctx) => {
      if (isSuspended(ctx.memory, tenant)) return refuse('partner_suspended')
      if (given === null) return refuse('invalid_beneficiary')
      const row = beneficiaryRow(ctx, tenant, given)
      if (!row.ok) return row

      // From here on it must succeed.
      stageBeneficiary(ctx, row.value)
      return answer(beneficiaryView(row.value))
    },
  }
}
