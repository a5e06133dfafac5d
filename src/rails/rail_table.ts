/**
 * The rails of this service and the routes that each of them carries.
 *
 * Does not own: reading them (rails_file), the rail that an operator chose for a route (processor).
 *
 * - A route is an environment with a country and a currency (payouts), or with a corridor (QR
 *   payments).
 * - A route without a chosen rail has the first one of the file that carries it.
 */
import { ENVIRONMENTS, type Environment } from '../base/ids.js'
import { isCountry } from '../money/country.js'
import { currencyOf } from '../money/currency.js'
import { isCorridor } from '../qr/corridor.js'
import { SANDBOX_RAIL } from './rail.js'

/** `production/TH/THB`, `sandbox/th_promptpay`: of the file, rows, rails and operators. */
export type RouteName = `${Environment}/${string}`

export const payoutRoute = (
  environment: Environment,
  country: string,
  currency: string,
): RouteName => `${environment}/${country}/${currency}`

export const corridorRoute = (environment: Environment, corridor: string): RouteName =>
  `${environment}/${corridor}`

/** `TH/THB`: the route of payouts without its environment. */
export function isPayoutRoute(text: string): boolean {
  const [country = '', currency = '', ...rest] = text.split('/')
  return rest.length === 0 && isCountry(country) && currencyOf(currency) !== undefined
}

/** Null means that the text names no route. */
export function routeNamed(text: string): RouteName | null {
  const slash = text.indexOf('/')
  const environment = ENVIRONMENTS.find((known) => known === text.slice(0, slash))
  const rest = text.slice(slash + 1)
  if (environment === undefined || !(isCorridor(rest) || isPayoutRoute(rest))) return null
  return `${environment}/${rest}`
}

export const ANY = 'any'

/** What a rail carries. */
export interface RailEntry {
  readonly name: string
  readonly environments: readonly Environment[]
  /** As `TH/THB`. */
  readonly payouts: readonly string[] | typeof ANY
  readonly corridors: readonly string[] | typeof ANY
  /** It moves no real money. */
  readonly isSandbox: boolean
}

export interface RailTable {
  /** In the order of the file. */
  readonly entries: readonly RailEntry[]
  /** False for an unknown rail. */
  carries(rail: string, route: RouteName): boolean
  /** The rail of a route for which none was chosen. Null if no rail carries it. */
  defaultOf(route: RouteName): string | null
}

export function createRailTable(entries: readonly [RailEntry, ...RailEntry[]]): RailTable {
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const defaults = new Map<RouteName, string | null>()
  return {
    entries,
    carries: (rail, route) => {
      const entry = byName.get(rail)
      return entry !== undefined && isCarriedBy(entry, route)
    },
    defaultOf: (route) => {
      let found = defaults.get(route)
      if (found === undefined) {
        found = entries.find((entry) => isCarriedBy(entry, route))?.name ?? null
        defaults.set(route, found)
      }
      return found
    },
  }
}

function isCarriedBy({ environments, payouts, corridors }: RailEntry, route: RouteName): boolean {
  const slash = route.indexOf('/')
  const rest = route.slice(slash + 1)
  const carried = rest.includes('/') ? payouts : corridors
  const isCarried = carried === ANY || carried.includes(rest)
  return isCarried && environments.some((environment) => environment === route.slice(0, slash))
}

/** Without a file: the sandbox rail alone. */
export const sandboxRail = (mayCarryProduction: boolean): RailEntry => ({
  name: SANDBOX_RAIL,
  environments: mayCarryProduction ? ['sandbox', 'production'] : ['sandbox'],
  payouts: ANY,
  corridors: ANY,
  isSandbox: true,
})
