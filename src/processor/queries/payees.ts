/**
 * The other payments to the payee of a payment, for a reviewer who decides on it.
 *
 * - Accounts are encrypted, so they are compared one by one: the payouts to the same beneficiary,
 *   and the partner's newest payouts to other beneficiaries with the same account. Those of an
 *   intent are the newest intents of its user.
 * - Corrupt rows are not counted.
 */
import { AFTER_ALL_IDS, instantOf, type TenantId } from '../../base/ids.js'
import { toRfc3339 } from '../../base/clock.js'
import { intentContextIn, type IntentContext } from '../../../actors/intent/context.js'
import { payoutContextIn, type PayoutContext } from '../../../actors/payout/context.js'
import type { ListedActor } from '../../store/lists.js'
import type { Memory } from '../cache/memory.js'
import { accountOfIntent, accountOfPayout } from '../changes/rail_instructions.js'
import { lastIntentOf } from '../changes/user_intent_links.js'
import type { QueryContext } from './query.js'

/** Payouts to the beneficiary, and intents of the user. */
const OF_PAYEE_MAX = 100
/** Payouts of the partner to others. */
const OF_PARTNER_MAX = 500
const LAST_MAX = 10

interface Payment {
  readonly id: string
  readonly status: string
  readonly currency: string
  readonly amount: string
}

interface Payout extends Payment {
  readonly context: PayoutContext
}

type Reads = Pick<QueryContext, 'lists' | 'vault'>

/** As `PayeeRecord`, by id of the payout. */
export async function payeesOfPayouts(
  ctx: Reads,
  payouts: readonly PayoutContext[],
): Promise<ReadonlyMap<string, object>> {
  const ofTenant = new Map<TenantId, readonly Payout[]>()
  for (const { tenant } of payouts) {
    if (!ofTenant.has(tenant)) ofTenant.set(tenant, await newest(ctx, { tenant }, OF_PARTNER_MAX))
  }
  const payees = new Map<string, object>()
  for (const context of payouts) {
    const { tenant, beneficiary } = context
    const own = await newest(ctx, { tenant, beneficiary: beneficiary.id }, OF_PAYEE_MAX + 1)
    const known = new Set(own.map(({ id }) => id))
    const others = ofTenant
      .get(tenant)!
      .filter((other) => !known.has(other.id) && hasSameAccount(ctx, context, other.context))
    const payee = `${beneficiary.name}, account ending ${beneficiary.accountLast4}`
    const all = [...own, ...others].sort((one, other) => (one.id < other.id ? 1 : -1))
    payees.set(context.id, payeeView(payee, context.id, all, own.length > OF_PAYEE_MAX))
  }
  return payees
}

async function newest(
  { lists }: Reads,
  of: { readonly tenant: TenantId; readonly beneficiary?: string },
  limit: number,
): Promise<readonly Payout[]> {
  const rows = await lists.payouts({ ...of, from: '', below: AFTER_ALL_IDS }, limit)
  return (await rows.checked()).flatMap(payoutIn)
}

function payoutIn({ id, state: status, context: read }: ListedActor): readonly Payout[] {
  const context = payoutContextIn(read)
  if (context?.id !== id) return []
  return [{ id, status, currency: context.currency, amount: context.recipientAmount, context }]
}

function hasSameAccount(ctx: Reads, one: PayoutContext, other: PayoutContext): boolean {
  const { country, bankCode, accountLast4 } = one.beneficiary
  const to = other.beneficiary
  if (to.country !== country || to.bankCode !== bankCode) return false
  if (to.accountLast4 !== accountLast4) return false
  return isEqual(() => accountOfPayout(ctx, one) === accountOfPayout(ctx, other))
}

/** False when an account number cannot be decrypted. */
function isEqual(compare: () => boolean): boolean {
  try {
    return compare()
  } catch {
    return false
  }
}

/** As `PayeeRecord`. Null if nothing was scanned. */
export async function payeeOfIntent(
  ctx: Reads,
  memory: Memory,
  intent: IntentContext,
): Promise<object | null> {
  const { id, tenant, userId, scanned } = intent
  if (scanned === undefined) return null
  const last = lastIntentOf(memory, tenant, userId)
  const rows = last === 0 ? [] : await ctx.lists.intentsOfUser(last, OF_PAYEE_MAX)
  const payments = rows.flatMap(({ state: status, context }) => {
    const other = intentContextIn(context)
    if (other?.tenant !== tenant || other.userId !== userId) return []
    if (!hasSameDestination(ctx, intent, other)) return []
    const { currency, localMinor: amount } = other.scanned!.quote
    return [{ id: other.id, status, currency, amount }]
  })
  const { merchant, destinationMasked } = scanned
  const payee = merchant.name === '' ? destinationMasked : `${merchant.name}, ${destinationMasked}`
  return payeeView(payee, id, payments, rows.at(-1)?.before !== 0 && rows.length > 0)
}

function hasSameDestination(ctx: Reads, one: IntentContext, other: IntentContext): boolean {
  const [from, to] = [one.scanned?.destination, other.scanned?.destination]
  if (from?.scheme !== to?.scheme || from?.bankCode !== to?.bankCode) return false
  if (one.scanned?.destinationMasked !== other.scanned?.destinationMasked) return false
  return isEqual(() => accountOfIntent(ctx, one) === accountOfIntent(ctx, other))
}

/** @param payments newest first, the payment itself too */
function payeeView(
  payee: string,
  own: string,
  payments: readonly Payment[],
  more: boolean,
): object {
  const others = payments.filter(({ id }) => id !== own)
  const counts = new Map<string, number>()
  for (const { status } of others) counts.set(status, (counts.get(status) ?? 0) + 1)
  return {
    payee,
    counts: [...counts].map(([status, count]) => ({ status, count })),
    counted: others.length,
    more,
    last: others.slice(0, LAST_MAX).map(({ id, status, currency, amount }) => ({
      ...{ id, status, currency, amount, created_at: toRfc3339(instantOf(id)) },
    })),
  }
}
