/**
 * Discrepancies: reports of a rail that contradict the books.
 *
 * Owns: their ids, their rows and entries in `suspense`, the view for operators. Does not own: when
 * a report is a discrepancy (rail_reports/rail_report_apply), how an operator settles one
 * (rail_reports/discrepancy_resolve).
 *
 * - The same facts about the same instruction are one discrepancy, regardless of how often and in
 *   which call the rail reports them.
 * - A report of moved money is posted once, under the discrepancy's id. When the posting does not
 *   fit, or no tenant is known, only the row is written.
 * - No account number is stored, nor anything it could be guessed from.
 */
import { hash } from 'node:crypto'
import { instant, toRfc3339 } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import { currencyOf } from '../../money/currency.js'
import { money, toWire, type Money } from '../../money/money.js'
import type { RailReport } from '../../rails/rail.js'
import type { Row } from '../../store/tables.js'
import type { CommandContext } from '../cycle/command.js'
import { postSuspense, refusalOfSuspense, type SuspensePlan } from './funds.js'

/** The execution that a return implies. */
export const executionIn = (report: RailReport & { status: 'returned' }): RailReport => ({
  ...report,
  status: 'executed',
})

/** @param tenant the owner of the instruction; null when the instruction is unknown */
export function recordDiscrepancy(
  ctx: CommandContext,
  tenant: TenantId | null,
  report: RailReport,
  reason: string,
): void {
  const id = idOf(report)
  if (ctx.memory.discrepancyIds.has(id)) return
  const posting = tenant === null ? null : postingOf(ctx, tenant, report)
  stageDiscrepancy(ctx, {
    id,
    tenant,
    entity: report.id,
    reason,
    report: reason === 'other_rail' ? withRail(report) : storedReport(report),
    plan: posting?.plan ?? null,
    currency: posting?.amount.currency ?? null,
    amount: posting?.amount.minor ?? null,
    at: ctx.now,
    resolved_at: null,
    settlement: null,
  })
  if (tenant !== null && posting !== null) postSuspense(ctx, tenant, { ...posting, entity: id })
}

export function stageDiscrepancy(
  { memory, batch }: CommandContext,
  row: Row<'discrepancies'>,
): void {
  memory.discrepancyIds.add(row.id)
  memory.discrepancies.set(row.id, row, batch.number)
  batch.stage('discrepancies', row.id, row)
}

/** The posting of a report; null when no money moved or the accounts cannot hold the amounts. */
function postingOf(
  ctx: CommandContext,
  tenant: TenantId,
  report: RailReport,
): { readonly plan: SuspensePlan; readonly amount: Money } | null {
  if (report.status !== 'executed' && report.status !== 'returned') return null
  const currency = currencyOf(report.currency)
  if (currency === undefined) return null
  const amount = money(currency, report.amount)
  const plan = report.status === 'executed' ? 'discrepancy_paid' : 'discrepancy_returned'
  return refusalOfSuspense(ctx, tenant, plan, amount) === null ? { plan, amount } : null
}

function idOf(report: RailReport): string {
  const facts = JSON.stringify([report.id, ...factsOf(report)])
  return `dis_${hash('sha256', facts, 'hex').slice(0, 26)}`
}

/** The facts by which a repetition is recognized; the report's own id is not one of them. */
function factsOf(report: RailReport): readonly string[] {
  switch (report.status) {
    case 'executed':
    case 'returned':
      return [report.status, report.transactionId, toWire(report.amount), report.currency]
    case 'refused':
      return [report.status, report.refusal]
    default:
      return [report.status]
  }
}

/** It came from a rail that the payment is not on. */
const withRail = (report: RailReport): object => ({ ...storedReport(report), rail: report.rail })

function storedReport(report: RailReport): object {
  const { status, reportId } = report
  if (status === 'refused') return { status, report_id: reportId, refusal: report.refusal }
  if (status !== 'executed' && status !== 'returned') return { status, report_id: reportId }
  return {
    status,
    report_id: reportId,
    transaction_id: report.transactionId,
    amount: toWire(report.amount),
    currency: report.currency,
    account_last4: report.destinationAccount.slice(-4),
  }
}

/** As operators see it. */
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
