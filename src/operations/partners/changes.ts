/** Commands that change partners, keys and balance alerts. */
import type { KeyIssued__Output as KeyIssued } from '../../../protos/types/causeway/operator/v1/KeyIssued.js'
import { isPartnerId } from '../../auth/request_shape.js'
import { money } from '../../money/money.js'
import { CORRIDOR_NAMES } from '../../qr/corridor.js'
import { actorOf, CHANGE } from '../cli/actor.js'
import { formatAmount } from '../cli/amounts.js'
import { bytesIn, CommandFault, type CliCommand, type Report } from '../cli/command.js'
import { amountNamed, currencyNamed } from '../money/funds.js'
import { parseCorridors } from './partners.js'
import { isPartner, tenantNamed } from '../cli/tenant.js'

const SANDBOX = 'sandbox'

export const partnerCreate: CliCommand = {
  usage: 'partner create NAME',
  about: 'create a partner with a sandbox key and test funds; --corridors names its corridors',
  options: [...CHANGE, 'corridors', 'no-funds'],
  run: async (context, [partner = '']) => {
    if (!isPartnerId(partner)) {
      throw new CommandFault(`${partner} is not a name: 2 to 32 of a to z, 0 to 9 and the hyphen.`)
    }
    if (await isPartner(context, partner)) throw new CommandFault(`${partner} exists already.`)
    // Never all of them silently: the contract with the partner names its corridors.
    const corridors = parseCorridors(context.flags.corridors ?? 'none')
    const created = await context.operator.call('CreatePartner', {
      actor: actorOf(context, SANDBOX),
      partner_id: partner,
      corridors,
      no_funds: context.flags['no-funds'] ?? false,
    })
    const key = created.sandbox_key
    const names = CORRIDOR_NAMES.join(',')
    const hint = `no corridors yet: make ops ARGS="partner corridors ${partner} ${names}"`
    return {
      value: created,
      lines: [
        `partner ${created.partner_id}`,
        ...keyLines(key?.key_id, key?.secret),
        ...(context.flags.corridors === undefined ? [hint] : []),
      ],
    }
  },
}

export const keyIssue: CliCommand = {
  usage: 'key issue PARTNER ENV',
  about: 'issue a signing key; older keys expire in 14 days',
  options: [...CHANGE, 'public-key'],
  run: async (context, [partner = '', environment = '']) => {
    const tenant = await tenantNamed(context, partner, environment)
    const actor = actorOf(context, environment)
    const file = context.flags['public-key']
    const issued = await context.operator.call('IssueKey', {
      actor,
      tenant,
      ...(file === undefined ? {} : { public_key: bytesIn(file).toString() }),
    })
    return issuedReport(issued)
  },
}

/** What is printed of an issued key, whose secret can be sealed. */
export function issuedReport(issued: KeyIssued): Report {
  const { key_id, secret, sealed_secret: sealed } = issued
  if (sealed === undefined) return { value: issued, lines: keyLines(key_id, secret) }
  const { secret: _none, ...rest } = issued
  const note = 'sealed: only the owner of the public key can open it with the private key'
  return { value: rest, lines: [`key     ${key_id}`, `sealed  ${sealed}`, note] }
}

const keyLines = (id = '', secret = ''): string[] => [
  `key     ${id}`,
  `secret  ${secret}   (shown only once)`,
]

export const balanceAlert: CliCommand = {
  usage: 'balance-alert PARTNER ENV CUR AMOUNT',
  about: 'send balance.low when less than AMOUNT is available; 0 means no alert',
  options: CHANGE,
  run: async (context, [partner = '', environment = '', code = '', text = '']) => {
    const currency = currencyNamed(code)
    const minor = text === '0' ? 0n : amountNamed(text, currency)
    const threshold = minor.toString()
    await context.operator.call('SetBalanceAlert', {
      actor: actorOf(context, environment),
      tenant: await tenantNamed(context, partner, environment),
      currency,
      threshold,
    })
    const below = minor === 0n ? 'no alert' : `alert below ${formatAmount(money(currency, minor))}`
    return { value: { currency, threshold }, lines: [`${partner} ${environment}: ${below}`] }
  },
}
