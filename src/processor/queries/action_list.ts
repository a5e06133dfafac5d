/** The operators' action log, newest first. */
import { instant, toRfc3339 } from '../../base/clock.js'
import type { Row } from '../../store/tables.js'
import { answerPage, INVALID_PAGE, jsonBytes, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'

export function listActions(request: PageRequest): Query {
  return {
    name: 'list_actions',
    queueKey: 'internal',
    run: async ({ lists, vault }) => {
      const page = pageOf(vault, 'actions', request)
      if (page === null) return INVALID_PAGE
      const below = page.after === null ? Number.MAX_SAFE_INTEGER : Number(page.after)
      const rows = await lists.actions(below, page.limit + 1)
      return answerPage(vault, page, rows, {
        view: ({ row }) => actionView(row),
        positionOf: ({ id }) => String(id),
        // The reason has no length limit.
        bytesOf: ({ row }) => jsonBytes(actionView(row)),
      })
    },
  }
}

const actionView = ({ amount, ...row }: Row<'operatorLog'>): object => ({
  ...row,
  at: toRfc3339(instant(row.at)),
  ...(amount === null ? {} : { amount: amount.toString() }),
})
