/** Commands that list and set payout routes. */
import type { Route__Output } from '../../protos/types/causeway/operator/v1/Route.js'
import { actorOf, CHANGE } from './actor.js'
import { formatWireAmount } from './amounts.js'
import type { CliCommand } from './command.js'
import { readRoute } from './route_file.js'
import { settingReport } from './shared_settings.js'
import { tenantNamed } from './tenant.js'
import { table } from './terminal.js'

export const routesList: CliCommand = {
  usage: 'routes list',
  about: 'payout routes with their fees and bounds',
  run: async ({ operator }) => {
    const list = await operator.call('ListRoutes', {})
    const head = ['tenant', 'route', 'fees', 'handling', 'bounds', 'review from']
    // An included route can be set again as it is listed.
    const data = list.data.map(({ included: _no, _included: _none, ...route }) => route)
    return { value: { ...list, data }, lines: [table([head, ...list.data.map(rowOf)], [])] }
  },
}

function rowOf(route: Route__Output): string[] {
  const { tenant, country, currency, enabled, amount_min, amount_max, review_from } = route
  const amount = (minor: string | undefined): string =>
    minor === undefined ? '' : formatWireAmount(currency, minor)
  const platform = `${amount(route.platform_fixed)} + ${route.platform_bps} bps`
  return [
    tenant ? `${tenant.partner_id}_${tenant.environment}` : 'all',
    `${country} ${currency}${enabled ? '' : ' (off)'}`,
    `${platform}, rail ${amount(route.rail_fixed)}`,
    route.handling,
    (amount_min ?? amount_max) ? `${amount(amount_min)} to ${amount(amount_max)}` : '',
    amount(review_from),
  ]
}

export const routesSet: CliCommand = {
  usage: 'routes set FILE',
  about: 'set a route from JSON, in the form of `routes list --json`',
  options: CHANGE,
  run: async (context, [file = '']) => {
    const given = readRoute(file)
    const { tenant } = given
    if (tenant) await tenantNamed(context, tenant.partner_id, tenant.environment)
    const actor = actorOf(context, tenant?.environment ?? 'sandbox')
    const route = await context.operator.call('SetRoute', { actor, route: given })
    const lines = [table([rowOf(route)], [])]
    if (tenant) return { value: route, lines }
    const applied = await settingReport(context, route.settings_version)
    return {
      ...applied,
      value: { ...route, ...applied.value },
      lines: [...lines, ...applied.lines],
    }
  },
}
