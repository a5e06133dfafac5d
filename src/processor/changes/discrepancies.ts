/**
 * Discrepancies: what a rail said that does not fit our books.
 *
 * Owns: their identity, their rows and entries in `suspense`, how operators see them. Does not own:
 * what counts as odd (rail_reports/rail_report_apply), how a person settles one
 * (rail_reports/discrepancy_resolve).
 *
 * - The same words about the same instruction are one discrepancy, however often and by whichever
 *   way they come.
 * - Words about money that moved are posted under the discrepancy's id, once. Where the posting
 *   does not fit, and where nobody knows whose instruction it was, the row alone stands.
 * - No account number is kept, nor anything that one could be guessed from.
 */
import { hash } from 'node:crypto'
import { instant, toRfc3339 } from '../../base/clock.js'
import type { TenantId } from '../../base/ids.js'
import { currencyOf } from '../../money/currency.js'
import { money, toWire, type Money } from '../../money/money.js'
import type { RailReport } from '../../rails/rail.js'
import type { Row } from '../../store/tables.js'
import type { CommandContext } from '../cycle/command.js'
import { refusalOfSuspense, suspend, type SuspensePlan } from './funds.js'

/** What a return says between the lines: the instruction was executed before. */
export const executionIn = (report: RailReport & { status: 'returned' }): RailReport => ({
  ...report,
  status: 'executed',
})

/** @param tenant whose instruction it is; null when nobody knows */
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
    report: wordsOf(report),
    plan: posting?.plan ?? null,
    currency: posting?.amount.currency ?? null,
    amount: posting?.amount.minor ?? null,
    at: ctx.now,
    resolved_at: null,
    settlement: null,
  })
  if (tenant !== null && posting !== null) suspend(ctx, tenant, { ...posting, entity: id })
}

export function stageDiscrepancy(
  { memory, batch }: CommandContext,
  row: Row<'discrepancies'>,
): void {
  memory.discrepancyIds.add(row.id)
  memory.discrepancies.set(row.id, row, batch.number)
  batch.stage('discrepancies', row.id, row)
}

/** How the words are posted; null: they tell of no money, or the books have no room. */
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
  const words = JSON.stringify([report.id, ...factsOf(report)])
  return `dis_${hash('sha256', words, 'hex').slice(0, 26)}`
}

/** All that a repetition has in common; the report's own id is not among it. */
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

function wordsOf(report: RailReport): object {
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

/** For operators. */
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
