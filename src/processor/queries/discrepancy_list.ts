/** Open or settled discrepancies of all tenants, oldest first. */
import type { DiscrepancyPosition } from '../../store/lists.js'
import { discrepancyView } from '../changes/discrepancies.js'
import { answerPage, INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'

export function listDiscrepancies(request: PageRequest & { readonly resolved: boolean }): Query {
  const { resolved } = request
  return {
    name: 'list_discrepancies',
    queueKey: 'internal',
    run: async ({ lists, vault }) => {
      const page = pageOf(vault, `discrepancies ${resolved}`, request)
      if (page === null) return INVALID_PAGE
      const after = page.after === null ? BEFORE_ALL : positionIn(page.after)
      const rows = await lists.discrepancies(resolved, after, page.limit + 1)
      return answerPage(vault, page, rows, {
        view: discrepancyView,
        positionOf: ({ at, id }) => `${at}.${id}`,
      })
    },
  }
}

const BEFORE_ALL: DiscrepancyPosition = { at: 0, id: '' }

function positionIn(position: string): DiscrepancyPosition {
  const [at, id = ''] = position.split('.')
  return { at: Number(at), id }
}
