/**
 * Alerts on available balances.
 *
 * Owns: when `balance.low` is published. Does not own: the thresholds (funds/balance_alert_set).
 *
 * - An alert fires once when the balance falls below its threshold. It is armed again when the
 *   balance is no longer below. Both are written in the commit of the posting.
 */
import { accountKey, partsOf, type AccountKey, type AccountKind } from '../../ledger/accounts.js'
import { toWire } from '../../money/money.js'
import type { Row } from '../../store/tables.js'
import type { CommandContext } from '../cycle/command.js'
import { publishEvent } from './event_publish.js'

/** Called after each posting, with the accounts it changed. */
export function watchBalances(
  ctx: CommandContext,
  accounts: Iterable<AccountKey>,
  posting: number,
): void {
  const { balanceAlerts, balances } = ctx.memory
  if (balanceAlerts.size === 0) return
  for (const account of accounts) {
    const alert = balanceAlerts.get(account)
    if (alert === undefined) continue
    const isLow = (balances.get(account) ?? 0n) < alert.threshold
    if (isLow !== (alert.armed === 1)) continue
    stageAlert(ctx, { ...alert, armed: isLow ? 0 : 1 })
    if (isLow) publishLowBalance(ctx, account, alert.threshold, posting)
  }
}

export function stageAlert({ memory, batch }: CommandContext, row: Row<'balanceAlerts'>): void {
  memory.balanceAlerts.set(row.account as AccountKey, row)
  batch.stage('balanceAlerts', row.account, row)
}

/** For a test of the sandbox: `post` fires an alert at the balance before it, unless one fires. */
export function withLowBalance(ctx: CommandContext, account: AccountKey, post: () => void): void {
  const { memory } = ctx
  const before = memory.balances.get(account) ?? 0n
  const wasArmed = memory.balanceAlerts.get(account)?.armed === 1
  post()
  const hasFired = wasArmed && memory.balanceAlerts.get(account)?.armed === 0
  if (!hasFired) publishLowBalance(ctx, account, before, memory.lastPosting)
}

function publishLowBalance(
  ctx: CommandContext,
  account: AccountKey,
  threshold: bigint,
  posting: number,
): void {
  const { tenant, currency } = partsOf(account)
  const balanceOf = (kind: AccountKind): string =>
    toWire(ctx.memory.balances.get(accountKey(tenant, currency, kind)) ?? 0n)
  publishEvent(ctx, tenant, `${account}@${posting}`, 'balance.low', {
    balance: {
      currency,
      available: balanceOf('prefund'),
      reserved: balanceOf('reserved'),
      threshold: toWire(threshold),
    },
  })
}
