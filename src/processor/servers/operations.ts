/**
 * Maps each gateway operation to a command, and to the query that follows it.
 *
 * - A signed list call first consumes its nonce in the cycle; its query runs after that commit.
 */
import type { Command__Output as WireCommand } from '../../../protos/types/causeway/internal/v1/Command.js'
import type { Instant } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import type { Command } from '../cycle/command.js'
import { getBalances } from '../commands/funds/balances_get.js'
import { createBeneficiary } from '../commands/beneficiaries/beneficiary_create.js'
import { disableBeneficiary } from '../commands/beneficiaries/beneficiary_disable.js'
import { getBeneficiary } from '../commands/beneficiaries/beneficiary_get.js'
import { createFxConversion } from '../commands/funds/fx_conversion_create.js'
import { createFxQuote } from '../commands/funds/fx_quote_create.js'
import { cancelIntent } from '../commands/intents/intent_cancel.js'
import { confirmIntent } from '../commands/intents/intent_confirm.js'
import { createIntent } from '../commands/intents/intent_create.js'
import { getIntent } from '../commands/intents/intent_get.js'
import { getReceipt, mintReceipt } from '../commands/intents/intent_receipt.js'
import { refundIntent } from '../commands/intents/intent_refund.js'
import { remintSession } from '../commands/intents/intent_remint.js'
import { scanIntent } from '../commands/intents/intent_scan.js'
import { findUserIntents, type FoundIntents } from '../commands/intents/user_intents_find.js'
import { getAccount } from '../commands/partners/account_get.js'
import { consumeNonce } from '../commands/partners/nonce_consume.js'
import { createPayout } from '../commands/payouts/payout_create.js'
import { cancelPayout, getPayout } from '../commands/payouts/payout_get.js'
import { simulatePayout } from '../commands/payouts/payout_simulate.js'
import { checkSession } from '../commands/intents/session_check.js'
import { depositSandboxFunds } from '../commands/funds/sandbox_deposit.js'
import { listBalanceTransactions } from '../queries/balance_transaction_list.js'
import { listBeneficiaries } from '../queries/beneficiary_list.js'
import { listIntents } from '../queries/intent_list.js'
import { listPayouts } from '../queries/payout_list.js'
import type { Query } from '../queries/query.js'
import { listUserIntents } from '../queries/user_intent_list.js'
import type { WebhookPools } from '../queries/webhook_pools.js'
import { recordedAs } from './recorded_operations.js'
import { webhookOperation } from './webhook_operations.js'

export interface CommandOperation {
  readonly command: Command
  /**
   * The query that runs after the command is committed, given the command's view; null: the
   * command's answer is the result.
   */
  readonly query: ((view: object) => Query) | null
}

export function operationOf(
  wire: WireCommand,
  now: Instant,
  pools: WebhookPools,
): CommandOperation {
  if (wire.consume_nonce_only) return { command: consumeNonce(), query: null }
  if (wire.operation === 'list_intents') return intentList(wire)
  const query = queryOf(wire)
  if (query !== null) return { command: consumeNonce(), query: () => query }
  const command = commandOf(wire, now)
  const operation = command === null ? webhookOperation(wire, pools) : { command, query: null }
  return { ...operation, command: recordedAs(wire, operation.command) }
}

/** The intents of one user are a linked list; the command finds its newest one. */
function intentList(wire: WireCommand): CommandOperation {
  const tenant = wire.tenant as TenantId
  const { partner_user_id: userId, ...request } = wire.list_intents!
  if (userId === undefined) {
    return { command: consumeNonce(), query: () => listIntents(tenant, request) }
  }
  return {
    command: findUserIntents(tenant, userId),
    query: (view) => listUserIntents(tenant, userId, request, (view as FoundIntents).last),
  }
}

function queryOf(wire: WireCommand): Query | null {
  const tenant = wire.tenant as TenantId
  switch (wire.operation) {
    case 'list_payouts':
      return listPayouts(tenant, wire.list_payouts!)
    case 'list_beneficiaries':
      return listBeneficiaries(tenant, wire.list_beneficiaries!)
    case 'list_balance_transactions':
      return listBalanceTransactions(tenant, wire.list_balance_transactions!)
    default:
      return null
  }
}

/** @returns null for webhook and unknown operations */
function commandOf(wire: WireCommand, now: Instant): Command | null {
  const tenant = wire.tenant as TenantId
  switch (wire.operation) {
    case 'create_intent':
      return createIntent(tenant, wire.create_intent!)
    case 'get_intent':
      return getIntent(tenant, wire.get_intent!.intent_id)
    case 'scan_intent':
      return scanIntent(tenant, wire.scan_intent!, now)
    case 'confirm_intent':
      return confirmIntent(tenant, wire.confirm_intent!, now)
    case 'check_session':
      return checkSession(tenant, wire.check_session!)
    case 'cancel_intent':
      return cancelIntent(tenant, wire.cancel_intent!.intent_id)
    case 'remint_session':
      return remintSession(tenant, wire.remint_session!)
    case 'mint_receipt_token':
      return mintReceipt(tenant, wire.mint_receipt_token!.intent_id)
    case 'get_receipt':
      return getReceipt(tenant, wire.get_receipt!.intent_id, wire.get_receipt!.subject)
    case 'refund_intent':
      return refundIntent(
        tenant,
        wire.refund_intent!.intent_id,
        wire.refund_intent!.idempotency_key ?? null,
      )
    case 'get_account':
      return getAccount(tenant)
    case 'create_payout':
      return createPayout(tenant, wire.create_payout!)
    case 'get_payout':
      return getPayout(tenant, wire.get_payout!.payout_id)
    case 'cancel_payout':
      return cancelPayout(tenant, wire.cancel_payout!.payout_id)
    case 'simulate_payout':
      return simulatePayout(tenant, wire.simulate_payout!.payout_id, wire.simulate_payout!.outcome)
    case 'create_beneficiary':
      return createBeneficiary(tenant, wire.create_beneficiary!.beneficiary)
    case 'get_beneficiary':
      return getBeneficiary(tenant, wire.get_beneficiary!.beneficiary_id)
    case 'disable_beneficiary':
      return disableBeneficiary(tenant, wire.disable_beneficiary!.beneficiary_id)
    case 'get_balances':
      return getBalances(tenant)
    case 'create_deposit':
      return depositSandboxFunds(tenant, wire.create_deposit!)
    case 'create_fx_quote':
      return createFxQuote(tenant, wire.create_fx_quote!)
    case 'create_fx_conversion':
      return createFxConversion(tenant, wire.create_fx_conversion!)
    default:
      return null
  }
}
