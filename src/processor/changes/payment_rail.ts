/**
 * The rail of a payment: that of its route when the payout was accepted or the intent confirmed.
 *
 * - A payment keeps its rail for life, also when its route is changed while it is out. One that an
 *   orphan execution paid is on the rail that has executed it.
 * - A payment from before the rails had names is on the one rail of that time, wherever the file
 *   names it: another rail does not know it, and it would be paid twice.
 */
import { SECOND } from '../../base/clock.js'
import { environmentOf } from '../../base/ids.js'
import { SANDBOX_RAIL } from '../../rails/rail.js'
import {
  corridorRoute,
  payoutRoute,
  type RailTable,
  type RouteName,
} from '../../rails/rail_table.js'
import type { IntentContext } from '../../../actors/intent/context.js'
import type { PayoutContext } from '../../../actors/payout/context.js'
import type { Row } from '../../store/tables.js'
import type { Memory } from '../cache/memory.js'
import type { CommandContext } from '../cycle/command.js'
import { isPaused } from './submission_pauses.js'

/** Payments are accepted during shorter outages of their rail and submitted after them. */
const RAIL_OUTAGE_MS = 10 * SECOND

export function routeOf(context: IntentContext | PayoutContext): RouteName {
  const environment = environmentOf(context.tenant)
  if (isIntent(context)) return corridorRoute(environment, context.corridor)
  return payoutRoute(environment, context.beneficiary.country, context.currency)
}

export function railOf(context: IntentContext | PayoutContext): string {
  const rail = isIntent(context) ? context.confirmation?.rail : context.rail
  return rail ?? SANDBOX_RAIL
}

/** The context of a payment that this rail has executed. */
export function onRail<C extends IntentContext | PayoutContext>(context: C, rail: string): C {
  if (!isIntent(context)) return { ...context, rail }
  const { confirmation } = context
  return confirmation === undefined
    ? context
    : { ...context, confirmation: { ...confirmation, rail } }
}

export const railUp = (ctx: CommandContext, context: IntentContext | PayoutContext): boolean =>
  ctx.rails.up(railOf(context))

/** Whether an instruction about the payment may be decided now. */
export const maySubmit = (ctx: CommandContext, context: IntentContext | PayoutContext): boolean =>
  railUp(ctx, context) && !isPaused(ctx.memory, railOf(context), routeOf(context))

/** The rail of new payments on a route. Null if none carries it or it is down too long. */
export function railForNew(ctx: CommandContext, route: RouteName): string | null {
  const rail = railOfRoute(ctx, route)
  return rail === null || ctx.rails.downForMs(rail) > RAIL_OUTAGE_MS ? null : rail
}

/**
 * The rail that an operator chose for the route, or the first one that carries it. Null means that
 * none does, or not the chosen one, which no other rail replaces.
 */
export function railOfRoute(
  { rules, memory }: Pick<CommandContext, 'rules' | 'memory'>,
  route: RouteName,
): string | null {
  const chosen = memory.railRoutes.get(route)
  if (chosen === undefined) return rules.rails.defaultOf(route)
  return rules.rails.carries(chosen.rail, route) ? chosen.rail : null
}

/** The routes whose chosen rail the file does not name any more, or does not give them to. */
export const routesNotCarried = (
  { railRoutes }: Pick<Memory, 'railRoutes'>,
  rails: RailTable,
): readonly Row<'railRoutes'>[] =>
  [...railRoutes.values()].filter(({ route, rail }) => !rails.carries(rail, route as RouteName))

const isIntent = (context: IntentContext | PayoutContext): context is IntentContext =>
  'corridor' in context
