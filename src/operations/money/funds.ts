/**
 * Commands that move money into a prefund, or out of it without a payment.
 *
 * - A command without a reply may have moved the money: the key that makes a retry safe is printed
 *   before the call, so also an interrupted command has shown it, and again with a fault.
 */
import { randomUUID } from 'node:crypto'
import { currencyOf, type Currency } from '../../money/currency.js'
import { money } from '../../money/money.js'
import { actorOf, CHANGE, deciderOf, evidenceOf } from '../cli/actor.js'
import { amountForms, formatAmount, parseMajor } from '../cli/amounts.js'
import { CommandFault, type CliCommand, type Context } from '../cli/command.js'
import { tenantNamed } from '../cli/tenant.js'

export const deposit: CliCommand = {
  usage: 'deposit PARTNER ENV CUR AMOUNT',
  about: 'credit a prefund; AMOUNT in major units, e.g. 1000.50; take back: deposit correct',
  options: [...CHANGE, 'idempotency-key'],
  run: async (context, [partner = '', environment = '', code = '', text = '']) => {
    const funds = await fundsNamed(context, [partner, environment, code, text])
    const done = await repeatable(
      context.operator.call('Deposit', { ...funds.request, actor: actorOf(context, environment) }),
      funds,
    )
    const rest = funds.left(done.available)
    return {
      value: { ...done, idempotency_key: funds.request.idempotency_key },
      lines: [`${done.deposit_id}: ${funds.amount} credited to ${partner}, ${rest}`],
    }
  },
}

export const withdraw: CliCommand = {
  usage: 'withdraw PARTNER ENV CUR AMOUNT',
  about: 'debit a prefund with money that is paid back to the partner by bank',
  options: [...CHANGE, 'evidence', 'idempotency-key'],
  run: async (context, [partner = '', environment = '', code = '', text = '']) => {
    const evidence = evidenceOf(context)
    const actor = deciderOf(context)
    const funds = await fundsNamed(context, [partner, environment, code, text])
    const done = await repeatable(
      context.operator.call('Withdraw', { ...funds.request, actor, evidence }),
      funds,
    )
    const rest = funds.left(done.available)
    return {
      value: { ...done, idempotency_key: funds.request.idempotency_key },
      lines: [`${done.withdrawal_id}: ${funds.amount} withdrawn from ${partner}, ${rest}`],
    }
  },
}

export const depositCorrect: CliCommand = {
  usage: 'deposit correct PARTNER ENV DEPOSIT CUR AMOUNT',
  about: 'take back AMOUNT of what a deposit credited by mistake',
  options: [...CHANGE, 'evidence', 'idempotency-key'],
  run: async (context, args) => {
    const [partner = '', environment = '', deposit_id = '', code = '', text = ''] = args
    const evidence = evidenceOf(context)
    const actor = deciderOf(context)
    const funds = await fundsNamed(context, [partner, environment, code, text])
    const request = { ...funds.request, actor, evidence, deposit_id }
    const done = await repeatable(context.operator.call('CorrectDeposit', request), funds)
    const sum = formatAmount(money(funds.currency, BigInt(done.corrected)))
    const parts = [`${funds.amount} taken back from ${partner}`, `${sum} of it in all`]
    return {
      value: { ...done, idempotency_key: funds.request.idempotency_key },
      lines: [`${deposit_id}: ${[...parts, funds.left(done.available)].join(', ')}`],
    }
  },
}

/** What all these commands name, in the form of their requests. */
interface Funds {
  readonly currency: Currency
  /** For the terminal. */
  readonly amount: string
  readonly request: {
    readonly tenant: Awaited<ReturnType<typeof tenantNamed>>
    readonly currency: Currency
    readonly amount: string
    readonly idempotency_key: string
  }
  /** `USD 5.00 available` */
  left(available: string): string
}

async function fundsNamed(
  context: Context,
  [partner, environment, code, text]: readonly [string, string, string, string],
): Promise<Funds> {
  const currency = currencyNamed(code)
  const minor = amountNamed(text, currency)
  const tenant = await tenantNamed(context, partner, environment)
  const { 'idempotency-key': given } = context.flags
  const key = given ?? randomUUID()
  if (given === undefined) context.tell(`If this is interrupted, repeat it with ${option(key)}`)
  return {
    currency,
    amount: formatAmount(money(currency, minor)),
    request: { tenant, currency, amount: minor.toString(), idempotency_key: key },
    left: (available) => `${formatAmount(money(currency, BigInt(available)))} available`,
  }
}

const option = (key: string): string => `--idempotency-key ${key}`

const repeatable = <Done>(call: Promise<Done>, { request }: Funds): Promise<Done> =>
  call.catch((error: unknown) => {
    const again = `Safe to repeat with ${option(request.idempotency_key)}`
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${again}`)
  })

export function currencyNamed(code: string): Currency {
  const currency = currencyOf(code)
  if (currency === undefined) throw new CommandFault(`${code} is not a currency of ISO 4217.`)
  return currency
}

/** In minor units. */
export function amountNamed(text: string, currency: Currency): bigint {
  const minor = parseMajor(text, currency)
  if (minor !== undefined) return minor
  const forms = amountForms(currency)
  throw new CommandFault(`${text} is not an amount of ${currency}: write e.g. ${forms}.`)
}
