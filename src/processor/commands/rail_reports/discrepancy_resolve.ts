/**
 * Settles a discrepancy after an operator has found its cause.
 *
 * - `keep` leaves its entries in suspense. Every other settlement clears them: by their mirror,
 *   because the money did not move or has moved back (`undo`); by charging or crediting the
 *   partner; or at our own loss or gain (`write_off`).
 * - A discrepancy is settled once; only a kept one can be cleared later. Each settlement is logged
 *   with the operator, the reason and the evidence.
 */
import { isMoment } from '../../../base/clock.js'
import { CorruptRow } from '../../../base/corrupt_row.js'
import type { ErrorCode } from '../../../base/errors.js'
import type { TenantId } from '../../../base/ids.js'
import type { Currency } from '../../../money/currency.js'
import { money, type Money } from '../../../money/money.js'
import type { Row } from '../../../store/tables.js'
import type { Moved } from '../../cache/single_handed_sums.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { discrepancyView, stageDiscrepancy } from '../../changes/discrepancies.js'
import { postSuspense, refusalOfSuspense, type SuspensePlan } from '../../changes/funds.js'
import { answer, refuse } from '../../cycle/answer.js'
import { INVALID_EVIDENCE, isEvidence, logAction, type Actor } from '../../changes/operator_log.js'

export interface Settlement {
  readonly settlement: string
  readonly evidence: string
}

/** The plan of each settlement, by the plan posted to suspense. Null if it does not apply. */
const SETTLEMENTS = {
  keep: null,
  undo: { paid: 'discrepancy_returned', returned: 'discrepancy_paid' },
  charge_partner: { paid: 'discrepancy_charged', returned: null },
  credit_partner: { paid: null, returned: 'discrepancy_credited' },
  write_off: { paid: 'discrepancy_lost', returned: 'discrepancy_gained' },
} as const satisfies Record<string, Record<'paid' | 'returned', SuspensePlan | null> | null>
type SettlementKind = keyof typeof SETTLEMENTS
/** Those that change the partner's prefund or our own funds. */
const CORRECTIONS: ReadonlySet<SettlementKind> = new Set([
  ...(['charge_partner', 'credit_partner', 'write_off'] as const),
])

export function resolveDiscrepancy(
  actor: Actor,
  id: string,
  { settlement, evidence }: Settlement,
): Command {
  return {
    name: 'resolve_discrepancy',
    needs: (needs) => needs.discrepancy(id),
    decide: (ctx) => {
      if (!isSettlement(settlement)) return refuse('invalid_request')
      if (!isEvidence(evidence)) return INVALID_EVIDENCE
      const row = ctx.memory.discrepancies.get(id)
      if (!row) return refuse('discrepancy_not_found')
      if (row.report === undefined) throw new CorruptRow(id, 'its report cannot be read')
      if (!isMoment(row.at)) throw new CorruptRow(id, 'its moment is impossible')
      const isKept = row.settlement === 'keep' && settlement !== 'keep'
      if (row.settlement !== null && !isKept) return refuse('discrepancy_settled')
      const clearing = clearingOf(row, settlement)
      const refusal = settlement === 'keep' ? null : refusalOf(ctx, clearing)
      if (refusal !== null) return refuse(refusal)
      const moved = CORRECTIONS.has(settlement) ? clearing && movedBy(clearing) : null
      if (moved !== null) {
        const ofOne = refusalOfOneOperator(ctx, actor, {
          operation: 'resolve_discrepancy',
          arguments: { discrepancy_id: id, settlement, evidence },
          subject: `${id} ${settlement}`,
          moved,
        })
        if (ofOne !== null) return ofOne
      }

      // From here on it must succeed.
      if (clearing !== null) postSuspense(ctx, clearing.tenant, { ...clearing, entity: id })
      const settled = { ...row, resolved_at: ctx.now, settlement }
      stageDiscrepancy(ctx, settled)
      logAction(ctx, actor, `resolve_discrepancy_${settlement}`, id, evidence, moved)
      return answer(discrepancyView(settled))
    },
  }
}

const isSettlement = (text: string): text is SettlementKind => Object.hasOwn(SETTLEMENTS, text)

interface Clearing {
  readonly tenant: TenantId
  readonly plan: SuspensePlan
  readonly amount: Money
}

const movedBy = ({ tenant, amount }: Clearing): Moved => ({ tenant, funds: amount })

/** The posting that clears its entries; null when the settlement does not apply to them. */
function clearingOf(row: Row<'discrepancies'>, settlement: SettlementKind): Clearing | null {
  const { tenant, currency, amount } = row
  if (tenant === null || currency === null || amount === null) return null
  const plan =
    SETTLEMENTS[settlement]?.[row.plan === 'discrepancy_paid' ? 'paid' : 'returned'] ?? null
  if (plan === null) return null
  return { tenant: tenant as TenantId, plan, amount: money(currency as Currency, amount) }
}

function refusalOf(ctx: CommandContext, clearing: Clearing | null): ErrorCode | null {
  if (clearing === null) return 'settlement_not_possible'
  return refusalOfSuspense(ctx, clearing.tenant, clearing.plan, clearing.amount)
}
