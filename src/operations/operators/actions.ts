/** `actions`: the action log of operators, with reasons and evidence. */
import type { Action__Output as Action } from '../../../protos/types/causeway/operator/v1/Action.js'
import { formatWireAmount } from '../cli/amounts.js'
import type { CliCommand } from '../cli/command.js'
import { PAGE, page, pageLines, rowOrName } from '../cli/page.js'

export const actions: CliCommand = {
  usage: 'actions',
  about: 'actions of operators, newest first',
  options: [...PAGE, 'by', 'action', 'subject'],
  run: async ({ partners, flags }) => {
    const { by, action, subject } = flags
    const list = await partners.call('ListActions', {
      ...page(flags.cursor),
      ...(by === undefined ? {} : { by }),
      ...(action === undefined ? {} : { action }),
      ...(subject === undefined ? {} : { subject }),
    })
    const rows = list.data.map(rowOrName(rowOf))
    const listing = { rows, rightAligned: [4], empty: 'No such actions.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

function rowOf({ at, actor, action, subject, reason, evidence, ...moved }: Action): string[] {
  const why = evidence === undefined ? reason : `${reason} (${evidence})`
  const { currency, amount } = moved
  const money =
    currency === undefined || amount === undefined ? '' : formatWireAmount(currency, amount)
  return [at, actor, action, subject, money, why]
}
