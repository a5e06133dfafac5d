/**
 * Commands about payout routes: which countries and currencies, at which terms.
 *
 * Owns: showing routes and reading one from a file. Does not own: what a route may say (processor).
 */
import { readFileSync } from 'node:fs'
import type { Route, Route__Output } from '../../protos/types/causeway/v1/Route.js'
import { actorOf } from './actor.js'
import { wireInWords } from './amounts.js'
import { CommandFault, type Command } from './command.js'
import { table } from './terminal.js'

export const routesList: Command = {
  usage: 'routes list',
  about: 'payout routes with their fees and bounds',
  run: async ({ operator }) => {
    const list = await operator.call('ListRoutes', {})
    const head = ['tenant', 'route', 'fees', 'handling', 'bounds', 'review from']
    return { value: list, lines: [table([head, ...list.data.map(rowOf)], [])] }
  },
}

function rowOf(route: Route__Output): string[] {
  const { tenant, country, currency, enabled, amount_min, amount_max, review_from } = route
  const amount = (minor: string | undefined): string =>
    minor === undefined ? '' : wireInWords(currency, minor)
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

export const routesSet: Command = {
  usage: 'routes set FILE',
  about: 'a whole route, as JSON in the form of one of `routes list --json`',
  run: async (context, [file = '']) => {
    const given = routeIn(file)
    const actor = actorOf(context, given.tenant?.environment ?? 'sandbox')
    const route = await context.operator.call('SetRoute', { actor, route: given })
    return { value: route, lines: [table([rowOf(route)], [])] }
  },
}

function routeIn(file: string): Route {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Route
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandFault(`No route can be read from ${file}: ${why}`)
  }
}
