/** Commands that list and set payout routes, and the rails of all routes. */
import type { RouteRail__Output as RouteRail } from '../../../protos/types/causeway/operator/v1/RouteRail.js'
import type { Route__Output } from '../../../protos/types/causeway/operator/v1/Route.js'
import { actorOf, CHANGE } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { CommandFault, type CliCommand, type Context, type Report } from '../cli/command.js'
import { rowOrName } from '../cli/page.js'
import { readRoute } from './route_file.js'
import { settingReport } from '../shards/shared_settings.js'
import { tenantNamed } from '../cli/tenant.js'
import { table } from '../cli/terminal.js'

export const routesList: CliCommand = {
  usage: 'routes list',
  about: 'payout routes with their fees and bounds, and the rails of all routes',
  run: async ({ operator }) => {
    const list = await operator.call('ListRoutes', {})
    const head = ['tenant', 'route', 'fees', 'handling', 'bounds', 'review from']
    // An included route can be set again as it is listed.
    const data = list.data.map(({ included: _no, _included: _none, ...route }) => route)
    const lines = [table([head, ...list.data.map(rowOf)], []), '', railTable(list.rails)]
    return { value: { ...list, data }, lines }
  },
}

const railTable = (rails: readonly RouteRail[]): string =>
  table([['route', 'rail', 'state', 'chosen by', 'since'], ...rails.map(rowOrName(railRow))], [])

const railRow = ({ route, rail, state, actor = '', set_at: since = '' }: RouteRail): string[] => [
  route,
  rail,
  state === 'not_carried' ? 'NOT CARRIED: no new payments' : state,
  actor,
  since,
]

function rowOf(route: Route__Output): string[] {
  const { tenant, country, currency, enabled, amount_min, amount_max, review_from } = route
  const amount = (minor: string | undefined): string =>
    minor === undefined ? '' : formatWireAmount(currency, minor)
  const platform = `${amount(route.platform_fixed)} + ${route.platform_bps} bps`
  return [
    tenant ? `${tenant.partner_id}_${tenant.environment}` : forAll(route),
    `${country} ${currency}${enabled ? '' : ' (off)'}`,
    `${platform}, rail ${amount(route.rail_fixed)}`,
    route.handling,
    (amount_min ?? amount_max) ? `${amount(amount_min)} to ${amount(amount_max)}` : '',
    amount(review_from),
  ]
}

/** Until one is set for all, production has no route. */
const forAll = ({ included }: Route__Output): string =>
  included === true ? 'built in, sandbox only' : 'all'

export const routesSet: CliCommand = {
  usage: 'routes set FILE',
  about:
    'set a payout route from JSON, in the form of `routes list --json`; with --rail: name the ' +
    'rail of a route, e.g. production/TH/THB or sandbox/th_promptpay',
  options: [...CHANGE, 'rail'],
  run: async (context, [file = '']) => {
    const { rail } = context.flags
    if (rail !== undefined) return setRail(context, file, rail)
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

async function setRail(context: Context, route: string, rail: string): Promise<Report> {
  const [environment = '', ...rest] = route.split('/')
  if (rest.length === 0) {
    throw new CommandFault(`${route} is no route: e.g. production/TH/THB, sandbox/th_promptpay.`)
  }
  const actor = actorOf(context, environment)
  const set = await context.operator.call('SetRouteRail', { actor, route, rail })
  const applied = await settingReport(context, set.settings_version)
  return {
    ...applied,
    value: { ...set, ...applied.value },
    lines: [`${set.route}: new payments go to ${set.rail}`, ...applied.lines],
  }
}
