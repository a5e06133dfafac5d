/**
 * Money that comes in, changes its currency, or is set aside for a person to look at.
 *
 * Owns: the postings that belong to no payment, and the room they must leave. Does not own: the
 * plans (ledger), posting itself (processor/books).
 *
 * F1. `can…` and `refusalOf…` are asked among the refusals; after them the posting must succeed.
 * F2. What has come into a currency, from outside or from other currencies, stays within the floor
 *     of `funding`: beyond it captures, which no one can refuse, would find no room
 *     (ledger/accounts, A3).
 */
import type { ErrorCode } from '../base/errors.js'
import { newId, type TenantId } from '../base/ids.js'
import { accountKey, floorOf } from '../ledger/accounts.js'
import { linesOf, type PlanName } from '../ledger/plans.js'
import type { Currency } from '../money/currency.js'
import type { Money } from '../money/money.js'
import { balanceOf, postLines, tryLines } from './books.js'
import type { Desk } from './command.js'

export const canDeposit = (desk: Desk, tenant: TenantId, amount: Money): boolean =>
  hasRoom(desk, tenant, amount.currency, { funding: amount.minor, fx: 0n }) &&
  tryLines(desk, linesOf('deposit', tenant, { amount })).ok

/** Posts a deposit and returns its id. */
export function depositFunds(desk: Desk, tenant: TenantId, amount: Money): string {
  const id = newId<string>('deposit', desk.now, desk.random)
  postLines(desk, 'deposit', id, linesOf('deposit', tenant, { amount }))
  return id
}

export interface Conversion {
  readonly sold: Money
  readonly bought: Money
}

/** Why the conversion can not be posted now; null when it can. */
export function refusalOfConversion(
  desk: Desk,
  tenant: TenantId,
  { sold, bought }: Conversion,
): ErrorCode | null {
  const outcome = tryLines(desk, linesOf('conversion', tenant, { sold, bought }))
  if (!outcome.ok && outcome.reason === 'insufficient_balance') return 'insufficient_balance'
  const fits = hasRoom(desk, tenant, bought.currency, { funding: 0n, fx: bought.minor })
  return outcome.ok && fits ? null : 'invalid_request'
}

/** Posts a conversion and returns its id. */
export function convertFunds(desk: Desk, tenant: TenantId, { sold, bought }: Conversion): string {
  const id = newId<string>('conversion', desk.now, desk.random)
  postLines(desk, 'conversion', id, linesOf('conversion', tenant, { sold, bought }))
  return id
}

/** The two ways into `suspense`; each is the mirror of the other. */
export type SuspensePlan = Extract<PlanName, 'discrepancy_paid' | 'discrepancy_returned'>

export const canSuspend = (
  desk: Desk,
  tenant: TenantId,
  plan: SuspensePlan,
  amount: Money,
): boolean => tryLines(desk, linesOf(plan, tenant, { amount })).ok

export function suspend(
  desk: Desk,
  tenant: TenantId,
  { plan, amount, entity }: { plan: SuspensePlan; amount: Money; entity: string },
): void {
  postLines(desk, plan, entity, linesOf(plan, tenant, { amount }))
}

/** Whether this much more may come in through the two accounts that money comes in by. */
function hasRoom(
  { memory }: Desk,
  tenant: TenantId,
  currency: Currency,
  more: { readonly funding: bigint; readonly fx: bigint },
): boolean {
  const fromOutside = more.funding - balanceOf(memory, tenant, currency, 'funding')
  const fromCurrencies = more.fx - balanceOf(memory, tenant, currency, 'fx')
  const most = -floorOf(accountKey(tenant, currency, 'funding'))
  return fromOutside + (fromCurrencies > 0n ? fromCurrencies : 0n) <= most
}
