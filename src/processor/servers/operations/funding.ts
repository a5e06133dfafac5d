/** What the operations on balances and the account do. */
import { getBalances } from '../../commands/funds/balances_get.js'
import { createFxConversion } from '../../commands/funds/fx_conversion_create.js'
import { createFxQuote } from '../../commands/funds/fx_quote_create.js'
import { depositSandboxFunds } from '../../commands/funds/sandbox_deposit.js'
import { getAccount } from '../../commands/partners/account_get.js'
import { listBalanceTransactions } from '../../queries/balance_transaction_list.js'
import { command, query, type ActionsOf } from './action.js'

export const FUNDING_ACTIONS: ActionsOf<
  | 'get_balances'
  | 'list_balance_transactions'
  | 'create_deposit'
  | 'create_fx_quote'
  | 'create_fx_conversion'
  | 'get_account'
> = {
  get_balances: (_, { tenant }) => command(getBalances(tenant)),
  list_balance_transactions: (list, { tenant }) => query(listBalanceTransactions(tenant, list)),
  create_deposit: (deposit, { tenant }) => command(depositSandboxFunds(tenant, deposit)),
  create_fx_quote: (quote, { tenant }) => command(createFxQuote(tenant, quote)),
  create_fx_conversion: (conversion, { tenant }) => command(createFxConversion(tenant, conversion)),
  get_account: (_, { tenant }) => command(getAccount(tenant)),
}
