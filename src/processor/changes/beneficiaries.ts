/**
 * Beneficiaries: validation, the row and the public view, shared by their commands and by payouts
 * with an inline beneficiary.
 *
 * Does not own: the changes (commands/beneficiaries, payouts/payout_create).
 *
 * - The account number is encrypted before it is staged; only its last four characters are shown.
 * - Name and bank code must be readable by a rail, else an instruction would never be answered.
 *   Stored beneficiaries are checked again before money is reserved or a held payout is approved.
 */
import { toRfc3339, instant } from '../../base/clock.js'
import { accepted, refused, type Outcome, type Violation } from '../../base/errors.js'
import { newId, type BeneficiaryId, type TenantId } from '../../base/ids.js'
import { isCountry } from '../../money/country.js'
import { currencyOf } from '../../money/currency.js'
import { isText } from '../../rails/wire_validators.js'
import type { NewBeneficiary__Output as NewBeneficiary } from '../../../protos/types/causeway/v1/NewBeneficiary.js'
import type { Row } from '../../store/tables.js'
import type { CommandContext } from '../cycle/command.js'
import { beneficiaryAccountField } from './rail_instructions.js'

export type BeneficiaryRow = Row<'beneficiaries'>

/** The row of a new beneficiary. */
export function beneficiaryRow(
  { now, random, vault, origin }: CommandContext,
  tenant: TenantId,
  given: NewBeneficiary,
): Outcome<BeneficiaryRow> {
  const name = given.name.trim()
  const bankCode = given.bank_code.trim()
  const violation = violationIn(given, name, bankCode)
  if (violation !== null) return refused('invalid_beneficiary', violation)
  const id = newId<BeneficiaryId>('beneficiary', now, random)
  return accepted({
    id,
    tenant,
    type: given.type,
    name,
    destination_country: given.destination_country,
    currency: given.currency,
    bank_code: bankCode,
    account_last4: given.account_number.slice(-4),
    sealed_account: vault.sealAccount(given.account_number, beneficiaryAccountField(id)),
    status: 'active',
    created_at: now,
    request_id: origin.requestId,
  })
}

/** What the schema of the API does not say; both fronts have checked that. */
function violationIn(given: NewBeneficiary, name: string, bankCode: string): Violation | null {
  if (!isText(name)) return { pointer: '/name', rule: PLAIN_TEXT }
  if (!isCountry(given.destination_country))
    return { pointer: '/destination_country', rule: 'must be a country of ISO 3166-1' }
  if (currencyOf(given.currency) === undefined)
    return { pointer: '/currency', rule: 'must be a known currency' }
  if (!isText(bankCode)) return { pointer: '/bank_code', rule: PLAIN_TEXT }
  return null
}

const PLAIN_TEXT = 'must be text without control characters'

const isReadable = (row: Pick<BeneficiaryRow, 'name' | 'bank_code'>): boolean =>
  isText(row.name) && isText(row.bank_code)

/** Whether a stored beneficiary can receive payouts. */
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
