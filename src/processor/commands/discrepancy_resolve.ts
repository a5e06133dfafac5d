/**
 * Settles a discrepancy: a person has found out what the rail's odd words were about.
 *
 * D1. `undo` posts the mirror of its entries: the money did not move after all, or has moved back.
 *     `keep` lets them stand.
 * D2. It is settled once, by name, with a reason and with the place of the evidence.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import type { Currency } from '../../money/currency.js'
import { money, toWire, type Money } from '../../money/money.js'
import type { Row } from '../../store/tables.js'
import type { Command } from '../command.js'
import { stageDiscrepancy } from '../discrepancies.js'
import { canSuspend, suspend, type SuspensePlan } from '../funds.js'
import { answer, refuse } from '../group.js'
import { isEvidence, logAction, type Actor } from '../operator_log.js'

export interface Settlement {
  readonly settlement: string
  readonly evidence: string
}

export function resolveDiscrepancy(
  actor: Actor,
  id: string,
  { settlement, evidence }: Settlement,
): Command {
  return {
    name: 'resolve_discrepancy',
    needs: (needs) => needs.discrepancy(id),
    decide: (desk) => {
      const isKnownWay = settlement === 'undo' || settlement === 'keep'
      if (!isKnownWay || !isEvidence(evidence)) return refuse('invalid_request')
      const row = desk.memory.discrepancies.get(id)
      if (!row) return refuse('not_found')
      if (row.resolved_at !== null) return refuse('invalid_request')
      const mirror = settlement === 'undo' ? mirrorOf(row) : null
      const canUndo = mirror !== null && canSuspend(desk, mirror.tenant, mirror.plan, mirror.amount)
      if (settlement === 'undo' && !canUndo) return refuse('invalid_request')

      // From here on it must succeed.
      if (mirror !== null) suspend(desk, mirror.tenant, { ...mirror, entity: id })
      const settled = { ...row, resolved_at: desk.now, settlement }
      stageDiscrepancy(desk, settled)
      logAction(desk, actor, `resolve_discrepancy_${settlement}`, id, evidence)
      return answer(discrepancyView(settled))
    },
  }
}

/** What takes its entries back; null when it has none. */
function mirrorOf({ tenant, plan, currency, amount }: Row<'discrepancies'>): {
  readonly tenant: TenantId
  readonly plan: SuspensePlan
  readonly amount: Money
} | null {
  if (tenant === null || currency === null || amount === null) return null
  return {
    tenant: tenant as TenantId,
    plan: plan === 'discrepancy_paid' ? 'discrepancy_returned' : 'discrepancy_paid',
    amount: money(currency as Currency, amount),
  }
}

export function discrepancyView(row: Row<'discrepancies'>): object {
  return {
    id: row.id,
    tenant: row.tenant,
    entity: row.entity,
    reason: row.reason,
    report: JSON.stringify(row.report),
    plan: row.plan,
    currency: row.currency,
    amount: row.amount === null ? null : toWire(row.amount),
    created_at: toRfc3339(instant(row.at)),
    resolved_at: row.resolved_at === null ? null : toRfc3339(instant(row.resolved_at)),
    settlement: row.settlement,
  }
}
