/**
 * A tenant's intents, newest first, with the filters of the public API.
 *
 * - Ids grow with time, so a time bound is an id bound.
 * - Status and corridor have no index: a page reads at most SCANNED_MAX intents to find its rows,
 *   so it can be short, or empty, before the end of the list.
 */
import { AFTER_ALL_IDS, leastIdAt, type TenantId } from '../../base/ids.js'
import { intentContextIn, type IntentState } from '../../../actors/intent/context.js'
import { intentView } from '../../../actors/intent/view.js'
import type { ListIntents__Output as ListIntents } from '../../../protos/types/causeway/v1/ListIntents.js'
import type { IntentFilter } from '../../store/lists.js'
import { answer } from '../cycle/answer.js'
import { INVALID_PAGE, pageOf, pageView } from './page.js'
import type { Query } from './query.js'
import { contextOf, shapeOfViewed, viewed } from './readable.js'

/** Everything but the user, whose intents are another list. */
export type IntentListRequest = Pick<
  ListIntents,
  'status' | 'corridor' | 'created_after' | 'created_before' | 'limit' | 'cursor'
>

/** About 2 ms of the read connection. */
export const SCANNED_MAX = 2_000

export function listIntents(
  tenant: TenantId,
  request: IntentListRequest,
  scannedMax = SCANNED_MAX,
): Query {
  return {
    name: 'list_intents',
    queueKey: tenant,
    run: async (ctx) => {
      const { lists, vault } = ctx
      const filter = filterOf(tenant, request)
      const page = pageOf(vault, `intents ${JSON.stringify(filter)}`, request)
      if (page === null) return INVALID_PAGE
      const below = page.after ?? filter.below
      const isSearch = filter.state !== undefined || filter.corridor !== undefined
      const scanEnd = isSearch
        ? await lists.intentScanEnd({ ...filter, below }, scannedMax)
        : undefined
      const from = scanEnd ?? filter.from
      const found = await lists.intents({ ...filter, from, below }, page.limit + 1)
      const rows = viewed(found, ctx, ({ id, state, context }) =>
        intentView(state as IntentState, contextOf(id, intentContextIn(context))),
      )
      return answer(pageView(vault, page, rows, shapeOfViewed(), scanEnd))
    },
  }
}

export function filterOf(tenant: TenantId, request: IntentListRequest): IntentFilter {
  const { status, corridor } = request
  const after = request.created_after === undefined ? null : Number(request.created_after)
  const before = request.created_before === undefined ? null : Number(request.created_before)
  return {
    tenant,
    ...(status === undefined ? {} : { state: status }),
    ...(corridor === undefined ? {} : { corridor }),
    from: after === null ? '' : leastIdAt('intent', after + 1),
    below: before === null ? AFTER_ALL_IDS : leastIdAt('intent', before),
  }
}

export const isUnfiltered = (request: IntentListRequest): boolean =>
  request.status === undefined &&
  request.corridor === undefined &&
  request.created_after === undefined &&
  request.created_before === undefined
