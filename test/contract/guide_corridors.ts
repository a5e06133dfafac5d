/** The table of corridors in the partner guide, with their default limits. */
import { readSettings } from '../../src/settings/settings_reader.js'
import { currencyOf } from '../../src/money/currency.js'
import { money } from '../../src/money/money.js'
import { formatAmount } from '../../src/operations/cli/amounts.js'
import { rulesOf } from '../../src/processor/cycle/rules.js'
import { CORRIDOR_NAMES, CORRIDORS } from '../../src/qr/corridor.js'
import { withTable } from './guide_table.js'

const HEAD = '| Corridor | Country and scheme | Minimum | One payment | A day | A month |'

export function withCorridors(guide: string): string {
  const { caps } = rulesOf(readSettings({}, ''))
  const rows = CORRIDOR_NAMES.map((name) => {
    const { title, currencyAlpha } = CORRIDORS[name]
    const { minimum, perTransaction, perDay, perMonth } = caps[name]
    const limits = [minimum, perTransaction, perDay, perMonth].map((limit) =>
      formatAmount(money(currencyOf(currencyAlpha)!, limit)),
    )
    return [`\`${name}\``, title, ...limits]
  })
  return withTable(guide, HEAD, rows)
}
