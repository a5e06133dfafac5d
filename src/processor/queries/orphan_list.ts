/** Open or resolved orphan executions, with the payments held for each. */
import { LOWEST, type OrphanPosition } from '../../store/orphans.js'
import { orphanView } from '../changes/orphans.js'
import { answerPage, INVALID_PAGE, pageOf, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { viewOrName } from './readable.js'

export function listOrphans(request: PageRequest & { readonly resolved: boolean }): Query {
  const { resolved } = request
  return {
    name: 'list_orphans',
    queueKey: 'internal',
    run: async (ctx) => {
      const { lists, vault } = ctx
      const page = pageOf(vault, `orphans ${resolved}`, request)
      if (page === null) return INVALID_PAGE
      const after = page.after === null ? BEFORE_ALL : positionIn(page.after)
      const rows = await lists.orphans(resolved, after, page.limit + 1)
      const held = await lists.heldFor(rows.map(({ row }) => row.instruction))
      const heldFor = (instruction: string): readonly string[] =>
        held.filter(({ orphan }) => orphan === instruction).map(({ id }) => id)
      return answerPage(vault, page, rows, {
        view: viewOrName(
          ctx,
          ({ row }) => ({ ...orphanView(row), held: heldFor(row.instruction) }),
          ({ row }) => `orphan execution ${row.instruction}`,
        ),
        positionOf: ({ at, row }) => `${at}.${row.instruction}`,
      })
    },
  }
}

const BEFORE_ALL: OrphanPosition = { at: LOWEST, instruction: '' }

function positionIn(position: string): OrphanPosition {
  const cut = position.indexOf('.')
  return { at: position.slice(0, cut), instruction: position.slice(cut + 1) }
}
