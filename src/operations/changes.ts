/** Commands that change partners, keys, rates and balance alerts. */
import type { KeyIssued__Output as KeyIssued } from '../../protos/types/causeway/operator/v1/KeyIssued.js'
import type { RateRecord__Output as Rate } from '../../protos/types/causeway/operator/v1/RateRecord.js'
import { isPartnerId } from '../auth/request_shape.js'
import { isEnvironment } from '../base/ids.js'
import { money } from '../money/money.js'
import { parseRate } from '../money/rate.js'
import { CORRIDOR_NAMES } from '../qr/corridor.js'
import { actorOf, CHANGE } from './actor.js'
import { formatAmount } from './amounts.js'
import { Refused } from './calls.js'
import { bytesIn, CommandFault, type CliCommand, type Context, type Report } from './command.js'
import { amountNamed, currencyNamed } from './funds.js'
import { parseCorridors } from './partners.js'
import { settingReport } from './shared_settings.js'
import { isPartner, tenantNamed } from './tenant.js'
import { table } from './terminal.js'

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
    const corridors = newCorridors(context)
    const created = await context.operator.call('CreatePartner', {
      actor: actorOf(context, SANDBOX),
      partner_id: partner,
      corridors,
      no_funds: context.flags['no-funds'] ?? false,
    })
    const key = created.sandbox_key
    return {
      value: created,
      lines: [`partner ${created.partner_id}`, ...keyLines(key?.key_id, key?.secret)],
    }
  },
}

/** Never all of them silently: the contract with the partner names its corridors. */
function newCorridors({ flags: { corridors } }: Context): string[] {
  if (corridors !== undefined) return parseCorridors(corridors)
  throw new CommandFault(
    `This needs --corridors, comma-separated, of ${CORRIDOR_NAMES.join(', ')}; none: none.`,
  )
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

export const ratesSet: CliCommand = {
  usage: 'rates set CUR RATE',
  about: 'set the price of one US dollar; --environment: only there; --force: over 5 %',
  options: [...CHANGE, 'environment', 'force'],
  run: async (context, [code = '', text = '']) => {
    const { operator, flags } = context
    const currency = currencyNamed(code)
    if (currency === 'USD') throw new CommandFault('One US dollar buys one US dollar.')
    if (parseRate(text) === undefined) throw new CommandFault(`${text} is not a rate, e.g. 36.00.`)
    const { data } = await operator.call('ListRates', {})
    const { environment = '' } = flags
    if (environment !== '' && !isEnvironment(environment)) {
      throw new CommandFault(`${environment} is not an environment: sandbox or production.`)
    }
    const before = rateBefore(data, currency, environment)
    const change = `1 USD = ${before} ${currency} now, ${text} ${currency} after`
    const request = { actor: actorOf(context, SANDBOX), environment, currency, rate: text }
    const { settings_version: version } = await operator
      .call('SetRate', { ...request, force: flags.force ?? false })
      .catch((error: unknown) => {
        const isLarge = error instanceof Refused && error.code === 'rate_change_unconfirmed'
        if (!isLarge) throw error
        throw new CommandFault(
          `${change}: more than 5 % in a day. If this is correct, add --force.`,
        )
      })
    const applied = await settingReport(context, version)
    const where = environment === '' ? '' : ` in ${environment}`
    const was = before === null ? '' : `, ${before} before`
    return {
      ...applied,
      value: {
        ...(environment === '' ? {} : { environment }),
        ...{ currency, rate: text, before },
        ...applied.value,
      },
      lines: [`1 USD = ${text} ${currency}${where} from now on${was}`, ...applied.lines],
    }
  },
}

/** @param environment empty: both, which may have different rates */
function rateBefore(rates: readonly Rate[], currency: string, environment: string): string | null {
  const found = rates
    .filter((known) => known.currency === currency)
    .filter((known) => environment === '' || known.environment === environment)
  return [...new Set(found.map(({ rate }) => rate))].join(' and ') || null
}

const ageOf = (isTooOld: boolean): string => (isTooOld ? ', too old for new quotes' : '')

type Setting = Pick<Rate, 'set_at' | 'set_by' | 'before' | 'is_too_old'>

function sinceOf({ set_at, set_by, before, is_too_old }: Setting): string {
  if (set_at === '') return 'built in, sandbox only'
  const by = set_by === undefined ? '' : ` by ${set_by}`
  const was = before === undefined ? '' : `, ${before} before`
  return `since ${set_at}${by}${was}${ageOf(is_too_old)}`
}

export const ratesList: CliCommand = {
  usage: 'rates list',
  about: 'price of one US dollar by environment: since when, by which operator, and before',
  run: async ({ operator }) => {
    const list = await operator.call('ListRates', {})
    const rows = list.data.map(({ environment, currency, rate, ...known }) => [
      ...[currency, environment, rate, sinceOf(known)],
    ])
    return { value: list, lines: [rows.length === 0 ? 'No rates are set.' : table(rows, [2])] }
  },
}

export const balanceAlert: CliCommand = {
  usage: 'balance-alert PARTNER ENV CUR AMOUNT',
  about: 'send balance.low when less than AMOUNT is available; 0: no alert',
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
