/** Shows what operators did: who, what, why, and on what evidence. */
import type { Action__Output as Action } from '../../protos/types/causeway/v1/Action.js'
import type { Command } from './command.js'
import { PAGE, page, pageLines } from './page.js'

export const actions: Command = {
  usage: 'actions',
  about: 'actions of operators, the newest first',
  options: PAGE,
  run: async ({ partners, flags }) => {
    const list = await partners.call('ListActions', page(flags.cursor))
    const rows = list.data.map(rowOf)
    const listing = { rows, toTheRight: [], empty: 'Nobody has done anything yet.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

function rowOf({ at, actor, action, subject, reason, evidence }: Action): string[] {
  const why = evidence === undefined ? reason : `${reason} (${evidence})`
  return [at, actor, action, subject, why]
}
