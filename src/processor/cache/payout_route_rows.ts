/** Payout routes as rows of the store. */
import type { TenantId } from '../../base/ids.js'
import type { Currency } from '../../money/currency.js'
import type { FeeSchedule } from '../../money/fees.js'
import type { Route } from '../../money/payout_routes.js'
import type { Row } from '../../store/tables.js'

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
