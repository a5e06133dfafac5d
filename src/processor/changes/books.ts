/**
 * Posting to the ledger, as part of a command.
 *
 * Owns: the amounts of an entity's plan, and staging balances and entries. Does not own: the plans
 * and the bounds of balances (ledger), postings that belong to no payment (changes/funds).
 *
 * - A command calls `can…` among its refusals; after that the posting must succeed.
 */
import { assert } from '../../base/assert.js'
import type { TenantId } from '../../base/ids.js'
import { accountKey, partsOf, type AccountKey, type AccountKind } from '../../ledger/accounts.js'
import { linesOf, type Parts, type PlanName, type PostingLine } from '../../ledger/plans.js'
import { post, type PostingOutcome } from '../../ledger/posting.js'
import { USD, type Currency } from '../../money/currency.js'
import { money } from '../../money/money.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import type { Moved } from '../cache/single_handed_sums.js'
import { watchBalances } from './balance_alerts.js'
import type { CommandContext } from '../cycle/command.js'
import type { Memory } from '../cache/memory.js'

export const balanceOf = (
  memory: Memory,
  tenant: TenantId,
  currency: Currency,
  kind: AccountKind,
): bigint => memory.balances.get(accountKey(tenant, currency, kind)) ?? 0n

export const canPostIntent = (
  ctx: CommandContext,
  context: IntentContext,
  plan: PlanName,
): boolean => tryLines(ctx, linesOf(plan, context.tenant, partsOfIntent(context))).ok

export function postIntent(ctx: CommandContext, context: IntentContext, plan: PlanName): void {
  postLines(ctx, plan, context.id, linesOf(plan, context.tenant, partsOfIntent(context)))
}

export const canPostPayout = (
  ctx: CommandContext,
  context: PayoutContext,
  plan: PlanName,
): boolean => tryLines(ctx, linesOf(plan, context.tenant, partsOfPayout(context))).ok

export function postPayout(ctx: CommandContext, context: PayoutContext, plan: PlanName): void {
  postLines(ctx, plan, context.id, linesOf(plan, context.tenant, partsOfPayout(context)))
}

/** The outcome of posting the lines; nothing is changed. */
export const tryLines = (
  { memory }: CommandContext,
  lines: readonly PostingLine[],
): PostingOutcome => post((account) => memory.balances.get(account) ?? 0n, lines)

export function postLines(
  ctx: CommandContext,
  plan: PlanName,
  entity: string,
  lines: readonly PostingLine[],
): void {
  const { memory, batch, now } = ctx
  const outcome = tryLines(ctx, lines)
  assert(outcome.ok, `${plan} is checked before it is posted`)
  memory.lastPosting += 1
  const posting = memory.lastPosting
  const running = new Map<AccountKey, bigint>()
  for (const [index, { account, amount }] of lines.entries()) {
    const balance = (running.get(account) ?? memory.balances.get(account) ?? 0n) + amount
    running.set(account, balance)
    batch.stage('entries', `${posting}.${index}`, {
      posting,
      line: index + 1,
      account,
      tenant: ownerOf(account),
      amount,
      balance,
      plan,
      entity,
      at: now,
    })
  }
  for (const [account, balance] of outcome.after) {
    memory.balances.set(account, balance)
    batch.stage('accounts', account, { id: account, balance })
  }
  watchBalances(ctx, outcome.after.keys(), posting)
}

/** The tenant whose money is on the account; null when it is ours. */
function ownerOf(account: AccountKey): TenantId | null {
  const { tenant, kind } = partsOf(account)
  return kind === 'prefund' || kind === 'reserved' ? tenant : null
}

/** The parts of every plan of an intent; a plan uses those it names. */
function partsOfIntent(context: IntentContext): Parts {
  assert(context.scanned !== undefined, 'an intent has a quote when its money moves')
  const { cents, localMinor, currency } = context.scanned.quote
  return {
    ...NOTHING,
    quote: money(USD, BigInt(cents)),
    local: money(currency, BigInt(localMinor)),
  }
}

/** What an operator's decision on the payment moves: the partner's debit. */
export const movedByIntent = (context: IntentContext): Moved => ({
  tenant: context.tenant,
  funds: partsOfIntent(context).quote,
})

/** What an operator's decision on the payout moves: the amount, without fees. */
export const movedByPayout = ({ tenant, currency, amount }: PayoutContext): Moved => ({
  tenant,
  funds: money(currency, BigInt(amount)),
})

function partsOfPayout(context: PayoutContext): Parts {
  const { currency, fees, refundFeesOnReversal } = context
  const fee = money(currency, BigInt(fees.sum))
  return {
    ...NOTHING,
    total: money(currency, BigInt(context.total)),
    recipient: money(currency, BigInt(context.recipientAmount)),
    fee,
    refundedFee: refundFeesOnReversal ? fee : money(currency, 0n),
  }
}

const ZERO = money(USD, 0n)
const NOTHING: Parts = {
  total: ZERO,
  recipient: ZERO,
  fee: ZERO,
  refundedFee: ZERO,
  quote: ZERO,
  local: ZERO,
  amount: ZERO,
  sold: ZERO,
  bought: ZERO,
}
