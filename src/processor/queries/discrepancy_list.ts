/** Open or settled discrepancies of all tenants, oldest first. */
import { LOWEST } from '../../store/orphans.js'
import type { DiscrepancyPosition } from '../../store/lists.js'
import { discrepancyView } from '../changes/discrepancies.js'
import { answerPage, INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { viewOrName } from './readable.js'

export function listDiscrepancies(request: PageRequest & { readonly resolved: boolean }): Query {
  const { resolved } = request
  return {
    name: 'list_discrepancies',
    queueKey: 'internal',
    run: async (ctx) => {
      const { lists, vault } = ctx
      const page = pageOf(vault, `discrepancies ${resolved}`, request)
      if (page === null) return INVALID_PAGE
      const after = page.after === null ? BEFORE_ALL : positionIn(page.after)
      const rows = await lists.discrepancies(resolved, after, page.limit + 1)
      return answerPage(vault, page, rows, {
        view: viewOrName(
          ctx,
          ({ row }) => discrepancyView(row),
          ({ row }) => `discrepancy ${row.id}`,
        ),
        positionOf: ({ at, row }) => `${at}.${row.id}`,
      })
    },
  }
}

const BEFORE_ALL: DiscrepancyPosition = { at: LOWEST, id: '' }

function positionIn(position: string): DiscrepancyPosition {
  const [at = LOWEST, id = ''] = position.split('.')
  return { at, id }
}
