/** What the operations on payouts and their beneficiaries do. */
import { createBeneficiary } from '../../commands/beneficiaries/beneficiary_create.js'
import { disableBeneficiary } from '../../commands/beneficiaries/beneficiary_disable.js'
import { getBeneficiary } from '../../commands/beneficiaries/beneficiary_get.js'
import { createPayout } from '../../commands/payouts/payout_create.js'
import { cancelPayout, getPayout } from '../../commands/payouts/payout_get.js'
import { simulatePayout } from '../../commands/payouts/payout_simulate.js'
import { listBeneficiaries } from '../../queries/beneficiary_list.js'
import { listPayouts } from '../../queries/payout_list.js'
import { command, query, type ActionsOf } from './action.js'

export const PAYOUT_ACTIONS: ActionsOf<
  | 'create_beneficiary'
  | 'list_beneficiaries'
  | 'get_beneficiary'
  | 'disable_beneficiary'
  | 'create_payout'
  | 'list_payouts'
  | 'get_payout'
  | 'cancel_payout'
  | 'simulate_payout'
> = {
  create_beneficiary: ({ beneficiary }, { tenant }) =>
    command(createBeneficiary(tenant, beneficiary)),
  list_beneficiaries: (list, { tenant }) => query(listBeneficiaries(tenant, list)),
  get_beneficiary: ({ beneficiary_id: id }, { tenant }) => command(getBeneficiary(tenant, id)),
  disable_beneficiary: ({ beneficiary_id: id }, { tenant }) =>
    command(disableBeneficiary(tenant, id)),
  create_payout: (payout, { tenant }) => command(createPayout(tenant, payout)),
  list_payouts: (list, { tenant }) => query(listPayouts(tenant, list)),
  get_payout: ({ payout_id }, { tenant }) => command(getPayout(tenant, payout_id)),
  cancel_payout: ({ payout_id }, { tenant }) => command(cancelPayout(tenant, payout_id)),
  simulate_payout: ({ payout_id, outcome }, { tenant }) =>
    command(simulatePayout(tenant, payout_id, outcome)),
}
