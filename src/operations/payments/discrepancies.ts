/** Commands about discrepancies: rail reports that contradict the ledger. */
import type { Discrepancy__Output } from '../../../protos/types/causeway/operator/v1/Discrepancy.js'
import { CHANGE, deciderOf, evidenceOf } from '../cli/actor.js'
import { formatWireAmount } from '../cli/amounts.js'
import { choiceOf, type CliCommand } from '../cli/command.js'
import { PAGE, page, pageLines, rowOrName } from '../cli/page.js'

export const discrepancyList: CliCommand = {
  usage: 'discrepancy list',
  about: 'open discrepancies, oldest first',
  options: [...PAGE, 'resolved'],
  run: async ({ operator, flags }) => {
    const list = await operator.call('ListDiscrepancies', {
      ...page(flags.cursor),
      resolved: flags.resolved ?? false,
    })
    const rows = list.data.map(rowOrName(rowOf))
    const listing = { rows, rightAligned: [3], empty: 'There are no discrepancies.' }
    return { value: list, lines: pageLines(listing, list.next_cursor) }
  },
}

function rowOf(found: Discrepancy__Output): string[] {
  const { id, entity, reason, currency, amount, created_at, settlement } = found
  const money =
    currency === undefined || amount === undefined ? '' : formatWireAmount(currency, amount)
  return [id, entity, reason, money, created_at, settlement ?? '']
}

const SETTLEMENTS = ['keep', 'undo', 'charge_partner', 'credit_partner', 'write_off']

export const discrepancyResolve: CliCommand = {
  usage: 'discrepancy resolve DISCREPANCY SETTLEMENT',
  about: 'settle one: keep, undo, charge_partner, credit_partner or write_off',
  options: [...CHANGE, 'evidence'],
  run: async (context, [discrepancy_id = '', settlement = '']) => {
    const resolved = await context.operator.call('ResolveDiscrepancy', {
      actor: deciderOf(context),
      discrepancy_id,
      settlement: choiceOf(settlement, SETTLEMENTS),
      evidence: evidenceOf(context),
    })
    return { value: resolved, lines: [`${resolved.id}: ${resolved.settlement ?? settlement}`] }
  },
}
