/**
 * Money that comes in, changes its currency, or is set aside for a person to look at.
 *
 * Owns: the postings that belong to no payment, and the room they must leave. Does not own: the
 * plans (ledger), posting itself (changes/books).
 *
 * - `can…` and `refusalOf…` are asked among the refusals; after them the posting must succeed.
 * - What has come into a currency, from outside or from other currencies, stays within the floor
 *   of `funding`: beyond it captures, which no one can refuse, would find no room
 *   (ledger/accounts).
 */
import type { ErrorCode } from '../../base/errors.js'
import { newId, type TenantId } from '../../base/ids.js'
import { accountKey, floorOf } from '../../ledger/accounts.js'
import { linesOf, type PlanName } from '../../ledger/plans.js'
import type { Currency } from '../../money/currency.js'
import type { Money } from '../../money/money.js'
import { balanceOf, postLines, tryLines } from './books.js'
import type { CommandContext } from '../cycle/command.js'

export const canDeposit = (ctx: CommandContext, tenant: TenantId, amount: Money): boolean =>
  hasRoom(ctx, tenant, amount.currency, { funding: amount.minor, fx: 0n }) &&
  tryLines(ctx, linesOf('deposit', tenant, { amount })).ok

/** Posts a deposit and returns its id. */
export function depositFunds(ctx: CommandContext, tenant: TenantId, amount: Money): string {
  const id = newId<string>('deposit', ctx.now, ctx.random)
  postLines(ctx, 'deposit', id, linesOf('deposit', tenant, { amount }))
  return id
}

export interface Conversion {
  readonly sold: Money
  readonly bought: Money
}

/** Why the conversion cannot be posted now; null when it can. */
export function refusalOfConversion(
  ctx: CommandContext,
  tenant: TenantId,
  { sold, bought }: Conversion,
): ErrorCode | null {
  const outcome = tryLines(ctx, linesOf('conversion', tenant, { sold, bought }))
  if (!outcome.ok && outcome.reason === 'insufficient_balance') return 'insufficient_balance'
  const fits = hasRoom(ctx, tenant, bought.currency, { funding: 0n, fx: bought.minor })
  return outcome.ok && fits ? null : 'balance_limit_exceeded'
}

/** Posts a conversion and returns its id. */
export function convertFunds(
  ctx: CommandContext,
  tenant: TenantId,
  { sold, bought }: Conversion,
): string {
  const id = newId<string>('conversion', ctx.now, ctx.random)
  postLines(ctx, 'conversion', id, linesOf('conversion', tenant, { sold, bought }))
  return id
}

/** The ways into `suspense` and out of it. */
export type SuspensePlan = Extract<PlanName, `discrepancy_${string}`>

/** Why the plan cannot be posted now; null when it can. */
export function refusalOfSuspense(
  ctx: CommandContext,
  tenant: TenantId,
  plan: SuspensePlan,
  amount: Money,
): ErrorCode | null {
  const outcome = tryLines(ctx, linesOf(plan, tenant, { amount }))
  if (!outcome.ok && outcome.reason === 'insufficient_balance') return 'insufficient_balance'
  const funding = plan === 'discrepancy_lost' ? amount.minor : 0n
  const fits = hasRoom(ctx, tenant, amount.currency, { funding, fx: 0n })
  return outcome.ok && (funding === 0n || fits) ? null : 'balance_limit_exceeded'
}

export function suspend(
  ctx: CommandContext,
  tenant: TenantId,
  { plan, amount, entity }: { plan: SuspensePlan; amount: Money; entity: string },
): void {
  postLines(ctx, plan, entity, linesOf(plan, tenant, { amount }))
}

/** Whether this much more may come in through the two accounts that money comes in by. */
function hasRoom(
  { memory }: CommandContext,
  tenant: TenantId,
  currency: Currency,
  more: { readonly funding: bigint; readonly fx: bigint },
): boolean {
  const fromOutside = more.funding - balanceOf(memory, tenant, currency, 'funding')
  const fromCurrencies = more.fx - balanceOf(memory, tenant, currency, 'fx')
  const most = -floorOf(accountKey(tenant, currency, 'funding'))
  return fromOutside + (fromCurrencies > 0n ? fromCurrencies : 0n) <= most
}
