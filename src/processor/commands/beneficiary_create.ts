/**
 * Creates a beneficiary.
 *
 * B1. The account number is sealed before it is staged; only its last four characters are ever
 *     shown.
 * B2. Any ISO country and currency can be stored: whether money can go there is a payout's
 *     question.
 */
import { toRfc3339, instant } from '../../base/clock.js'
import { newId, type BeneficiaryId, type TenantId } from '../../base/ids.js'
import { isCountry } from '../../money/country.js'
import { currencyOf } from '../../money/currency.js'
import type { NewBeneficiary__Output as NewBeneficiary } from '../../../protos/types/causeway/v1/NewBeneficiary.js'
import type { Row } from '../../store/tables.js'
import type { Command, Desk } from '../cycle/command.js'
import { isSuspended } from '../memory/directory.js'
import { answer, refuse } from '../cycle/group.js'
import { beneficiaryAccountPlace } from '../changes/orders.js'

export type BeneficiaryRow = Row<'beneficiaries'>

export function createBeneficiary(tenant: TenantId, given: NewBeneficiary | null): Command {
  return {
    name: 'create_beneficiary',
    needs: () => undefined,
    decide: (desk) => {
      if (isSuspended(desk.memory, tenant)) return refuse('partner_suspended')
      const row = given === null ? null : beneficiaryRow(desk, tenant, given)
      if (row === null) return refuse('invalid_beneficiary')

      // From here on it must succeed.
      stageBeneficiary(desk, row)
      return answer(beneficiaryView(row))
    },
  }
}

const ACCOUNT = /^[A-Za-z0-9]{5,34}$/
const NAME_MAX = 255
const BANK_CODE_MAX = 35

/** The row of a new beneficiary, or null when something in it is not valid. */
export function beneficiaryRow(
  { now, random, vault }: Desk,
  tenant: TenantId,
  given: NewBeneficiary,
): BeneficiaryRow | null {
  const name = given.name.trim()
  const bankCode = given.bank_code.trim()
  const isValid =
    given.type === 'bank_account' &&
    name !== '' &&
    [...name].length <= NAME_MAX &&
    isCountry(given.destination_country) &&
    currencyOf(given.currency) !== undefined &&
    bankCode !== '' &&
    bankCode.length <= BANK_CODE_MAX &&
    ACCOUNT.test(given.account_number)
  if (!isValid) return null
  const id = newId<BeneficiaryId>('beneficiary', now, random)
  return {
    id,
    tenant,
    type: given.type,
    name,
    destination_country: given.destination_country,
    currency: given.currency,
    bank_code: bankCode,
    account_last4: given.account_number.slice(-4),
    sealed_account: vault.sealAccount(given.account_number, beneficiaryAccountPlace(id)),
    status: 'active',
    created_at: now,
  }
}

export function stageBeneficiary({ memory, group }: Desk, row: BeneficiaryRow): void {
  memory.beneficiaries.put(row.id, row, group.number)
  group.stage('beneficiaries', row.id, row)
}

export function beneficiaryView(row: BeneficiaryRow): object {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    destination_country: row.destination_country,
    currency: row.currency,
    bank_code: row.bank_code,
    account_last4: row.account_last4,
    status: row.status,
    created_at: toRfc3339(instant(row.created_at)),
  }
}
