/**
 * The operators' action log, newest first.
 *
 * - Operator and action have no index: a page reads at most SCANNED_MAX actions to find its rows,
 *   so it can be short, or empty, before the end of the list.
 */
import { instant, toRfc3339 } from '../../base/clock.js'
import { answer } from '../cycle/answer.js'
import type { ActionFilter, LoggedAction } from '../../store/lists.js'
import type { Row } from '../../store/tables.js'
import { INVALID_PAGE, jsonBytes, pageOf, pageView, type PageRequest } from './page.js'
import type { Query } from './query.js'
import { viewOrName } from './readable.js'

export interface ActionListRequest extends PageRequest {
  readonly by?: string
  readonly action?: string
  readonly subject?: string
}

/** About 10 ms of the read connection. */
const SCANNED_MAX = 10_000

export function listActions(request: ActionListRequest, scannedMax = SCANNED_MAX): Query {
  return {
    name: 'list_actions',
    queueKey: 'internal',
    run: async (ctx) => {
      const { lists, vault } = ctx
      const equal = equalIn(request)
      const filters = Object.values(equal)
      const list = filters.length === 0 ? 'actions' : `actions ${JSON.stringify(equal)}`
      const page = pageOf(vault, list, request)
      if (page === null) return INVALID_PAGE
      const below = page.after === null ? Number.MAX_SAFE_INTEGER : Number(page.after)
      const end = filters.length === 0 ? undefined : await lists.actionScanEnd(below, scannedMax)
      const rows = await lists.actions({ from: end ?? 0, below, equal }, page.limit + 1)
      const view = viewOrName<LoggedAction>(
        ctx,
        ({ row }) => actionView(row),
        ({ id }) => `action ${id}`,
      )
      const shape = {
        view,
        positionOf: ({ id }: LoggedAction) => String(id),
        // The reason has no length limit.
        bytesOf: (row: LoggedAction) => jsonBytes(view(row)),
      }
      return answer(pageView(vault, page, rows, shape, end?.toString()))
    },
  }
}

const equalIn = ({ by, action, subject }: ActionListRequest): ActionFilter['equal'] => ({
  ...(by ? { actor: by } : {}),
  ...(action ? { action } : {}),
  ...(subject ? { subject } : {}),
})

const actionView = ({ amount, ...row }: Row<'operatorLog'>): object => ({
  ...row,
  at: toRfc3339(instant(row.at)),
  ...(amount === null ? {} : { amount: amount.toString() }),
})
