/**
 * Payout routes: which country and currency can be reached, on what terms, and within what bounds.
 *
 * Owns: the routes we ship, and which route holds for a tenant. Does not own: the arithmetic of
 * fees (money/fees), the rows (store).
 *
 * - A tenant's own route comes before the one that operators set for everybody, and that before
 *   the one we ship. What we ship is for the sandbox: production pays nowhere that nobody set.
 * - A route's terms are frozen on each payout when it is accepted; a change here reaches only
 *   later ones.
 */
import { environmentOf, type TenantId } from '../../base/ids.js'
import { IDR, THB, VND, type Currency } from '../../money/currency.js'
import type { FeeSchedule } from '../../money/fees.js'
import type { Row } from '../../store/tables.js'

export interface Route {
  /** Null: for every tenant without one of its own. */
  readonly tenant: TenantId | null
  readonly country: string
  readonly currency: Currency
  readonly enabled: boolean
  readonly fees: FeeSchedule
  /** Least and greatest amount of a payout, included; null: no bound. */
  readonly amountMin: bigint | null
  readonly amountMax: bigint | null
  /** From this amount on a payout is held for review; null: none is. */
  readonly reviewFrom: bigint | null
}

const shipped = (
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
const SHIPPED: readonly Route[] = [
  shipped('TH', THB, [10_00n, 20, 5_00n]),
  shipped('VN', VND, [5_000n, 20, 3_300n]),
  shipped('ID', IDR, [2_500_00n, 20, 2_500_00n]),
]

export interface RouteTable {
  set(route: Route): void
  /** The route that holds for this tenant, enabled or not; null when there is none. */
  find(tenant: TenantId, country: string, currency: Currency): Route | null
  /** All of them, those we ship and nobody changed among them. */
  all(): readonly Route[]
}

export function createRouteTable(): RouteTable {
  const routes = new Map<string, Route>()
  const keyOf = (tenant: TenantId | null, country: string, currency: Currency): string =>
    `${tenant ?? ''} ${country} ${currency}`
  const set = (route: Route): void => {
    routes.set(keyOf(route.tenant, route.country, route.currency), route)
  }
  for (const route of SHIPPED) set(route)
  return {
    set,
    find: (tenant, country, currency) => {
      const own = routes.get(keyOf(tenant, country, currency))
      const found = own ?? routes.get(keyOf(null, country, currency))
      if (found === undefined) return null
      return SHIPPED.includes(found) && environmentOf(tenant) === 'production' ? null : found
    },
    all: () => [...routes.values()],
  }
}

export const routeOf = (row: Row<'routes'>): Route => ({
  tenant: row.tenant === '' ? null : (row.tenant as TenantId),
  country: row.country,
  currency: row.currency as Currency,
  enabled: row.enabled === 1,
  fees: {
    platformFixed: row.platform_fixed,
    platformBps: row.platform_bps,
    railFixed: row.rail_fixed,
    handling: row.handling as FeeSchedule['handling'],
    refundFeesOnReversal: row.refund_fees_on_reversal === 1,
  },
  amountMin: row.amount_min,
  amountMax: row.amount_max,
  reviewFrom: row.review_from,
})

export const routeRow = (route: Route): Row<'routes'> => ({
  tenant: route.tenant ?? '',
  country: route.country,
  currency: route.currency,
  enabled: route.enabled ? 1 : 0,
  platform_fixed: route.fees.platformFixed,
  platform_bps: route.fees.platformBps,
  rail_fixed: route.fees.railFixed,
  handling: route.fees.handling,
  refund_fees_on_reversal: route.fees.refundFeesOnReversal ? 1 : 0,
  amount_min: route.amountMin,
  amount_max: route.amountMax,
  review_from: route.reviewFrom,
})
