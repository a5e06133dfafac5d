/**
 * What is left of a beneficiary that is erased: its id, bank, country and currency. It has no name
 * and no account number, and takes no payouts.
 */
import type { FrozenBeneficiary } from '../../../actors/payout/context.js'
import type { CommandContext } from '../cycle/command.js'
import type { BeneficiaryRow } from './beneficiaries.js'
import { beneficiaryAccountField } from './rail_instructions.js'

const NAME = 'erased'
/** No account number ends so: it marks what is erased. */
const LAST4 = ''

export const isErasedRow = (row: Pick<BeneficiaryRow, 'account_last4'>): boolean =>
  row.account_last4 === LAST4

export const isErasedCopy = (copy: Pick<FrozenBeneficiary, 'accountLast4'>): boolean =>
  copy.accountLast4 === LAST4

export const erasedRow = ({ vault }: CommandContext, row: BeneficiaryRow): BeneficiaryRow => ({
  ...row,
  name: NAME,
  account_last4: LAST4,
  sealed_account: vault.sealAccount('', beneficiaryAccountField(row.id)),
  status: 'disabled',
})

export const erasedCopy = (
  { vault }: CommandContext,
  copy: FrozenBeneficiary,
): FrozenBeneficiary => ({
  ...copy,
  name: NAME,
  accountLast4: LAST4,
  sealedAccount: vault.sealAccount('', beneficiaryAccountField(copy.id)),
})
