/**
 * Reads a payout route from a JSON file, in the form that `routes list --json` prints.
 *
 * - Names every fault of the file; the processor only answers `invalid_request`.
 * - A file holds a whole route: only the tenant and the bounds are optional.
 */
import { readFileSync } from 'node:fs'
import type { Route } from '../../../protos/types/causeway/operator/v1/Route.js'
import { FEE_BPS_MAX } from '../../base/constants.js'
import { isCountry } from '../../money/country.js'
import { currencyOf } from '../../money/currency.js'
import { parseInt64, parsePositiveInt64 } from '../../money/money.js'
import { CommandFault } from '../cli/command.js'
import type { NamedTenant } from '../cli/tenant.js'

/** Without what only answers have, and the `_name` members of proto-loader for optional fields. */
type MemberName = Exclude<keyof Route, 'settings_version' | 'included' | `_${string}`>

interface Member {
  readonly mustBe: string
  readonly mayBeMissing?: true
  fits(value: unknown): boolean
}

const text = (mustBe: string, fits: (value: string) => boolean): Member => ({
  mustBe,
  fits: (value) => typeof value === 'string' && fits(value),
})

const TOGGLE: Member = { mustBe: 'true or false', fits: (value) => typeof value === 'boolean' }
const FEE = text('minor units in quotes, 0 or more', (value) => (parseInt64(value) ?? -1n) >= 0n)
const BOUND: Member = {
  ...text('minor units in quotes, above 0', (value) => parsePositiveInt64(value) !== undefined),
  mayBeMissing: true,
}

const MEMBERS: Readonly<Record<MemberName, Member>> = {
  tenant: { mustBe: 'a partner_id and an environment', mayBeMissing: true, fits: isTenant },
  country: text('a country of ISO 3166', isCountry),
  currency: text('a currency of ISO 4217', (value) => currencyOf(value) !== undefined),
  enabled: TOGGLE,
  platform_fixed: FEE,
  platform_bps: {
    mustBe: `a whole number from 0 to ${FEE_BPS_MAX}`,
    fits: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= FEE_BPS_MAX,
  },
  rail_fixed: FEE,
  handling: text('on_top or deducted', (value) => value === 'on_top' || value === 'deducted'),
  refund_fees_on_reversal: TOGGLE,
  amount_min: BOUND,
  amount_max: BOUND,
  review_from: BOUND,
}

export type RouteGiven = Route & { readonly tenant?: NamedTenant | null }

/** @throws CommandFault that names every fault of the file */
export function readRoute(file: string): RouteGiven {
  const given = jsonIn(file)
  if (!isObject(given)) throw new CommandFault(`${file} does not contain a JSON object.`)
  const faults = [...invalidMembers(given), ...unknownMembers(given)]
  if (faults.length > 0) throw new CommandFault(`${file}: ${faults.join('; ')}.`)
  const route = given as RouteGiven
  const { amount_min, amount_max } = route
  if (amount_min && amount_max && BigInt(amount_min) > BigInt(amount_max)) {
    throw new CommandFault(`${file}: amount_min is above amount_max.`)
  }
  return route
}

function jsonIn(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CommandFault(`${file} cannot be read as a route: ${why}`)
  }
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isTenant(value: unknown): boolean {
  if (!isObject(value)) return false
  return typeof value['partner_id'] === 'string' && typeof value['environment'] === 'string'
}

const invalidMembers = (given: Json): string[] =>
  Object.entries(MEMBERS).flatMap(([name, { mustBe, mayBeMissing, fits }]) => {
    const value = given[name] ?? undefined
    if (value === undefined) return mayBeMissing ? [] : [`${name} is missing`]
    return fits(value) ? [] : [`${name} must be ${mustBe}, not ${JSON.stringify(value)}`]
  })

const unknownMembers = (given: Json): string[] =>
  Object.keys(given)
    .filter((name) => !Object.hasOwn(MEMBERS, name))
    .map((name) => `${name} is not a member of a route`)
