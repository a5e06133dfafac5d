/**
 * The services of internal callers: every operation of the partner API that an internal service may
 * need, with the commands, queries and checks of its partner route.
 */
import type { AccountsHandlers } from '../../../protos/types/causeway/v1/Accounts.js'
import type { BeneficiariesHandlers } from '../../../protos/types/causeway/v1/Beneficiaries.js'
import type { FundingHandlers } from '../../../protos/types/causeway/v1/Funding.js'
import type { PayoutsHandlers } from '../../../protos/types/causeway/v1/Payouts.js'
import { PAYOUT_IDEMPOTENCY_KEY_MAX as KEY_MAX } from '../../base/constants.js'
import {
  checkCreateDeposit,
  checkCreateFxConversion,
  checkCreateFxQuote,
} from '../../requests/funding.js'
import { checkPage, checkPayouts } from '../../requests/lists.js'
import { keyFault } from '../../requests/idempotency_key.js'
import { checkBeneficiary, checkCreatePayout, readPayout } from '../../requests/payouts.js'
import { checkSimulatePayout } from '../../requests/sandbox.js'
import {
  bodyOf,
  faultIn,
  faultOf,
  firstFault,
  listFault,
  nameFault,
  optionalKeyFault,
} from './message_check.js'
import { given, operation, type PartnerCall } from './partner_call.js'

export const payoutCalls = (call: PartnerCall): PayoutsHandlers => ({
  Create: call(({ payout }, ctx) =>
    given(ctx, 'create_payout', 'payout', payout, (message) =>
      firstFault(
        keyFault(message.idempotency_key, KEY_MAX),
        nameFault('metadata', message.metadata),
        faultOf(readPayout(bodyOf(message, checkCreatePayout.schema))),
      ),
    ),
  ),
  Get: call(({ payout_id }, ctx) => operation(ctx, 'get_payout', { payout_id })),
  List: call(({ list }, ctx) =>
    given(ctx, 'list_payouts', 'list', list, (message) => listFault(message, checkPayouts)),
  ),
  Balances: call((_, ctx) => operation(ctx, 'get_balances', {})),
  Cancel: call(({ payout_id }, ctx) => operation(ctx, 'cancel_payout', { payout_id })),
  Simulate: call(({ simulation }, ctx) =>
    given(ctx, 'simulate_payout', 'simulation', simulation, (message) =>
      faultIn(message, checkSimulatePayout),
    ),
  ),
})

export const beneficiaryCalls = (call: PartnerCall): BeneficiariesHandlers => ({
  Create: call(({ beneficiary }, ctx) =>
    given(ctx, 'create_beneficiary', 'beneficiary', beneficiary && { beneficiary }, () =>
      faultIn(beneficiary ?? {}, checkBeneficiary),
    ),
  ),
  Get: call(({ beneficiary_id }, ctx) => operation(ctx, 'get_beneficiary', { beneficiary_id })),
  List: call(({ list }, ctx) =>
    given(ctx, 'list_beneficiaries', 'list', list, (message) => listFault(message, checkPage)),
  ),
  Disable: call(({ beneficiary_id }, ctx) =>
    operation(ctx, 'disable_beneficiary', { beneficiary_id }),
  ),
})

export const fundingCalls = (call: PartnerCall): FundingHandlers => ({
  CreateDeposit: call(({ deposit }, ctx) =>
    given(ctx, 'create_deposit', 'deposit', deposit, (message) =>
      firstFault(
        optionalKeyFault(message.idempotency_key, KEY_MAX),
        faultIn(message, checkCreateDeposit),
      ),
    ),
  ),
  CreateFxQuote: call(({ quote }, ctx) =>
    given(ctx, 'create_fx_quote', 'quote', quote, (message) =>
      faultIn(message, checkCreateFxQuote),
    ),
  ),
  CreateFxConversion: call(({ conversion }, ctx) =>
    given(ctx, 'create_fx_conversion', 'conversion', conversion, (message) =>
      firstFault(
        keyFault(message.idempotency_key, KEY_MAX),
        faultIn(message, checkCreateFxConversion),
      ),
    ),
  ),
  ListBalanceTransactions: call(({ list }, ctx) =>
    given(ctx, 'list_balance_transactions', 'list', list, (message) =>
      listFault(message, checkPage),
    ),
  ),
})

export const accountCalls = (call: PartnerCall): AccountsHandlers => ({
  Get: call((_, ctx) => operation(ctx, 'get_account', {})),
})
