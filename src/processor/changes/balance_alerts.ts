/**
 * Alerts on available balances.
 *
 * Owns: when `balance.low` is announced. Does not own: who sets a threshold
 * (commands/balance_alert_set).
 *
 * L1. An alert fires when the balance falls below its threshold, once; it is armed again when the
 *     balance is no longer below. Both are written in the commit of the posting that did it.
 */
import { accountKey, partsOf, type AccountKey, type AccountKind } from '../../ledger/accounts.js'
import { toWire } from '../../money/money.js'
import type { Row } from '../../store/tables.js'
import type { Desk } from '../cycle/command.js'
import { publishEvent } from './events.js'

/** Called after each posting, with the accounts it changed. */
export function watchBalances(desk: Desk, accounts: Iterable<AccountKey>, posting: number): void {
  const { balanceAlerts, balances } = desk.memory
  if (balanceAlerts.size === 0) return
  for (const account of accounts) {
    const alert = balanceAlerts.get(account)
    if (alert === undefined) continue
    const isLow = (balances.get(account) ?? 0n) < alert.threshold
    if (isLow !== (alert.armed === 1)) continue
    stageAlert(desk, { ...alert, armed: isLow ? 0 : 1 })
    if (isLow) announce(desk, account, alert.threshold, posting)
  }
}

export function stageAlert({ memory, group }: Desk, row: Row<'balanceAlerts'>): void {
  memory.balanceAlerts.set(row.account as AccountKey, row)
  group.stage('balanceAlerts', row.account, row)
}

function announce(desk: Desk, account: AccountKey, threshold: bigint, posting: number): void {
  const { tenant, currency } = partsOf(account)
  const balanceOf = (kind: AccountKind): string =>
    toWire(desk.memory.balances.get(accountKey(tenant, currency, kind)) ?? 0n)
  publishEvent(desk, tenant, `${account}@${posting}`, 'balance.low', {
    balance: {
      currency,
      available: balanceOf('prefund'),
      reserved: balanceOf('reserved'),
      threshold: toWire(threshold),
    },
  })
}
