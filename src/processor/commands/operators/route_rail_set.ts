/**
 * Names the rail of the new payments of a route, and lists the rails of all routes.
 *
 * - Accepted payments keep their rail.
 * - A rail must carry the route: the file names it with the environment and the destination, and
 *   gives production to no sandbox rail. A setting of a cluster is applied without this check, so
 *   that shards do not differ: where the file does not carry it the route is down.
 */
import { instant, isMoment, toRfc3339 } from '../../../base/clock.js'
import { named } from '../../../base/corrupt_row.js'
import { ENVIRONMENTS } from '../../../base/ids.js'
import { CORRIDOR_NAMES } from '../../../qr/corridor.js'
import {
  corridorRoute,
  payoutRoute,
  routeNamed,
  type RouteName,
} from '../../../rails/rail_table.js'
import type { Row } from '../../../store/tables.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import { railOfRoute } from '../../changes/payment_rail.js'
import { isPaused } from '../../changes/submission_pauses.js'
import { answer, refuse, type Answer } from '../../cycle/answer.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import type { SettingSource } from './rate_set.js'

/** @param source null if it is set in these books only */
export function setRouteRail(
  actor: Actor,
  routeText: string,
  rail: string,
  source: SettingSource | null = null,
): Command {
  return {
    name: 'set_route_rail',
    allowedInRecovery: true, // as the other settings: before the release
    needs: () => undefined,
    decide: (ctx) => {
      const route = routeNamed(routeText)
      if (route === null) return refuse('invalid_request')
      const refusal = source === null ? refusalOfRouteRail(ctx, actor, route, rail) : null
      if (refusal !== null) return refusal

      // From here on it must succeed.
      const row = { route, rail, set_at: source?.setAt ?? ctx.now, actor: actor.name }
      ctx.memory.railRoutes.set(route, row)
      ctx.batch.stage('railRoutes', route, row)
      logAction(ctx, actor, 'set_route_rail', `${route} ${rail}`, source?.evidence)
      return answer(routeRailView(ctx, route))
    },
  }
}

/** The refusal of one operator to set it. Null if the actor may set it now. */
export function refusalOfRouteRail(
  ctx: CommandContext,
  actor: Actor,
  route: RouteName,
  rail: string,
): Answer | null {
  if (!ctx.rules.rails.carries(rail, route)) return refuse('rail_does_not_carry')
  if (railOfRoute(ctx, route) === rail) return null
  return refusalOfOneOperator(ctx, actor, {
    operation: 'set_route_rail',
    arguments: { route, rail },
    subject: `${route} ${rail}`,
    moved: null,
  })
}

/** The routes that a rail carries or that name one, of payouts and corridors. */
export function routeRails(ctx: CommandContext): readonly object[] {
  const { memory, rules } = ctx
  const known = ENVIRONMENTS.flatMap((environment) => [
    ...memory.routes
      .all()
      .map(({ country, currency }) => payoutRoute(environment, country, currency)),
    ...CORRIDOR_NAMES.map((corridor) => corridorRoute(environment, corridor)),
  ])
  const shown = known.filter((route) => rules.rails.defaultOf(route) !== null)
  const chosen = [...memory.railRoutes.keys()] as RouteName[]
  return [...new Set([...shown, ...chosen])].sort().map((route) => routeRailView(ctx, route))
}

function routeRailView(ctx: CommandContext, route: RouteName): object {
  const chosen = ctx.memory.railRoutes.get(route)
  const rail = railOfRoute(ctx, route)
  return {
    route,
    rail: chosen?.rail ?? rail,
    state: stateOf(ctx, rail, route),
    ...(chosen === undefined ? {} : choiceView(chosen)),
  }
}

/** An impossible moment is replaced when the rail is set again. */
const choiceView = ({ route, set_at: at, actor }: Row<'railRoutes'>): object => ({
  ...(isMoment(at) ? { set_at: toRfc3339(instant(at)) } : named(`rail of ${route}`)),
  actor,
})

function stateOf({ memory, rails }: CommandContext, rail: string | null, route: RouteName): string {
  if (rail === null) return 'not_carried'
  if (isPaused(memory, rail, route)) return 'paused'
  return rails.up(rail) ? 'up' : 'down'
}
