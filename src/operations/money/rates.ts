/**
 * Commands that list, set and remove rates.
 *
 * - A file of rates is set whole or not at all. Each of its faults is named with its line.
 */
import { readFileSync } from 'node:fs'
import type { RateChange } from '../../../protos/types/causeway/operator/v1/RateChange.js'
import type { RateRecord__Output as Rate } from '../../../protos/types/causeway/operator/v1/RateRecord.js'
import { isEnvironment } from '../../base/ids.js'
import { currencyOf } from '../../money/currency.js'
import { parseRate } from '../../money/rate.js'
import { actorOf, CHANGE } from '../cli/actor.js'
import { Refused } from '../calls/calls.js'
import { CommandFault, type CliCommand, type Context } from '../cli/command.js'
import { rowOrName } from '../cli/page.js'
import { currencyNamed } from './funds.js'
import { settingReport } from '../shards/shared_settings.js'
import { table } from '../cli/terminal.js'

const SANDBOX = 'sandbox'

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
    const environment = environmentIn(context)
    const before = rateBefore(data, currency, environment)
    const change = `1 USD = ${before} ${currency} now, ${text} ${currency} after`
    const request = { actor: actorOf(context, SANDBOX), environment, currency, rate: text }
    const { settings_version: version } = await confirmed(change, () =>
      operator.call('SetRate', { ...request, force: flags.force ?? false }),
    )
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

/** Empty means both. */
function environmentIn({ flags: { environment = '' } }: Context): string {
  if (environment === '' || isEnvironment(environment)) return environment
  throw new CommandFault(`${environment} is not an environment: sandbox or production.`)
}

async function confirmed<T>(change: string, call: () => Promise<T>): Promise<T> {
  return call().catch((error: unknown) => {
    const isLarge = error instanceof Refused && error.code === 'rate_change_unconfirmed'
    if (!isLarge) throw error
    throw new CommandFault(`${change}: more than 5 % in a day. If this is correct, add --force.`)
  })
}

/** @param environment empty means both, which may have different rates */
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
    const rows = list.data.map(
      rowOrName(({ environment, currency, rate, ...known }) => [
        ...[currency, environment, rate, sinceOf(known)],
      ]),
    )
    return { value: list, lines: [rows.length === 0 ? 'No rates are set.' : table(rows, [2])] }
  },
}

export const ratesRemove: CliCommand = {
  usage: 'rates remove CUR',
  about: 'remove a rate: the sandbox has its built-in one again, production none; --environment',
  options: [...CHANGE, 'environment'],
  run: async (context, [code = '']) => {
    const { operator } = context
    const currency = currencyNamed(code)
    const environment = environmentIn(context)
    const { data } = await operator.call('ListRates', {})
    const before = rateBefore(
      data.filter((known) => known.set_at !== '' || known.corrupt !== undefined),
      currency,
      environment,
    )
    if (before === null) throw new CommandFault(`No rate of ${currency} is set there.`)
    const actor = actorOf(context, SANDBOX)
    const rates = [{ currency, rate: '', environment }]
    const { settings_version: version } = await operator.call('SetRates', { actor, rates })
    const applied = await settingReport(context, version)
    return {
      ...applied,
      value: { currency, environment, before, ...applied.value },
      lines: [`${currency}: removed, ${before} before`, ...applied.lines],
    }
  },
}

export const ratesImport: CliCommand = {
  usage: 'rates import FILE',
  about: 'set the rates of a CSV file, all or none; --force: over 5 %',
  options: [...CHANGE, 'force'],
  run: async (context, [file = '']) => {
    const { operator, flags } = context
    const rates = ratesInFile(file)
    const { data } = await operator.call('ListRates', {})
    const actor = actorOf(context, SANDBOX)
    const { settings_version: version } = await confirmed('One of the rates changes', () =>
      operator.call('SetRates', { actor, rates, force: flags.force ?? false }),
    )
    const applied = await settingReport(context, version)
    const set = rates.map((rate) => ({
      ...rate,
      before: rateBefore(data, rate.currency, rate.environment),
    }))
    const rows = set.map(({ currency, environment, rate, before }) => [
      ...[currency, environment || 'both', rate, before === null ? '' : `${before} before`],
    ])
    return {
      ...applied,
      value: { data: set, ...applied.value },
      lines: [table(rows, [2]), ...applied.lines],
    }
  },
}

interface RateGiven extends RateChange {
  readonly currency: string
  /** Empty means both. */
  readonly environment: string
  readonly rate: string
}

const HEADER = 'currency,environment,rate'

/** @throws CommandFault that names every fault of the file */
function ratesInFile(file: string): RateGiven[] {
  const [header = '', ...lines] = textOf(file).split(/\r?\n/)
  if (header !== HEADER) throw new CommandFault(`${file}: line 1 is not ${HEADER}.`)
  const faults: string[] = []
  const given = lines.flatMap((line, index) => {
    if (line === '') return []
    const [currency = '', environment = '', rate = '', ...more] = line.split(',')
    const fault = more.length > 0 ? 'more than three values' : faultOf(currency, environment, rate)
    if (fault !== null) faults.push(`${file}: line ${index + 2}: ${fault}.`)
    return [{ currency, environment, rate }]
  })
  if (given.length === 0) faults.push(`${file} has no rates.`)
  if (faults.length > 0) throw new CommandFault(faults.join('\n'))
  return given
}

function faultOf(currency: string, environment: string, rate: string): string | null {
  const known = currencyOf(currency)
  if (known === undefined || known === 'USD') return `${currency} is not a currency with a rate`
  if (environment !== '' && !isEnvironment(environment))
    return `${environment} is not an environment: sandbox, production, or empty for both`
  return parseRate(rate) === undefined ? `${rate} is not a rate, e.g. 36.00` : null
}

/** Without the byte order mark that spreadsheets write. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch {
    throw new CommandFault(`${file} cannot be read.`)
  }
}
