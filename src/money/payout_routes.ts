/**
 * Payout routes: the reachable countries and currencies, with fees, amount limits and review limit.
 *
 * Owns: the default routes, route lookup. Does not own: fee arithmetic (fees), rows
 * (processor/cache/payout_route_rows).
 *
 * - Precedence: the tenant's own route, the operators' route for all tenants, the default.
 *   Defaults apply to the sandbox only.
 * - A payout keeps the terms it was accepted with; a change applies to later payouts only.
 */
import { environmentOf, type TenantId } from '../base/ids.js'
import { IDR, THB, VND, type Currency } from './currency.js'
import type { FeeSchedule } from './fees.js'

export interface Route {
  /** Null means that it applies to every tenant without a route of its own. */
  readonly tenant: TenantId | null
  readonly country: string
  readonly currency: Currency
  readonly enabled: boolean
  readonly fees: FeeSchedule
  /** Smallest and largest amount of a payout, inclusive. Null means no limit. */
  readonly amountMin: bigint | null
  readonly amountMax: bigint | null
  /** Payouts of at least this amount are held for review. Null if there is none. */
  readonly reviewFrom: bigint | null
}

const defaultRoute = (
  country: string,
  currency: Currency,
  [platformFixed, platformBps, railFixed]: readonly [bigint, number, bigint],
): Route => ({
  tenant: null,
  country,
  currency,
  enabled: true,
  fees: {
    platformFixed,
    platformBps,
    railFixed,
    handling: 'on_top',
    refundFeesOnReversal: true,
  },
  amountMin: null,
  amountMax: null,
  reviewFrom: null,
})

/** Amounts in minor units: satang, dong, sen. */
const DEFAULT_ROUTES: readonly Route[] = [
  defaultRoute('TH', THB, [10_00n, 20, 5_00n]),
  defaultRoute('VN', VND, [5_000n, 20, 3_300n]),
  defaultRoute('ID', IDR, [2_500_00n, 20, 2_500_00n]),
]

export interface RouteTable {
  set(route: Route): void
  /** The route that applies to this tenant, enabled or not; null when there is none. */
  find(tenant: TenantId, country: string, currency: Currency): Route | null
  /**
   * What a new route of the tenant, or for all tenants, replaces. Null if there is none. A default
   * does not apply to production, so a route for all tenants replaces none.
   */
  inForce(tenant: TenantId | null, country: string, currency: Currency): Route | null
  /** Whether it is a default, which only the sandbox uses. */
  isDefault(route: Route): boolean
  /** Every route, unchanged defaults included. */
  all(): readonly Route[]
}

export function createRouteTable(): RouteTable {
  const routes = new Map<string, Route>()
  const keyOf = (tenant: TenantId | null, country: string, currency: Currency): string =>
    `${tenant ?? ''} ${country} ${currency}`
  const set = (route: Route): void => {
    routes.set(keyOf(route.tenant, route.country, route.currency), route)
  }
  for (const route of DEFAULT_ROUTES) set(route)
  const find: RouteTable['find'] = (tenant, country, currency) => {
    const own = routes.get(keyOf(tenant, country, currency))
    const found = own ?? routes.get(keyOf(null, country, currency))
    if (found === undefined) return null
    return DEFAULT_ROUTES.includes(found) && environmentOf(tenant) === 'production' ? null : found
  }
  return {
    set,
    find,
    inForce: (tenant, country, currency) => {
      if (tenant !== null) return find(tenant, country, currency)
      const found = routes.get(keyOf(null, country, currency))
      return found === undefined || DEFAULT_ROUTES.includes(found) ? null : found
    },
    isDefault: (route) => DEFAULT_ROUTES.includes(route),
    all: () => [...routes.values()],
  }
}
