/**
 * The services of internal callers: every operation of the partner API that an internal service may
 * need, with the commands, queries and checks of its partner route.
 */
import type { AccountsHandlers } from '../../../protos/types/causeway/v1/Accounts.js'
import type { BeneficiariesHandlers } from '../../../protos/types/causeway/v1/Beneficiaries.js'
import type { FundingHandlers } from '../../../protos/types/causeway/v1/Funding.js'
import type { PayoutsHandlers } from '../../../protos/types/causeway/v1/Payouts.js'
import { PAYOUT_IDEMPOTENCY_KEY_MAX } from '../../base/constants.js'
import { parsePositiveInt64 } from '../../money/money.js'
import { given, operation, rule, textOf, type PartnerCall } from './partner_call.js'
import type { FieldViolation } from './status_details.js'

export const payoutCalls = (call: PartnerCall): PayoutsHandlers => ({
  Create: call(({ payout }, ctx) => given(ctx, 'create_payout', 'payout', payout)),
  Get: call(({ payout_id }, ctx) => operation(ctx, 'get_payout', { payout_id })),
  List: call(({ list }, ctx) => given(ctx, 'list_payouts', 'list', list)),
  Balances: call((_, ctx) => operation(ctx, 'get_balances', {})),
  Cancel: call(({ payout_id }, ctx) => operation(ctx, 'cancel_payout', { payout_id })),
  Simulate: call(({ simulation }, ctx) => given(ctx, 'simulate_payout', 'simulation', simulation)),
})

export const beneficiaryCalls = (call: PartnerCall): BeneficiariesHandlers => ({
  Create: call(({ beneficiary }, ctx) =>
    given(ctx, 'create_beneficiary', 'beneficiary', beneficiary && { beneficiary }),
  ),
  Get: call(({ beneficiary_id }, ctx) => operation(ctx, 'get_beneficiary', { beneficiary_id })),
  List: call(({ list }, ctx) => given(ctx, 'list_beneficiaries', 'list', list)),
  Disable: call(({ beneficiary_id }, ctx) =>
    operation(ctx, 'disable_beneficiary', { beneficiary_id }),
  ),
})

export const fundingCalls = (call: PartnerCall): FundingHandlers => ({
  CreateDeposit: call(({ deposit }, ctx) =>
    given(ctx, 'create_deposit', 'deposit', deposit, [
      ...currencyOf('deposit.currency', deposit?.currency),
      ...amountOf('deposit.amount', deposit?.amount),
      ...textOf('deposit.idempotency_key', deposit?.idempotency_key, PAYOUT_IDEMPOTENCY_KEY_MAX),
    ]),
  ),
  CreateFxQuote: call(({ quote }, ctx) =>
    given(ctx, 'create_fx_quote', 'quote', quote, [
      ...currencyOf('quote.sell_currency', quote?.sell_currency),
      ...amountOf('quote.sell_amount', quote?.sell_amount),
      ...currencyOf('quote.buy_currency', quote?.buy_currency),
    ]),
  ),
  CreateFxConversion: call(({ conversion }, ctx) =>
    given(ctx, 'create_fx_conversion', 'conversion', conversion, [
      ...rule(conversion?.quote_id !== '', 'conversion.quote_id', 'must not be empty'),
      ...textOf('conversion.idempotency_key', conversion?.idempotency_key, KEY_MAX),
    ]),
  ),
  ListBalanceTransactions: call(({ list }, ctx) =>
    given(ctx, 'list_balance_transactions', 'list', list),
  ),
})

export const accountCalls = (call: PartnerCall): AccountsHandlers => ({
  Get: call((_, ctx) => operation(ctx, 'get_account', {})),
})

const KEY_MAX = PAYOUT_IDEMPOTENCY_KEY_MAX

const currencyOf = (field: string, text: string | undefined): FieldViolation[] =>
  rule(/^[A-Z]{3}$/.test(text ?? ''), field, 'must be three capital letters of ISO 4217')

const amountOf = (field: string, text: string | undefined): FieldViolation[] =>
  rule(
    parsePositiveInt64(text ?? '') !== undefined,
    field,
    'must be a positive 64-bit integer as decimal text, in minor units',
  )
