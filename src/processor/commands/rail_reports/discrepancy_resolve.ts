/**
 * Settles a discrepancy: a person has found out what the rail's odd words were about.
 *
 * - `keep` lets its entries stand in suspense. Every other way takes them out: by their mirror,
 *   because the money did not move after all or has moved back (`undo`); at the partner's charge
 *   or to its credit; or at our own loss or gain (`write_off`).
 * - It is settled once; only what was kept may be cleared later. Each time by name, with a reason
 *   and with the place of the evidence.
 */
import type { ErrorCode } from '../../../base/errors.js'
import type { TenantId } from '../../../base/ids.js'
import type { Currency } from '../../../money/currency.js'
import { money, type Money } from '../../../money/money.js'
import type { Row } from '../../../store/tables.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { discrepancyView, stageDiscrepancy } from '../../changes/discrepancies.js'
import { refusalOfSuspense, suspend, type SuspensePlan } from '../../changes/funds.js'
import { answer, refuse } from '../../cycle/answer.js'
import { isEvidence, logAction, type Actor } from '../../changes/operator_log.js'

export interface Settlement {
  readonly settlement: string
  readonly evidence: string
}

/** How each way is posted, by what had been posted to suspense; null: it has no such way. */
const WAYS = {
  keep: null,
  undo: { paid: 'discrepancy_returned', returned: 'discrepancy_paid' },
  charge_partner: { paid: 'discrepancy_charged', returned: null },
  credit_partner: { paid: null, returned: 'discrepancy_credited' },
  write_off: { paid: 'discrepancy_lost', returned: 'discrepancy_gained' },
} as const satisfies Record<string, Record<'paid' | 'returned', SuspensePlan | null> | null>
type Way = keyof typeof WAYS

export function resolveDiscrepancy(
  actor: Actor,
  id: string,
  { settlement: way, evidence }: Settlement,
): Command {
  return {
    name: 'resolve_discrepancy',
    needs: (needs) => needs.discrepancy(id),
    decide: (ctx) => {
      if (!isWay(way) || !isEvidence(evidence)) return refuse('invalid_request')
      const row = ctx.memory.discrepancies.get(id)
      if (!row) return refuse('discrepancy_not_found')
      const isKept = row.settlement === 'keep' && way !== 'keep'
      if (row.settlement !== null && !isKept) return refuse('discrepancy_settled')
      const clearing = clearingOf(row, way)
      const refusal = way === 'keep' ? null : refusalOf(ctx, clearing)
      if (refusal !== null) return refuse(refusal)

      // From here on it must succeed.
      if (clearing !== null) suspend(ctx, clearing.tenant, { ...clearing, entity: id })
      const settled = { ...row, resolved_at: ctx.now, settlement: way }
      stageDiscrepancy(ctx, settled)
      logAction(ctx, actor, `resolve_discrepancy_${way}`, id, evidence)
      return answer(discrepancyView(settled))
    },
  }
}

const isWay = (text: string): text is Way => Object.hasOwn(WAYS, text)

interface Clearing {
  readonly tenant: TenantId
  readonly plan: SuspensePlan
  readonly amount: Money
}

/** What takes its entries out of suspense; null when it has none, or none of that kind. */
function clearingOf(row: Row<'discrepancies'>, way: Way): Clearing | null {
  const { tenant, currency, amount } = row
  if (tenant === null || currency === null || amount === null) return null
  const plan = WAYS[way]?.[row.plan === 'discrepancy_paid' ? 'paid' : 'returned'] ?? null
  if (plan === null) return null
  return { tenant: tenant as TenantId, plan, amount: money(currency as Currency, amount) }
}

function refusalOf(ctx: CommandContext, clearing: Clearing | null): ErrorCode | null {
  if (clearing === null) return 'settlement_not_possible'
  return refusalOfSuspense(ctx, clearing.tenant, clearing.plan, clearing.amount)
}
