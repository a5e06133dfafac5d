/**
 * Commands that list partners and set their restrictions.
 *
 * - A list replaces the previous one; `none` empties it.
 */
import ipaddr from 'ipaddr.js'
import type { PartnerRecord__Output as Partner } from '../../../protos/types/causeway/operator/v1/PartnerRecord.js'
import { PARTNER_RATE_MAX } from '../../base/constants.js'
import { CORRIDOR_NAMES, isCorridor } from '../../qr/corridor.js'
import { actorOf, CHANGE, type Actor } from '../cli/actor.js'
import { CommandFault, type CliCommand, type Context, type Report } from '../cli/command.js'
import { rowOrName } from '../cli/page.js'
import { table } from '../cli/terminal.js'

/** A partner's restrictions apply to both environments. */
const actor = (context: Context): Actor => actorOf(context, 'sandbox')

export const partnerList: CliCommand = {
  usage: 'partner list',
  about: 'all partners and their restrictions',
  run: async ({ partners }) => {
    const list = await partners.call('List', {})
    const head = ['partner', 'state', 'corridors', 'addresses', 'packages', 'requests/s', 'since']
    return { value: list, lines: [table([head, ...list.data.map(rowOrName(rowOf))], [5])] }
  },
}

function rowOf(partner: Partner): string[] {
  const rate = partner.rate_limit_per_second
  return [
    partner.partner_id,
    partner.suspended ? 'suspended' : 'active',
    partner.corridors.join(' ') || 'none',
    partner.allowed_ips.join(' ') || 'any',
    partner.packages.join(' ') || 'any',
    rate === 0 ? 'default' : String(rate),
    partner.created_at.slice(0, 10),
  ]
}

export const partnerSuspend: CliCommand = {
  usage: 'partner suspend NAME',
  about: 'reject new intents and payouts; open ones continue',
  options: CHANGE,
  run: async (context, [partner_id = '']) =>
    reportOf(await context.partners.call('Suspend', { actor: actor(context), partner_id })),
}

export const partnerResume: CliCommand = {
  usage: 'partner resume NAME',
  about: 'end a suspension',
  options: CHANGE,
  run: async (context, [partner_id = '']) =>
    reportOf(await context.partners.call('Resume', { actor: actor(context), partner_id })),
}

export const partnerAllowIps: CliCommand = {
  usage: 'partner allow-ips NAME CIDRS',
  about: 'allowed source addresses in production, e.g. 203.0.113.0/24; none allows any address',
  options: CHANGE,
  run: async (context, [partner_id = '', text = '']) => {
    const values = parseList(text, cidrFault)
    const request = { actor: actor(context), partner_id, values }
    return reportOf(await context.partners.call('SetAllowedIps', request))
  },
}

export const partnerPackages: CliCommand = {
  usage: 'partner packages NAME IDS',
  about: 'allowed app ids for session calls, comma-separated; none allows any app',
  options: CHANGE,
  run: async (context, [partner_id = '', text = '']) => {
    const values = parseList(text, packageFault)
    const request = { actor: actor(context), partner_id, values }
    return reportOf(await context.partners.call('SetPackages', request))
  },
}

export const partnerCorridors: CliCommand = {
  usage: 'partner corridors NAME CORRIDORS',
  about: `corridors that the partner may use (${CORRIDOR_NAMES.join(', ')}), or none`,
  options: CHANGE,
  run: async (context, [partner_id = '', text = '']) => {
    const values = parseCorridors(text)
    const request = { actor: actor(context), partner_id, values }
    return reportOf(await context.partners.call('SetCorridors', request))
  },
}

export const partnerRateLimit: CliCommand = {
  usage: 'partner rate-limit NAME PER_SECOND',
  about: 'requests per second and key; 0 means the default',
  options: CHANGE,
  run: async (context, [partner_id = '', text = '']) => {
    const per_second = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
    if (!(per_second <= PARTNER_RATE_MAX)) {
      throw new CommandFault(`${text} is not a rate: a whole number from 0 to ${PARTNER_RATE_MAX}.`)
    }
    const request = { actor: actor(context), partner_id, per_second }
    return reportOf(await context.partners.call('SetRateLimit', request))
  },
}

export const parseCorridors = (text: string): string[] => parseList(text, corridorFault)

const reportOf = (partner: Partner): Report => ({
  value: partner,
  lines: [table([rowOf(partner)], [])],
})

/** @param faultOf gives the fault of one value, undefined if there is none */
function parseList(text: string, faultOf: (value: string) => string | undefined): string[] {
  const values = text === 'none' ? [] : text.split(',').map((value) => value.trim())
  for (const value of values) {
    const fault = faultOf(value)
    if (fault !== undefined) throw new CommandFault(fault)
  }
  return [...new Set(values)]
}

function cidrFault(value: string): string | undefined {
  if (ipaddr.isValidCIDR(value)) return undefined
  if (!ipaddr.isValid(value)) return `${value} is not a CIDR block, e.g. 203.0.113.0/24 or none.`
  const single = `${value}/${ipaddr.parse(value).kind() === 'ipv4' ? 32 : 128}`
  return `${value} has no prefix length: write ${single} for this address alone.`
}

const packageFault = (value: string): string | undefined =>
  /^[A-Za-z0-9._-]{1,255}$/.test(value)
    ? undefined
    : `${value} is not an app id: letters, digits, dots, hyphens and underscores.`

const corridorFault = (value: string): string | undefined =>
  isCorridor(value)
    ? undefined
    : `${value} is not a corridor: use ${CORRIDOR_NAMES.join(', ')}, or none.`
