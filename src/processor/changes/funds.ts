/**
 * Postings that belong to no payment: deposits and their corrections, withdrawals, conversions and
 * suspense.
 *
 * Owns: these postings and the headroom they must leave. Does not own: the plans (ledger), posting
 * itself (changes/books).
 *
 * - A command calls `can…` and `refusalOf…` among its refusals; after that the posting must
 *   succeed.
 * - The money that entered a currency, through `funding` or by conversion, stays within the floor
 *   of `funding`: beyond it captures, which cannot be refused, would not fit (ledger/accounts).
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
  hasCapacity(ctx, tenant, amount.currency, { funding: amount.minor, fx: 0n }) &&
  tryLines(ctx, linesOf('deposit', tenant, { amount })).ok

/** Posts a deposit and returns its id. */
export function depositFunds(ctx: CommandContext, tenant: TenantId, amount: Money): string {
  const id = newId<string>('deposit', ctx.now, ctx.random)
  postLines(ctx, 'deposit', id, linesOf('deposit', tenant, { amount }))
  return id
}

/** The plans that take money out of a prefund without a payment. */
export type WithdrawalPlan = 'withdrawal' | 'deposit_corrected'

/** The refusal of a withdrawal that cannot be posted; null when it can. */
export function refusalOfWithdrawal(
  ctx: CommandContext,
  tenant: TenantId,
  plan: WithdrawalPlan,
  amount: Money,
): ErrorCode | null {
  const outcome = tryLines(ctx, linesOf(plan, tenant, { amount }))
  if (outcome.ok) return null
  const { reason } = outcome
  return reason === 'insufficient_balance' ? reason : 'balance_limit_exceeded'
}

/** @param entity of a correction the deposit, under whose id it is posted */
export function withdrawFunds(
  ctx: CommandContext,
  tenant: TenantId,
  { plan, amount, entity }: { plan: WithdrawalPlan; amount: Money; entity: string },
): void {
  postLines(ctx, plan, entity, linesOf(plan, tenant, { amount }))
}

export interface Conversion {
  readonly sold: Money
  readonly bought: Money
}

/** The refusal of a conversion that cannot be posted; null when it can. */
export function refusalOfConversion(
  ctx: CommandContext,
  tenant: TenantId,
  { sold, bought }: Conversion,
): ErrorCode | null {
  const outcome = tryLines(ctx, linesOf('conversion', tenant, { sold, bought }))
  if (!outcome.ok && outcome.reason === 'insufficient_balance') return 'insufficient_balance'
  const fits = hasCapacity(ctx, tenant, bought.currency, { funding: 0n, fx: bought.minor })
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

/** The plans that post to or from `suspense`. */
export type SuspensePlan = Extract<PlanName, `discrepancy_${string}`>

/** The refusal of a plan that cannot be posted; null when it can. */
export function refusalOfSuspense(
  ctx: CommandContext,
  tenant: TenantId,
  plan: SuspensePlan,
  amount: Money,
): ErrorCode | null {
  const outcome = tryLines(ctx, linesOf(plan, tenant, { amount }))
  if (!outcome.ok && outcome.reason === 'insufficient_balance') return 'insufficient_balance'
  const funding = plan === 'discrepancy_lost' ? amount.minor : 0n
  const fits = hasCapacity(ctx, tenant, amount.currency, { funding, fx: 0n })
  return outcome.ok && (funding === 0n || fits) ? null : 'balance_limit_exceeded'
}

export function postSuspense(
  ctx: CommandContext,
  tenant: TenantId,
  { plan, amount, entity }: { plan: SuspensePlan; amount: Money; entity: string },
): void {
  postLines(ctx, plan, entity, linesOf(plan, tenant, { amount }))
}

/** Whether `more` may still enter through the two accounts by which money enters a currency. */
function hasCapacity(
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
