/** Reads a beneficiary. A beneficiary of another tenant is not found. */
import type { TenantId } from '../../../base/ids.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { beneficiaryView } from '../../changes/beneficiaries.js'

export function getBeneficiary(tenant: TenantId, id: string): Command {
  return {
    name: 'get_beneficiary',
    allowedInRecovery: true,
    needs: (needs) => needs.beneficiary(id),
    decide: ({ memory }) => {
      const row = memory.beneficiaries.get(id)
      if (!row || row.tenant !== tenant) return refuse('beneficiary_not_found')
      return answer(beneficiaryView(row))
    },
  }
}
