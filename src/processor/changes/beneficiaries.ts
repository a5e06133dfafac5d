/**
 * Beneficiaries: what their commands, and payouts to new ones, have in common.
 *
 * Owns: which values are valid, who can be paid, the row, its place in memory and in the batch, the
 * public view.
 * Does not own: the changes (commands/beneficiary_*, payouts/payout_create).
 *
 * - The account number is sealed before it is staged; only its last four characters are ever
 *   shown.
 * - Name and bank code have the form that a rail reads: an instruction with others would never be
 *   answered. That is asked of what is stored as well, before money is reserved or let go.
 */
import { ACCOUNT_NUMBER, BANK_CODE_MAX, BENEFICIARY_NAME_MAX } from '../../base/constants.js'
import { toRfc3339, instant } from '../../base/clock.js'
import { newId, type BeneficiaryId, type TenantId } from '../../base/ids.js'
import { isWithin } from '../../base/text.js'
import { isCountry } from '../../money/country.js'
import { currencyOf } from '../../money/currency.js'
import { isText } from '../../rails/wire_validators.js'
import type { NewBeneficiary__Output as NewBeneficiary } from '../../../protos/types/causeway/v1/NewBeneficiary.js'
import type { Row } from '../../store/tables.js'
import type { CommandContext } from '../cycle/command.js'
import { beneficiaryAccountPlace } from './rail_instructions.js'

export type BeneficiaryRow = Row<'beneficiaries'>

/** The row of a new beneficiary, or null when something in it is not valid. */
export function beneficiaryRow(
  { now, random, vault }: CommandContext,
  tenant: TenantId,
  given: NewBeneficiary,
): BeneficiaryRow | null {
  const name = given.name.trim()
  const bankCode = given.bank_code.trim()
  const isValid =
    given.type === 'bank_account' &&
    name !== '' &&
    isWithin(name, BENEFICIARY_NAME_MAX) &&
    isCountry(given.destination_country) &&
    currencyOf(given.currency) !== undefined &&
    bankCode !== '' &&
    isWithin(bankCode, BANK_CODE_MAX) &&
    isReadable({ name, bank_code: bankCode }) &&
    ACCOUNT_NUMBER.test(given.account_number)
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

const isReadable = (row: Pick<BeneficiaryRow, 'name' | 'bank_code'>): boolean =>
  isText(row.name) && isText(row.bank_code)

/** Of one that is stored. */
export const takesPayouts = (row: BeneficiaryRow): boolean =>
  row.status === 'active' && isReadable(row)

export function stageBeneficiary({ memory, batch }: CommandContext, row: BeneficiaryRow): void {
  memory.beneficiaries.set(row.id, row, batch.number)
  batch.stage('beneficiaries', row.id, row)
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
