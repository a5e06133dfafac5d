/** `partner usage`: what a partner has paid in the last days, and its calls. */
import type { CallUsage__Output as CallUsage } from '../../../protos/types/causeway/operator/v1/CallUsage.js'
import type { KindUsage__Output as KindUsage } from '../../../protos/types/causeway/operator/v1/KindUsage.js'
import { formatWireAmount } from '../cli/amounts.js'
import { CommandFault, type CliCommand } from '../cli/command.js'
import { tenantNamed } from '../cli/tenant.js'
import { table } from '../cli/terminal.js'

export const partnerUsage: CliCommand = {
  usage: 'partner usage PARTNER ENV',
  about: 'payments and payouts of the last days by state, with amounts; calls and limits',
  options: ['days'],
  run: async ({ partners, flags }, [partner_id = '', environment = '']) => {
    const tenant = await tenantNamed({ partners }, partner_id, environment)
    const usage = await partners.call('ShowUsage', { tenant, ...daysIn(flags.days) })
    const lines = usage.kinds.flatMap((kind) => linesOf(kind))
    const calls = usage.calls === null ? [] : callFacts(usage.calls)
    return { value: usage, lines: [`since ${usage.from}`, ...lines, table(calls, [])] }
  },
}

function daysIn(text: string | undefined): { readonly days?: number } {
  if (text === undefined) return {}
  if (!/^[0-9]{1,3}$/.test(text)) throw new CommandFault(`${text} is not a number of days.`)
  return { days: Number(text) }
}

/** Calls, and how much of the limits they use; in the console too. */
export function callFacts(calls: CallUsage): (readonly [label: string, text: string])[] {
  const { since, answered, refused, failed, limited, busiest_second: busiest } = calls
  const { requests_per_second: rate } = calls
  return [
    ['Calls since', since],
    ['Answered', String(answered)],
    ['Refused', String(refused)],
    ['Refused by limits of amounts', String(limited)],
    ['Failed', String(failed)],
    ['Busiest second', `${busiest} calls, ${rate === 0 ? 'no limit' : `limit ${rate} a key`}`],
  ]
}

function linesOf({ entity, lines, counted_from: countedFrom }: KindUsage): readonly string[] {
  if (lines.length === 0) return [`${entity}: none`]
  const rows = lines.map(({ state, currency, count, amount }) => [
    ...[entity, state, String(count), formatWireAmount(currency, amount)],
  ])
  const cut = `${entity}: there are more; counted are those since ${countedFrom}`
  return [table(rows, [2, 3]), ...(countedFrom === undefined ? [] : [cut])]
}
