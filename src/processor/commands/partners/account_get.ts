/**
 * A partner's own settings in one environment: terms, limits, corridors, keys, source addresses,
 * app packages, balance alerts, and the dead deliveries of its webhook endpoints.
 *
 * - No secret, no note of an operator and no review threshold is shown.
 */
import { toRfc3339, type Instant } from '../../../base/clock.js'
import {
  ACTIVE_KEYS_MAX,
  AMOUNT_USD_CENTS_MAX,
  ENDPOINTS_PER_TENANT_MAX,
} from '../../../base/constants.js'
import { partsOfTenant, type TenantId } from '../../../base/ids.js'
import { partsOf, type AccountKey } from '../../../ledger/accounts.js'
import { toWire } from '../../../money/money.js'
import { CORRIDOR_NAMES, CORRIDORS, type Corridor } from '../../../qr/corridor.js'
import { isActiveKey, type KeyEntry } from '../../cache/tenant_directory.js'
import type { Route } from '../../../money/payout_routes.js'
import type { Memory } from '../../cache/memory.js'
import { deadDeliveriesView, endpointsOf } from '../../changes/webhook_endpoints.js'
import { answer, refuse } from '../../cycle/answer.js'
import type { Command } from '../../cycle/command.js'
import type { Rules } from '../../cycle/rules.js'

export function getAccount(tenant: TenantId): Command {
  return {
    name: 'get_account',
    allowedInRecovery: true,
    needs: () => undefined,
    decide: ({ memory, rules, now }) => {
      const { partner: id, environment } = partsOfTenant(tenant)
      const partner = memory.partners.get(id)
      if (partner === undefined) return refuse('authentication_failed')
      const enabled = new Set(partner.corridors)
      return answer({
        partner_id: id,
        environment,
        status: partner.suspended ? 'suspended' : 'active',
        created_at: toRfc3339(partner.createdAt),
        terms: {
          quote_spread_bps: rules.spreadBps,
          payouts: routesOf(memory, tenant).map(routeView),
        },
        limits: {
          requests_per_second: partner.rateLimitPerSecond || rules.ratePerSecond,
          amount_usd_cents: AMOUNT_USD_CENTS_MAX,
          active_keys: ACTIVE_KEYS_MAX,
          webhook_endpoints: ENDPOINTS_PER_TENANT_MAX,
        },
        corridors: CORRIDOR_NAMES.map((corridor) =>
          corridorView(corridor, enabled.has(corridor), rules),
        ),
        keys: keysOf(memory, tenant).map((key) => keyView(key, now)),
        allowed_ips: partner.allowedIps,
        packages: partner.packages,
        balance_alerts: alertsOf(memory, tenant),
        webhook_endpoints: endpointsOf(memory, tenant).map(({ id }) => ({
          id,
          ...deadDeliveriesView(memory.deadDeliveries.of(id)),
        })),
      })
    },
  }
}

function corridorView(corridor: Corridor, enabled: boolean, { caps }: Rules): object {
  const { minimum, perTransaction, perDay, perMonth } = caps[corridor]
  return {
    corridor,
    enabled,
    currency: CORRIDORS[corridor].currencyAlpha,
    minimum: toWire(minimum),
    user_limit_payment: toWire(perTransaction),
    user_limit_day: toWire(perDay),
    user_limit_month: toWire(perMonth),
  }
}

/** The routes that a payout of this tenant can take. */
function routesOf({ routes }: Memory, tenant: TenantId): readonly Route[] {
  const found = routes
    .all()
    .map(({ country, currency }) => routes.find(tenant, country, currency))
    .filter((route) => route?.enabled === true)
  return [...new Set(found as readonly Route[])]
}

const routeView = ({ country, currency, fees, amountMin, amountMax }: Route): object => ({
  country,
  currency,
  fee_handling: fees.handling,
  platform_fixed: toWire(fees.platformFixed),
  platform_bps: fees.platformBps,
  rail_fixed: toWire(fees.railFixed),
  refund_fees_on_reversal: fees.refundFeesOnReversal,
  amount_min: amountMin === null ? null : toWire(amountMin),
  amount_max: amountMax === null ? null : toWire(amountMax),
})

const keysOf = ({ keys }: Memory, tenant: TenantId): readonly KeyEntry[] =>
  [...keys.ofTenant(tenant)]
    .filter(({ isCorrupt }) => isCorrupt !== true)
    .sort((one, other) => other.createdAt - one.createdAt)

const keyView = (key: KeyEntry, now: Instant): object => ({
  key_id: key.id,
  status: isActiveKey(key, now) ? 'active' : 'revoked',
  created_at: toRfc3339(key.createdAt),
  revoked_at: key.revokedAt === null ? null : toRfc3339(key.revokedAt),
})

function alertsOf({ balanceAlerts }: Memory, tenant: TenantId): readonly object[] {
  return [...balanceAlerts.values()].flatMap(({ account, threshold }) => {
    const { tenant: owner, currency } = partsOf(account as AccountKey)
    return owner === tenant && threshold > 0n ? [{ currency, threshold: toWire(threshold) }] : []
  })
}
