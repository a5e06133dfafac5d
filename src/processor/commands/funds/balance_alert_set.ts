/**
 * Sets the available balance below which `balance.low` is published; 0 turns the alert off.
 *
 * - Only falling below fires: a threshold above the present balance fires after the balance was
 *   above it.
 */
import type { TenantId } from '../../../base/ids.js'
import { accountKey } from '../../../ledger/accounts.js'
import { currencyOf } from '../../../money/currency.js'
import { parseInt64, toWire } from '../../../money/money.js'
import { stageAlert } from '../../changes/balance_alerts.js'
import { balanceOf } from '../../changes/books.js'
import type { Command } from '../../cycle/command.js'
import { answer, refuse } from '../../cycle/answer.js'
import { logAction, type Actor } from '../../changes/operator_log.js'

/** @param thresholdText minor units */
export function setBalanceAlert(
  actor: Actor,
  tenant: TenantId,
  currencyText: string,
  thresholdText: string,
): Command {
  return {
    name: 'set_balance_alert',
    needs: () => undefined,
    decide: (ctx) => {
      const currency = currencyOf(currencyText)
      const threshold = parseInt64(thresholdText)
      if (currency === undefined || threshold === undefined || threshold < 0n) {
        return refuse('invalid_request')
      }

      // From here on it must succeed.
      const isLow = balanceOf(ctx.memory, tenant, currency, 'prefund') < threshold
      const account = accountKey(tenant, currency, 'prefund')
      stageAlert(ctx, { account, threshold, armed: isLow ? 0 : 1 })
      logAction(ctx, actor, 'set_balance_alert', `${account} ${toWire(threshold)}`)
      return answer({})
    },
  }
}
