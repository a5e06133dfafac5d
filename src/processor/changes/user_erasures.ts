/**
 * The rules of erasing a partner's user, and the row of a request to do so.
 *
 * Does not own: the walk along the user's payments (background/user_erasures).
 *
 * - A payment gets the id of the request in place of the user's, so the payments of an erased user
 *   stay one list and its limit counters stay sums of payments.
 * - A payment waits while it is open, while it has a timer, and until its local month has ended:
 *   its user would otherwise have new limits by being erased.
 */
import { instant, toRfc3339, type Instant } from '../../base/clock.js'
import type { IntentContext, IntentState } from '../../../actors/intent/context.js'
import { limitKeys, periodsOf } from '../../limits/usage.js'
import type { Row } from '../../store/tables.js'
import type { LiveIntent } from '../cache/memory.js'
import type { CommandContext } from '../cycle/command.js'
import { stageIntent } from './advance_intent.js'
import { countedUsage, takeUsage } from './limit_usage.js'

export type UserErasure = Row<'userErasures'>

export function mustWait(
  state: IntentState,
  { dueAt, confirmedAt, corridor }: IntentContext,
  now: Instant,
): boolean {
  if (state === 'created' || state === 'authorized' || dueAt !== null) return true
  const month = (at: Instant): string => periodsOf(corridor, at).month
  return confirmedAt !== undefined && month(confirmedAt) >= month(now)
}

/** The counters that the payment is moved from and to. None if it was never confirmed. */
export function countersOf(
  context: IntentContext,
  erasure: string,
): readonly (readonly [from: string, to: string])[] {
  const { tenant, corridor, confirmation, confirmedAt } = context
  if (confirmation === undefined || confirmedAt === undefined) return []
  const to = limitKeys(tenant, erasure, corridor, confirmedAt)
  return [
    [confirmation.dayKey, to.day],
    [confirmation.monthKey, to.month],
  ]
}

/** Replaces the user's id in the payment and in its counters. */
export function eraseUserOf(ctx: CommandContext, live: LiveIntent, erasure: string): void {
  const { context } = live
  const { confirmation } = context
  const counters = countersOf(context, erasure)
  const used = countedUsage(live)
  for (const [from, to] of counters) moveUsage(ctx, from, to, used)
  const [day, month] = counters
  live.context = {
    ...context,
    userId: erasure,
    ...(confirmation === undefined || day === undefined || month === undefined
      ? {}
      : { confirmation: { ...confirmation, dayKey: day[1], monthKey: month[1] } }),
  }
  stageIntent(ctx, live)
}

function moveUsage(ctx: CommandContext, from: string, to: string, used: bigint): void {
  const { memory, batch } = ctx
  takeUsage(ctx, from, used)
  if (used === 0n) return
  const sum = (memory.usage.get(to) ?? 0n) + used
  memory.usage.set(to, sum, batch.number)
  batch.stage('usage', to, { key: to, used: sum })
}

export function stageErasure({ memory, batch }: CommandContext, row: UserErasure): void {
  batch.stage('userErasures', row.id, row)
  if (row.ended_at === null) memory.userErasures.set(row.id, row)
  else memory.userErasures.delete(row.id)
}

export const erasureView = (row: UserErasure): object => ({
  id: row.id,
  tenant: row.tenant,
  status: row.ended_at !== null ? 'ended' : row.waiting === null ? 'running' : 'waiting',
  payments: row.payments,
  waiting: row.waiting ?? 0,
  requested_at: toRfc3339(instant(row.requested_at)),
  ...(row.ended_at === null ? {} : { ended_at: toRfc3339(instant(row.ended_at)) }),
})
