/**
 * Sets a payout route, for one tenant or as the default of all tenants, and lists the routes.
 *
 * - A route is set as a whole. Accepted payouts keep the terms of their acceptance.
 * - A route that loosens the one in force needs a second operator: it says which payouts are held.
 */
import { FEE_BPS_MAX } from '../../../base/constants.js'
import { partsOfTenant, type TenantId } from '../../../base/ids.js'
import { isCountry } from '../../../money/country.js'
import { currencyOf } from '../../../money/currency.js'
import { parseInt64, parsePositiveInt64, toWire } from '../../../money/money.js'
import type { Route__Output as WireRoute } from '../../../../protos/types/causeway/operator/v1/Route.js'
import type { Command, CommandContext } from '../../cycle/command.js'
import { answer, refuse, type Answer } from '../../cycle/answer.js'
import { refusalOfOneOperator } from '../../changes/approval_requests.js'
import { isGuardedRoute } from '../../changes/second_operator.js'
import { logAction, type Actor } from '../../changes/operator_log.js'
import type { Route } from '../../../money/payout_routes.js'
import { routeRow } from '../../cache/payout_route_rows.js'
import type { SettingSource } from './rate_set.js'
import { routeRails } from './route_rail_set.js'

/**
 * @param tenant null means the default for tenants without a route of their own
 * @param source null if it is set in these books only
 */
export function setRoute(
  actor: Actor,
  tenant: TenantId | null,
  given: WireRoute,
  source: SettingSource | null = null,
): Command {
  return {
    name: 'set_route',
    allowedInRecovery: true, // before the release: retries must get the fees of the lost time
    needs: () => undefined,
    decide: (ctx) => {
      const route = routeIn(tenant, given)
      if (route === null) return refuse('invalid_request')
      const refusal = source === null ? refusalOfRoute(ctx, actor, route) : null
      if (refusal !== null) return refusal

      // From here on it must succeed.
      const row = routeRow(route)
      ctx.memory.routes.set(route)
      ctx.batch.stage('routes', `${row.tenant} ${row.country} ${row.currency}`, row)
      const subject = JSON.stringify(routeView(route))
      logAction(ctx, actor, 'set_route', subject, source?.evidence)
      return answer(routeView(route))
    },
  }
}

const INCLUDED = { included: true } as const

/** The refusal of one operator to set it. Null if the actor may set it now. */
export function refusalOfRoute(ctx: CommandContext, actor: Actor, route: Route): Answer | null {
  const { tenant, country, currency } = route
  const before = ctx.memory.routes.inForce(tenant, country, currency)
  if (!isGuardedRoute(before, route)) return null
  // The second operator sees the terms, not only whose they are.
  const terms = JSON.stringify({ ...routeView(route), tenant: undefined })
  return refusalOfOneOperator(ctx, actor, {
    operation: 'set_route',
    arguments: { tenant, route: routeView(route) },
    subject: `${tenant ?? 'all'} ${terms}`,
    moved: null,
  })
}

export function listRoutes(): Command {
  return {
    name: 'list_routes',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: (ctx) => {
      const { routes } = ctx.memory
      const data = routes
        .all()
        .map((route) => ({ ...routeView(route), ...(routes.isDefault(route) && INCLUDED) }))
      return answer({ data, rails: routeRails(ctx) })
    },
  }
}

/** The route; null when it is not valid. */
export function routeIn(tenant: TenantId | null, given: WireRoute): Route | null {
  const { country, handling } = given
  const currency = currencyOf(given.currency)
  const platformFixed = feeIn(given.platform_fixed)
  const railFixed = feeIn(given.rail_fixed)
  const amountMin = boundIn(given.amount_min)
  const amountMax = boundIn(given.amount_max)
  const reviewFrom = boundIn(given.review_from)
  if (!isCountry(country) || currency === undefined) return null
  if (platformFixed === undefined || railFixed === undefined) return null
  if (given.platform_bps > FEE_BPS_MAX || (handling !== 'on_top' && handling !== 'deducted'))
    return null
  if (amountMin === undefined || amountMax === undefined || reviewFrom === undefined) return null
  if (amountMin !== null && amountMax !== null && amountMin > amountMax) return null
  return {
    tenant,
    country,
    currency,
    enabled: given.enabled,
    fees: {
      platformFixed,
      platformBps: given.platform_bps,
      railFixed,
      handling,
      refundFeesOnReversal: given.refund_fees_on_reversal,
    },
    amountMin,
    amountMax,
    reviewFrom,
  }
}

function feeIn(text: string): bigint | undefined {
  const fee = parseInt64(text)
  return fee !== undefined && fee >= 0n ? fee : undefined
}

/** @returns null for no bound, undefined when it is not valid */
const boundIn = (text: string | undefined): bigint | null | undefined =>
  text === undefined ? null : parsePositiveInt64(text)

export function routeView({ tenant, country, currency, enabled, fees, ...bounds }: Route): object {
  return {
    ...(tenant === null ? {} : { tenant: tenantView(tenant) }),
    country,
    currency,
    enabled,
    platform_fixed: toWire(fees.platformFixed),
    platform_bps: fees.platformBps,
    rail_fixed: toWire(fees.railFixed),
    handling: fees.handling,
    refund_fees_on_reversal: fees.refundFeesOnReversal,
    ...(bounds.amountMin === null ? {} : { amount_min: toWire(bounds.amountMin) }),
    ...(bounds.amountMax === null ? {} : { amount_max: toWire(bounds.amountMax) }),
    ...(bounds.reviewFrom === null ? {} : { review_from: toWire(bounds.reviewFrom) }),
  }
}

function tenantView(tenant: TenantId): object {
  const { partner, environment } = partsOfTenant(tenant)
  return { partner_id: partner, environment }
}
